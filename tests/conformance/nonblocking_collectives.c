/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Non-blocking collectives give what the blocking ones give: every function, many at a
 * time, on several communicators, among messages and blocking collectives, completed in
 * any order and by any function; and what they name may be freed before they are done.
 */
#include "tests/conformance/check.h"

enum { N_MANY = 600, LONG = 60000 };

/* One element of rank `from` for rank `to`. */
static int element(int from, int to, int at)
{
    return from * 1000003 + to * 1009 + at;
}

static int *elements(struct world world, int n)
{
    int *data = check_alloc((size_t)world.size * n * sizeof(int));

    for (int i = 0; i < world.size * n; i++) {
        data[i] = element(world.rank, i / n, i % n);
    }
    return data;
}

/* MPI_Request_get_status says that the data are there; it leaves the request. */
static void get_status_and_wait(MPI_Request *request)
{
    MPI_Status status;
    int flag = 0, is_cancelled = -1;

    while (!flag) {
        MPI_Request_get_status(*request, &flag, &status);
    }
    MPI_Wait(request, &status);
    CHECK(*request == MPI_REQUEST_NULL);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK_EQUAL(is_cancelled, 0);
}

static void rooted(struct world world, int n)
{
    int *all = elements(world, n), *mine = check_alloc(n * sizeof(int));
    int *from = check_alloc((size_t)world.size * n * sizeof(int));
    int *counts = check_alloc(world.size * sizeof(int));
    int *displs = check_alloc(world.size * sizeof(int));
    MPI_Request request;

    for (int root = 0; root < world.size; root++) {
        for (int i = 0; i < world.size; i++) {
            counts[i] = n * (i % 2);
            displs[i] = n * (world.size - 1 - i);
        }
        memcpy(mine, all, n * sizeof(int));
        MPI_Ibcast(mine, n, MPI_INT, root, MPI_COMM_WORLD, &request);
        get_status_and_wait(&request);
        CHECK(n == 0 || mine[n - 1] == element(root, 0, n - 1));
        MPI_Igather(all, n, MPI_INT, from, n, MPI_INT, root, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < world.size * n && world.rank == root; i++) {
            CHECK_EQUAL(from[i], element(i / n, 0, i % n));
        }
        MPI_Iscatter(all, n, MPI_INT, world.rank == root ? MPI_IN_PLACE : mine, n,
                     MPI_INT, root, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(n == 0 || world.rank == root || mine[0] == element(root, world.rank, 0));
        memset(from, 0, (size_t)world.size * n * sizeof(int));
        MPI_Igatherv(all, counts[world.rank], MPI_INT, from, counts, displs, MPI_INT,
                     root, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < world.size && world.rank == root && n > 0; i++) {
            CHECK_EQUAL(from[displs[i]], i % 2 ? element(i, 0, 0) : 0);
        }
        MPI_Iscatterv(all, counts, displs, MPI_INT, mine, counts[world.rank], MPI_INT,
                      root, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(counts[world.rank] == 0 ||
              mine[0] == element(root, world.size - 1 - world.rank, 0));
    }
    free(all);
    free(mine);
    free(from);
    free(counts);
    free(displs);
}

static void all_to_all(struct world world, int n)
{
    int *all = elements(world, n), *in = elements(world, n);
    int *gathered = check_alloc((size_t)world.size * n * sizeof(int));
    int *counts = check_alloc(world.size * sizeof(int));
    int *displs = check_alloc(world.size * sizeof(int));
    MPI_Request requests[5];
    int *in_v = check_alloc((size_t)world.size * n * sizeof(int));
    int *gathered_v = check_alloc((size_t)world.size * n * sizeof(int));

    for (int i = 0; i < world.size; i++) {
        counts[i] = n;
        displs[i] = n * (world.size - 1 - i);
    }
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD,
                  &requests[0]);
    MPI_Ialltoallv(all, counts, displs, MPI_INT, in_v, counts, displs, MPI_INT,
                   MPI_COMM_WORLD, &requests[1]);
    MPI_Iallgather(all, n, MPI_INT, gathered, n, MPI_INT, MPI_COMM_WORLD, &requests[2]);
    MPI_Iallgatherv(all, n, MPI_INT, gathered_v, counts, displs, MPI_INT,
                    MPI_COMM_WORLD, &requests[3]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[4]);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < world.size * n; i++) {
        int j = i / n, at = i % n;

        CHECK_EQUAL(in[i], element(j, world.rank, at));
        CHECK_EQUAL(gathered[i], element(j, 0, at));
        CHECK_EQUAL(in_v[displs[j] + at], element(j, world.size - 1 - world.rank, at));
        CHECK_EQUAL(gathered_v[displs[j] + at], element(j, 0, at));
    }
    free(all);
    free(in);
    free(gathered);
    free(counts);
    free(displs);
    free(in_v);
    free(gathered_v);
}

/* Not commutative: the last operand that is not zero. */
static void last(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *left = in;
    int *right = inout;

    (void)type;
    for (int i = 0; i < *count; i++) {
        right[i] = right[i] == 0 ? left[i] : right[i];
    }
}

static void reductions(struct world world, int n)
{
    int *mine = check_alloc(n * sizeof(int)), *sum = check_alloc(n * sizeof(int));
    int *top = check_alloc(n * sizeof(int)), *prefix = check_alloc(n * sizeof(int));
    int *before = check_alloc(n * sizeof(int));
    int p = world.rank + 1, all = world.size * (world.size + 1) / 2;
    MPI_Request requests[4];
    MPI_Op op;

    MPI_Op_create(last, 0, &op);
    for (int i = 0; i < n; i++) {
        mine[i] = p;
        top[i] = p;
    }
    MPI_Iallreduce(mine, sum, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(MPI_IN_PLACE, top, n, MPI_INT, op, MPI_COMM_WORLD, &requests[1]);
    MPI_Iscan(mine, prefix, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
    MPI_Iexscan(mine, before, n, MPI_INT, op, MPI_COMM_WORLD, &requests[3]);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        CHECK(sum[i] == all && top[i] == world.size && prefix[i] == p * (p + 1) / 2);
        CHECK_EQUAL(before[i], world.rank);
    }
    for (int root = 0; root < world.size; root++) {
        MPI_Ireduce(world.rank == root ? MPI_IN_PLACE : mine, mine, n, MPI_INT, MPI_SUM,
                    root, MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        for (int i = 0; i < n && world.rank == root; i++) {
            CHECK_EQUAL(mine[i], all);
            mine[i] = p;
        }
    }
    free(mine);
    free(sum);
    free(top);
    free(prefix);
    free(before);
}

static void scattered_reductions(struct world world, int n)
{
    int *all = check_alloc((size_t)world.size * n * sizeof(int));
    int *other = check_alloc((size_t)world.size * n * sizeof(int));
    int *counts = check_alloc(world.size * sizeof(int));
    MPI_Request requests[2];

    for (int i = 0; i < world.size; i++) {
        counts[i] = n;
    }
    for (int i = 0; i < world.size * n; i++) {
        all[i] = i;
        other[i] = i + world.rank;
    }
    MPI_Ireduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                        &requests[0]);
    MPI_Ireduce_scatter_block(MPI_IN_PLACE, other, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                              &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        CHECK_EQUAL(all[i], world.size * (world.rank * n + i));
        CHECK_EQUAL(other[i], world.rank * n + i + world.size - 1);
    }
    free(all);
    free(other);
    free(counts);
}

static void lengths(struct world world)
{
    static const int counts[] = {0, 1, 3, 500, 9000, LONG};

    for (int i = 0; i < CHECK_N(counts); i++) {
        rooted(world, counts[i]);
        all_to_all(world, counts[i]);
        reductions(world, counts[i]);
        scattered_reductions(world, counts[i]);
    }
    check_say("lengths\n");
}

/* Types with gaps, whose type and communicator are freed at once. */
static void typed(struct world world)
{
    MPI_Datatype every_second;
    MPI_Comm comm;
    MPI_Request requests[3];
    int n = 100;
    int *one = check_alloc(2 * n * sizeof(int));
    int *all = check_alloc((size_t)world.size * 2 * n * sizeof(int));
    int *turned = check_alloc((size_t)world.size * n * sizeof(int));

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < 2 * n; i++) {
        one[i] = world.rank == 0 ? i : -1;
    }
    MPI_Ibcast(one, n, every_second, 0, comm, &requests[0]);
    MPI_Iallgather(&world.rank, 1, MPI_INT, all, 1, every_second, comm, &requests[1]);
    MPI_Ialltoall(all + 2 * world.size, 1, every_second, turned, 1, MPI_INT, comm,
                  &requests[2]);
    MPI_Type_free(&every_second);
    MPI_Comm_free(&comm);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        CHECK_EQUAL(one[2 * i], 2 * i);
        CHECK_EQUAL(one[2 * i + 1], world.rank == 0 ? 2 * i + 1 : -1);
    }
    for (int i = 0; i < world.size; i++) {
        CHECK(all[2 * i] == i && all[2 * i + 1] == 0);
    }
    free(one);
    free(all);
    free(turned);
    check_say("typed\n");
}

struct many {
    MPI_Request requests[N_MANY];
    int in[N_MANY];
    int out[N_MANY];
};

static void start_many(struct world world, MPI_Comm comms[2], struct many *many)
{
    for (int i = 0; i < N_MANY; i++) {
        MPI_Comm comm = comms[(i / 7) % 2];
        int root = i % world.size;

        many->in[i] = world.rank == root || i % 3 == 0 ? i : -1;
        if (i % 3 == 0) {
            MPI_Iallreduce(&many->in[i], &many->out[i], 1, MPI_INT, MPI_SUM, comm,
                           &many->requests[i]);
        } else if (i % 3 == 1) {
            MPI_Ibarrier(comm, &many->requests[i]);
        } else {
            MPI_Ibcast(&many->in[i], 1, MPI_INT, root, comm, &many->requests[i]);
        }
        if (i % 50 == 20) { /* the others go on meanwhile */
            int token = -1, rank;

            MPI_Comm_rank(comm, &rank);
            MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % world.size, 3, &token, 1, MPI_INT,
                         MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE);
            CHECK_EQUAL(token, i);
            MPI_Allreduce(&i, &token, 1, MPI_INT, MPI_MIN, comm);
            CHECK_EQUAL(token, i);
        }
    }
}

static void finish_many(struct many *many, int way)
{
    int indices[N_MANY], n = 0, index, flag = 0, total = 0;

    switch (way) {
    case 0:
        for (int i = N_MANY - 1; i >= 0; i--) {
            MPI_Wait(&many->requests[i], MPI_STATUS_IGNORE);
        }
        return;
    case 1:
        for (int i = 0; i < N_MANY; i++) {
            MPI_Waitany(N_MANY, many->requests, &index, MPI_STATUS_IGNORE);
            CHECK(many->requests[index] == MPI_REQUEST_NULL);
        }
        return;
    case 2:
        for (total = 0; total < N_MANY; total += n) {
            MPI_Waitsome(N_MANY, many->requests, &n, indices, MPI_STATUSES_IGNORE);
        }
        return;
    case 3:
        for (total = 0; total < N_MANY; total += flag) {
            MPI_Testany(N_MANY, many->requests, &index, &flag, MPI_STATUS_IGNORE);
        }
        return;
    case 4:
        for (total = 0; total < N_MANY; total += n) {
            MPI_Testsome(N_MANY, many->requests, &n, indices, MPI_STATUSES_IGNORE);
        }
        return;
    default:
        while (!flag) {
            MPI_Testall(N_MANY, many->requests, &flag, MPI_STATUSES_IGNORE);
        }
    }
}

static void many_at_a_time(struct world world)
{
    struct many *many = check_alloc(sizeof(*many));
    MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};

    MPI_Comm_split(MPI_COMM_WORLD, 0, -world.rank, &comms[1]);
    for (int way = 0; way < 6; way++) {
        start_many(world, comms, many);
        finish_many(many, way);
        for (int i = 0; i < N_MANY; i++) {
            CHECK(i % 3 != 0 || many->out[i] == i * world.size);
        }
    }
    MPI_Comm_free(&comms[1]);
    free(many);
    check_say("many at a time\n");
}

/* A rank that waits in a message moves its part of a broadcast on. */
static void waits_of_another_kind(struct world world)
{
    char *data = check_alloc(LONG);
    MPI_Request request;
    int token = 0;

    for (int round = 0; round < 10; round++) {
        if (world.rank == 0) {
            check_fill(data, LONG, round);
        }
        MPI_Ibcast(data, LONG, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
        if (world.rank == world.size - 1) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            for (int i = 0; i < world.size - 1; i++) {
                MPI_Send(&round, 1, MPI_INT, i, 5, MPI_COMM_WORLD);
            }
        } else {
            MPI_Recv(&token, 1, MPI_INT, world.size - 1, 5, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        CHECK(check_is_filled(data, LONG, round));
    }
    free(data);
    check_say("waits of another kind\n");
}

static void say_class(const char *name, int code)
{
    int class;

    MPI_Error_class(code, &class);
    check_say("%s: %d\n", name, class);
}

/* The last rank comes only when the others have tried to let go of the barrier. */
static void neither_freed_nor_cancelled(struct world world)
{
    MPI_Request request;
    int token = 0;

    if (world.size == 1) {
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (world.rank == world.size - 1) {
        MPI_Recv(&token, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (world.rank == 0) {
        say_class("free", MPI_Request_free(&request));
        say_class("cancel", MPI_Cancel(&request));
        say_class("start", MPI_Start(&request));
        MPI_Send(&token, 1, MPI_INT, world.size - 1, 6, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    check_say("neither freed nor cancelled\n");
}

/* The arrays go away at once. MPI does not allow it, but bindings that convert them
 * have no other choice, and MPI libraries make their plans at the beginning. */
static void arrays_that_go_away(struct world world)
{
    int *numbers = check_alloc(2 * world.size * sizeof(int));
    int *in = check_alloc(4 * world.size * sizeof(int));
    int *out = check_alloc(4 * world.size * sizeof(int));
    MPI_Datatype sparse;
    MPI_Request request;

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &sparse);
    MPI_Type_commit(&sparse);
    for (int i = 0; i < world.size; i++) {
        numbers[i] = 1;
        numbers[world.size + i] = 2 * i;
        out[4 * i] = world.rank * 100 + i;
    }
    memset(in, 0x77, 4 * world.size * sizeof(int));
    MPI_Ialltoallv(out, numbers, numbers + world.size, sparse, in, numbers,
                   numbers + world.size, sparse, MPI_COMM_WORLD, &request);
    memset(numbers, 0x55, 2 * world.size * sizeof(int));
    free(numbers);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < world.size; i++) {
        CHECK_EQUAL(in[4 * i], i * 100 + world.rank);
        CHECK_EQUAL(in[4 * i + 1], 0x77777777);
    }
    MPI_Type_free(&sparse);
    free(in);
    free(out);
    check_say("arrays that go away\n");
}

/* MPI wants blocking and non-blocking ones in the same order on all ranks, but
 * libraries number them apart, and programs use it. */
static void beside_blocking_ones(struct world world)
{
    int sum, value = 0;
    MPI_Request request;

    for (int late = 0; late < world.size; late++) {
        if (world.rank == late) {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Bcast(&value, 1, MPI_INT, late, MPI_COMM_WORLD);
        }
        MPI_Iallreduce(&world.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                       &request);
        if (world.rank != late) {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Bcast(&value, 1, MPI_INT, late, MPI_COMM_WORLD);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_EQUAL(sum, world.size * (world.size - 1) / 2);
    }
    check_say("beside blocking ones\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    lengths(world);
    typed(world);
    many_at_a_time(world);
    waits_of_another_kind(world);
    neither_freed_nor_cancelled(world);
    arrays_that_go_away(world);
    beside_blocking_ones(world);
    return check_end();
}
