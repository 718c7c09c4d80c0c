/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passive targets: rank 0 waits, tests or probes in calls that have nothing to do with
 * a window, while all others lock its part and count in it. MPI has them get on,
 * whatever rank 0 waits in, and most of all if what it waits for comes only when they
 * are done.
 */
#include "tests/conformance/check.h"

enum { N_ROUNDS = 5, N_LONG = 200000, TAG = 3 };

struct target {
    MPI_Win window;
    long counter;
};

/* Rank 0 must take part in this without knowing. */
static void count_on_rank_0(const struct target *target)
{
    long one = 1, before;

    for (int i = 0; i < N_ROUNDS; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, target->window);
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, target->window);
        MPI_Win_unlock(0, target->window);
    }
}

static void check_count(struct world world, struct target *target)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, target->window);
        CHECK_EQUAL(target->counter, N_ROUNDS * (world.size - 1));
        target->counter = 0;
        MPI_Win_unlock(0, target->window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One message from each that has counted; how, is told by the name of the function. */
static void in_receive(struct world world)
{
    int in;

    for (int i = 1; i < world.size; i++) {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
}

static void in_probe(struct world world)
{
    MPI_Status status;

    MPI_Probe(world.left, TAG, MPI_COMM_WORLD, &status);
    in_receive(world);
}

static void in_iprobe(struct world world)
{
    int is_there = 0;

    while (!is_there) {
        MPI_Iprobe(world.left, TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    }
    in_receive(world);
}

static void in_improbe(struct world world)
{
    MPI_Message message;
    int in;

    for (int i = 1; i < world.size; i++) {
        int is_there = 0;

        while (!is_there) {
            MPI_Improbe(i, TAG, MPI_COMM_WORLD, &is_there, &message, MPI_STATUS_IGNORE);
        }
        MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
}

static void in_test(struct world world)
{
    MPI_Request request;
    int in;

    for (int i = 1; i < world.size; i++) {
        int is_over = 0;

        MPI_Irecv(&in, 1, MPI_INT, i, TAG, MPI_COMM_WORLD, &request);
        while (!is_over) {
            MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
        }
    }
}

static void in_waitall(struct world world)
{
    MPI_Request *requests = check_alloc(world.size * sizeof(*requests));
    int *in = check_alloc(world.size * sizeof(*in));

    requests[0] = MPI_REQUEST_NULL;
    for (int i = 1; i < world.size; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, i, TAG, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(world.size, requests, MPI_STATUSES_IGNORE);
    free(requests);
    free(in);
}

static void in_waitany(struct world world)
{
    MPI_Request requests[2];
    int in[2], at;

    MPI_Irecv(&in[0], 1, MPI_INT, 0, TAG + 1, MPI_COMM_WORLD, &requests[0]);
    for (int i = 1; i < world.size; i++) {
        MPI_Irecv(&in[1], 1, MPI_INT, i, TAG, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitany(2, requests, &at, MPI_STATUS_IGNORE);
        CHECK_EQUAL(at, 1);
    }
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void messages(struct world world, struct target *target, const char *name,
                     void (*wait)(struct world))
{
    if (world.rank == 0) {
        wait(world);
    } else {
        count_on_rank_0(target);
        MPI_Send(&world.rank, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    }
    check_count(world, target);
    check_say("a target that waits in %s\n", name);
}

static void a_long_synchronous_send(struct world world, struct target *target)
{
    char *data = check_alloc(N_LONG);

    if (world.rank == 0) {
        for (int i = 1; i < world.size; i++) {
            MPI_Ssend(data, N_LONG, MPI_BYTE, i, TAG, MPI_COMM_WORLD);
        }
    } else {
        count_on_rank_0(target);
        MPI_Recv(data, N_LONG, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(data);
    check_count(world, target);
    check_say("a target that waits in a long synchronous send\n");
}

static void collectives(struct world world, struct target *target)
{
    int value = -1, sum = -1;
    int *all = check_alloc(world.size * sizeof(int));

    for (int i = 0; i < 4; i++) {
        if (world.rank != 0) {
            count_on_rank_0(target);
        }
        switch (i) {
        case 0:
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        case 1:
            value = world.rank == 1 ? 5 : -1;
            MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
            CHECK_EQUAL(value, 5);
            break;
        case 2:
            MPI_Allreduce(&world.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK_EQUAL(sum, world.size * (world.size - 1) / 2);
            break;
        default:
            MPI_Gather(&world.rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
            break;
        }
        check_count(world, target);
    }
    free(all);
    check_say("a target that waits in collectives\n");
}

/* No wait of rank 0 is long: it plays with rank 1 until the others are done. */
static void a_busy_target(struct world world, struct target *target)
{
    int go_on = 1, in, is_done;

    if (world.rank >= 2) {
        count_on_rank_0(target);
        MPI_Send(&world.rank, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    }
    for (int n = world.size - 2; world.rank == 0 && go_on;) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_done, MPI_STATUS_IGNORE);
        if (is_done) {
            MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            n--;
        }
        go_on = n > 0;
        MPI_Send(&go_on, 1, MPI_INT, 1, TAG + 1, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_INT, 1, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    while (world.rank == 1 && go_on) {
        MPI_Recv(&go_on, 1, MPI_INT, 0, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&go_on, 1, MPI_INT, 0, TAG + 1, MPI_COMM_WORLD);
    }
    if (world.rank == 1) {
        count_on_rank_0(target);
    }
    check_count(world, target);
    check_say("a target that never waits for long\n");
}

/* Rank 0 holds the lock that the others wait for, and needs messages to go on. */
static void a_lock_is_held_meanwhile(struct world world, struct target *target)
{
    char *data = check_alloc(N_LONG);

    if (world.rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, target->window);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Recv(data, N_LONG, MPI_BYTE, world.left, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Win_unlock(0, target->window);
    } else {
        MPI_Request request = MPI_REQUEST_NULL;

        MPI_Barrier(MPI_COMM_WORLD);
        if (world.right == 0) {
            MPI_Isend(data, N_LONG, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
        }
        count_on_rank_0(target); /* the data leave while this waits for the lock */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    free(data);
    check_count(world, target);
    check_say("a lock is held meanwhile\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    struct target target = {.counter = 0};

    if (world.size < 2) { /* Open MPI 4.1 has no such window on one process. */
        check_say("two ranks are needed\n");
        return check_end();
    }
    MPI_Win_create(&target.counter, sizeof(long), sizeof(long), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &target.window);
    messages(world, &target, "a receive", in_receive);
    messages(world, &target, "a probe", in_probe);
    messages(world, &target, "probes that return at once", in_iprobe);
    messages(world, &target, "matched probes that return at once", in_improbe);
    messages(world, &target, "tests", in_test);
    messages(world, &target, "a wait for all", in_waitall);
    messages(world, &target, "waits for any", in_waitany);
    a_long_synchronous_send(world, &target);
    collectives(world, &target);
    a_busy_target(world, &target);
    a_lock_is_held_meanwhile(world, &target);
    MPI_Win_free(&target.window);
    return check_end();
}
