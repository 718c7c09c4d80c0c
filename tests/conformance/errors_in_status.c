/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One of several receives is too short: Wait and Test of any, some and all tell which,
 * by MPI_ERR_IN_STATUS where there are statuses, and the other requests are as good as
 * ever. With MPI_ERRORS_RETURN, and with a handler, which is then called once.
 */
#include "tests/conformance/check.h"

enum { N = 4, TOO_SHORT = 2, ROOM = 300, N_SENT = 200 };

static int n_handled;
static int class_handled;

struct exchange {
    struct world world;
    MPI_Comm comm;
    MPI_Request requests[N];
    char in[N][ROOM];
};

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    n_handled++;
    MPI_Error_class(*code, &class_handled);
}

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

/* Receives from the left, with the place in the array as tag. */
static void post(struct exchange *exchange)
{
    for (int i = 0; i < N; i++) {
        MPI_Irecv(exchange->in[i], i == TOO_SHORT ? 8 : ROOM, MPI_BYTE,
                  exchange->world.left, i, exchange->comm, &exchange->requests[i]);
    }
    MPI_Barrier(exchange->comm);
}

static void send_one(struct exchange *exchange, int tag)
{
    char out[N_SENT];

    check_fill(out, N_SENT, tag);
    MPI_Send(out, N_SENT, MPI_BYTE, exchange->world.right, tag, exchange->comm);
}

/* The one that fails last, so that no other is pending when it does. */
static void send_all(struct exchange *exchange)
{
    for (int i = 0; i < N; i++) {
        if (i != TOO_SHORT) {
            send_one(exchange, i);
        }
    }
    send_one(exchange, TOO_SHORT);
}

static void all_came(struct exchange *exchange, const char *name)
{
    for (int i = 0; i < N; i++) {
        CHECK(exchange->requests[i] == MPI_REQUEST_NULL);
        CHECK(i == TOO_SHORT || check_is_filled(exchange->in[i], N_SENT, i));
    }
    check_say("%s: %d handled, class %d\n", name, n_handled, class_handled);
    n_handled = 0;
    class_handled = 0;
}

static void check_status(const MPI_Status *status, int tag)
{
    CHECK_EQUAL(status->MPI_TAG, tag);
    CHECK_EQUAL(class_of(status->MPI_ERROR),
                tag == TOO_SHORT ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
}

static void any(struct exchange *exchange, int is_test)
{
    MPI_Status status;
    int index = MPI_UNDEFINED;
    int is_done = !is_test;
    int code;

    post(exchange);
    send_one(exchange, TOO_SHORT);
    do {
        code = is_test ? MPI_Testany(N, exchange->requests, &index, &is_done, &status)
                       : MPI_Waitany(N, exchange->requests, &index, &status);
    } while (!is_done);
    CHECK_EQUAL(index, TOO_SHORT);
    CHECK_EQUAL(class_of(code), MPI_ERR_TRUNCATE);
    CHECK_EQUAL(status.MPI_SOURCE, exchange->world.left);
    CHECK_EQUAL(status.MPI_TAG, TOO_SHORT);
    MPI_Barrier(exchange->comm);
    for (int i = 0; i < N; i++) {
        if (i != TOO_SHORT) {
            send_one(exchange, i);
        }
    }
    CHECK_EQUAL(MPI_Waitall(N, exchange->requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    all_came(exchange, is_test ? "Testany" : "Waitany");
}

static void some(struct exchange *exchange, int is_test)
{
    MPI_Status statuses[N];
    int indices[N];
    int n_done;
    int n_in_all = 0;

    post(exchange);
    send_all(exchange);
    while (n_in_all < N) {
        int code =
            is_test ? MPI_Testsome(N, exchange->requests, &n_done, indices, statuses)
                    : MPI_Waitsome(N, exchange->requests, &n_done, indices, statuses);
        int is_bad = 0;

        for (int i = 0; i < n_done; i++) {
            is_bad |= indices[i] == TOO_SHORT;
        }
        CHECK_EQUAL(class_of(code), is_bad ? MPI_ERR_IN_STATUS : MPI_SUCCESS);
        for (int i = 0; is_bad && i < n_done; i++) {
            check_status(&statuses[i], indices[i]);
        }
        n_in_all += n_done;
    }
    CHECK_EQUAL(n_in_all, N);
    all_came(exchange, is_test ? "Testsome" : "Waitsome");
}

static void all(struct exchange *exchange, int is_test, int has_statuses)
{
    MPI_Status statuses[N];
    MPI_Status *wanted = has_statuses ? statuses : MPI_STATUSES_IGNORE;
    int is_done = !is_test;
    int code;

    post(exchange);
    send_all(exchange);
    do {
        code = is_test ? MPI_Testall(N, exchange->requests, &is_done, wanted)
                       : MPI_Waitall(N, exchange->requests, wanted);
    } while (!is_done);
    CHECK_EQUAL(class_of(code), MPI_ERR_IN_STATUS);
    for (int i = 0; has_statuses && i < N; i++) {
        check_status(&statuses[i], i);
    }
    all_came(exchange, is_test ? "Testall" : "Waitall");
}

static void each_way(struct exchange *exchange)
{
    for (int is_test = 0; is_test < 2; is_test++) {
        any(exchange, is_test);
        some(exchange, is_test);
        all(exchange, is_test, 1);
        all(exchange, is_test, 0);
    }
}

int main(int argc, char **argv)
{
    struct exchange exchange = {.world = check_begin(&argc, &argv)};
    MPI_Errhandler handler;

    if (exchange.world.size < 2) { /* Open MPI 4.1 lets messages to self be longer. */
        check_say("two ranks are needed\n");
        return check_end();
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &exchange.comm);
    MPI_Comm_set_errhandler(exchange.comm, MPI_ERRORS_RETURN);
    each_way(&exchange);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(exchange.comm, handler);
    MPI_Errhandler_free(&handler);
    each_way(&exchange);
    MPI_Comm_free(&exchange.comm);
    return check_end();
}
