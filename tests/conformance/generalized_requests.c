/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generalized requests in lists with messages, completed in every way: their functions
 * are called as often as the standard says, once a completion, also when a list is
 * tested many times before all of it is over.
 */
#include "tests/conformance/check.h"

enum {
    N = 6,
    FIRST = 1,
    SECOND = 4
}; /* the places of the generalized ones in a list */

static struct {
    int n_queries;
    int n_freed;
    int n_cancelled;
    int answer; /* of the query */
} calls;

struct exchange {
    struct world world;
    MPI_Request requests[N];
    MPI_Status statuses[N];
    int in[N];
    int out;
};

static int query(void *state, MPI_Status *status)
{
    calls.n_queries++;
    status->MPI_SOURCE = *(int *)state;
    status->MPI_TAG = 70 + *(int *)state;
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    return calls.answer;
}

static int let_go(void *state)
{
    (void)state;
    calls.n_freed++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int is_complete)
{
    (void)state;
    calls.n_cancelled += 1 + 100 * is_complete;
    return MPI_SUCCESS;
}

/* Messages from the left in all places but two. */
static void post(struct exchange *exchange)
{
    static int states[N] = {0, 1, 2, 3, 4, 5};

    memset(&calls, 0, sizeof(calls));
    exchange->out = exchange->world.rank;
    for (int i = 0; i < N; i++) {
        exchange->in[i] = -1;
        if (i == FIRST || i == SECOND) {
            MPI_Grequest_start(query, let_go, cancel, &states[i],
                               &exchange->requests[i]);
        } else {
            MPI_Irecv(&exchange->in[i], 1, MPI_INT, exchange->world.left, i,
                      MPI_COMM_WORLD, &exchange->requests[i]);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void send_all(struct exchange *exchange)
{
    for (int i = 0; i < N; i++) {
        if (i != FIRST && i != SECOND) {
            MPI_Send(&exchange->out, 1, MPI_INT, exchange->world.right, i,
                     MPI_COMM_WORLD);
        }
    }
}

static void check_status(struct exchange *exchange, const MPI_Status *status, int i)
{
    int is_generalized = i == FIRST || i == SECOND;
    int n;

    MPI_Get_count(status, MPI_INT, &n);
    CHECK_EQUAL(n, is_generalized ? i : 1);
    CHECK_EQUAL(status->MPI_SOURCE, is_generalized ? i : exchange->world.left);
    CHECK_EQUAL(status->MPI_TAG, is_generalized ? 70 + i : i);
}

static void all_over(struct exchange *exchange, const char *name)
{
    for (int i = 0; i < N; i++) {
        CHECK(exchange->requests[i] == MPI_REQUEST_NULL);
        CHECK(i == FIRST || i == SECOND || exchange->in[i] == exchange->world.left);
    }
    check_say("%s: %d queries, %d freed, %d cancelled\n", name, calls.n_queries,
              calls.n_freed, calls.n_cancelled);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void by_waitall(struct exchange *exchange)
{
    post(exchange);
    MPI_Grequest_complete(exchange->requests[FIRST]);
    MPI_Grequest_complete(exchange->requests[SECOND]);
    send_all(exchange);
    CHECK_EQUAL(MPI_Waitall(N, exchange->requests, exchange->statuses), MPI_SUCCESS);
    for (int i = 0; i < N; i++) {
        check_status(exchange, &exchange->statuses[i], i);
    }
    all_over(exchange, "Waitall");
}

/* First the messages are missing, then one generalized request. */
static void by_testall(struct exchange *exchange)
{
    int is_done = 1;

    post(exchange);
    MPI_Grequest_complete(exchange->requests[FIRST]);
    for (int i = 0; i < 50; i++) {
        MPI_Testall(N, exchange->requests, &is_done, exchange->statuses);
        CHECK(!is_done);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    send_all(exchange);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 50; i++) {
        MPI_Testall(N, exchange->requests, &is_done, exchange->statuses);
        CHECK(!is_done);
    }
    CHECK_EQUAL(calls.n_queries, 0);
    MPI_Grequest_complete(exchange->requests[SECOND]);
    while (!is_done) {
        MPI_Testall(N, exchange->requests, &is_done, exchange->statuses);
    }
    for (int i = 0; i < N; i++) {
        check_status(exchange, &exchange->statuses[i], i);
    }
    all_over(exchange, "Testall");
}

static void by_any(struct exchange *exchange, int is_test)
{
    MPI_Status status;
    int n_done = 0;
    int index;

    post(exchange);
    MPI_Grequest_complete(exchange->requests[SECOND]);
    while (n_done < N) {
        int is_done = 1;

        if (is_test) {
            MPI_Testany(N, exchange->requests, &index, &is_done, &status);
        } else {
            MPI_Waitany(N, exchange->requests, &index, &status);
        }
        if (is_done) {
            check_status(exchange, &status, index);
            CHECK(n_done > 0 || index == SECOND);
            n_done++;
        }
        if (is_done && n_done == 1) {
            MPI_Barrier(MPI_COMM_WORLD);
            send_all(exchange);
            MPI_Grequest_complete(exchange->requests[FIRST]);
        }
    }
    all_over(exchange, is_test ? "Testany" : "Waitany");
}

static void by_some(struct exchange *exchange, int is_test)
{
    int indices[N];
    int n_done = 0;

    post(exchange);
    MPI_Grequest_complete(exchange->requests[FIRST]);
    send_all(exchange);
    while (n_done < N) {
        int n;

        if (is_test) {
            MPI_Testsome(N, exchange->requests, &n, indices, exchange->statuses);
        } else {
            MPI_Waitsome(N, exchange->requests, &n, indices, exchange->statuses);
        }
        for (int i = 0; i < n; i++) {
            check_status(exchange, &exchange->statuses[i], indices[i]);
        }
        n_done += n;
        if (n_done == N - 1) {
            MPI_Grequest_complete(exchange->requests[SECOND]);
        }
    }
    all_over(exchange, is_test ? "Testsome" : "Waitsome");
}

static void cancelled(struct exchange *exchange)
{
    post(exchange);
    MPI_Cancel(&exchange->requests[FIRST]);
    MPI_Grequest_complete(exchange->requests[FIRST]);
    MPI_Grequest_complete(exchange->requests[SECOND]);
    send_all(exchange);
    MPI_Wait(&exchange->requests[FIRST], &exchange->statuses[FIRST]);
    MPI_Waitall(N, exchange->requests, MPI_STATUSES_IGNORE);
    all_over(exchange, "cancelled");
}

static void failing(struct exchange *exchange)
{
    int code, class;

    post(exchange);
    calls.answer = MPI_ERR_OTHER;
    MPI_Grequest_complete(exchange->requests[FIRST]);
    MPI_Grequest_complete(exchange->requests[SECOND]);
    send_all(exchange);
    code = MPI_Waitall(N, exchange->requests, exchange->statuses);
    MPI_Error_class(code, &class);
    check_say("failing: class %d\n", class);
    all_over(exchange, "failing");
}

int main(int argc, char **argv)
{
    struct exchange exchange = {.world = check_begin(&argc, &argv)};

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    by_waitall(&exchange);
    by_testall(&exchange);
    by_any(&exchange, 0);
    by_any(&exchange, 1);
    by_some(&exchange, 0);
    by_some(&exchange, 1);
    cancelled(&exchange);
    failing(&exchange);
    return check_end();
}
