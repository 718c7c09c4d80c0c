/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent requests of all modes: started again and again, one by one and together,
 * completed by every call, and freed while active and while not.
 */
#include "tests/conformance/check.h"

enum { N_ROUNDS = 12, MAX_BYTES = 100000, READY = 2, BUFFERED = 3 };

typedef int (*init_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                       MPI_Request *);

static const struct {
    const char *name;
    init_fn init;
} modes[] = {
    {"standard", MPI_Send_init},
    {"synchronous", MPI_Ssend_init},
    {"ready", MPI_Rsend_init},
    {"buffered", MPI_Bsend_init},
};

static void wait_in_some_way(int round, MPI_Request *requests, MPI_Status *statuses)
{
    int is_done = 0;
    int index;

    switch (round % 4) {
    case 0:
        MPI_Waitall(2, requests, statuses);
        break;
    case 1:
        MPI_Wait(&requests[1], &statuses[1]);
        MPI_Wait(&requests[0], &statuses[0]);
        break;
    case 2:
        while (!is_done) {
            MPI_Testall(2, requests, &is_done, statuses);
        }
        break;
    default:
        for (int i = 0; i < 2; i++) {
            MPI_Status status;

            MPI_Waitany(2, requests, &index, &status);
            statuses[index] = status;
        }
        break;
    }
}

static void rounds_of_a_mode(struct world world, int mode, int n, char *out, char *in)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    /* Open MPI 4.1 goes wrong when a long persistent buffered send is started again. */
    int n_rounds = mode == BUFFERED && n > 8 ? 1 : N_ROUNDS;
    int count;

    modes[mode].init(out, n, MPI_BYTE, world.right, mode, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(in, MAX_BYTES, MPI_BYTE, world.left, mode, MPI_COMM_WORLD,
                  &requests[0]);
    for (int round = 0; round < n_rounds; round++) {
        check_fill(out, n, round + 100 * world.rank);
        MPI_Start(&requests[0]);
        if (mode == READY) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Start(&requests[1]);
        wait_in_some_way(round, requests, statuses);
        CHECK_EQUAL(statuses[0].MPI_SOURCE, world.left);
        MPI_Get_count(&statuses[0], MPI_BYTE, &count);
        CHECK_EQUAL(count, n);
        CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
        CHECK(check_is_filled(in, n, round + 100 * world.left));
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
}

static void all_modes(struct world world, char *out, char *in)
{
    static const int lengths[] = {0, 8, 4096, MAX_BYTES};
    int n_attached = 4 * (MAX_BYTES + MPI_BSEND_OVERHEAD);
    void *attached = check_alloc(n_attached);

    MPI_Buffer_attach(attached, n_attached);
    for (int mode = 0; mode < CHECK_N(modes); mode++) {
        for (int i = 0; i < CHECK_N(lengths); i++) {
            rounds_of_a_mode(world, mode, lengths[i], out, in);
        }
        check_say("%s\n", modes[mode].name);
    }
    MPI_Buffer_detach(&attached, &n_attached);
    free(attached);
}

static void a_halo_exchange(struct world world)
{
    MPI_Request requests[4];
    double cells[34];
    double sum = 0;

    for (int i = 0; i < 34; i++) {
        cells[i] = world.rank + i;
    }
    MPI_Recv_init(&cells[0], 1, MPI_DOUBLE, world.left, 1, MPI_COMM_WORLD,
                  &requests[0]);
    MPI_Recv_init(&cells[33], 1, MPI_DOUBLE, world.right, 2, MPI_COMM_WORLD,
                  &requests[1]);
    MPI_Send_init(&cells[32], 1, MPI_DOUBLE, world.right, 1, MPI_COMM_WORLD,
                  &requests[2]);
    MPI_Send_init(&cells[1], 1, MPI_DOUBLE, world.left, 2, MPI_COMM_WORLD,
                  &requests[3]);
    for (int step = 0; step < 50; step++) {
        double next[34];

        MPI_Startall(4, requests);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int i = 1; i < 33; i++) {
            next[i] = 0.25 * cells[i - 1] + 0.5 * cells[i] + 0.25 * cells[i + 1];
        }
        memcpy(&cells[1], &next[1], 32 * sizeof(double));
    }
    for (int i = 1; i < 33; i++) {
        sum += cells[i];
    }
    for (int i = 0; i < 4; i++) {
        MPI_Request_free(&requests[i]);
    }
    check_say("a halo exchange gives %.12e\n", sum);
}

static void wildcards_stay_wild(struct world world)
{
    MPI_Request request;
    MPI_Status status;
    int in;

    MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &request);
    for (int round = 0; round < 10; round++) {
        int to = (world.rank + round) % world.size;
        int from = (world.rank + world.size - round % world.size) % world.size;

        MPI_Start(&request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(&round, 1, MPI_INT, to, 60 + round, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        CHECK_EQUAL(in, round);
        CHECK_EQUAL(status.MPI_SOURCE, from);
        CHECK_EQUAL(status.MPI_TAG, 60 + round);
    }
    MPI_Request_free(&request);
    MPI_Barrier(MPI_COMM_WORLD); /* else what comes next could be received here */
    check_say("wildcards stay wild\n");
}

static void freed_while_active(struct world world)
{
    MPI_Request request;
    static int out;
    int in = -1;

    out = world.rank + 7;
    MPI_Send_init(&out, 1, MPI_INT, world.right, 70, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Recv(&in, 1, MPI_INT, world.left, 70, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world.left + 7);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("freed while active\n");
}

static void a_synchronous_one_waits_for_its_receive(struct world world)
{
    MPI_Request request;
    int out = world.rank, in = -1, is_done;

    MPI_Ssend_init(&out, 1, MPI_INT, world.right, 80, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 200; i++) {
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        CHECK(!is_done);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, world.left, 80, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world.left);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    check_say("a synchronous one waits for its receive\n");
}

static void a_buffered_one_does_not(struct world world, char *out, char *in)
{
    int n_attached = MAX_BYTES + MPI_BSEND_OVERHEAD;
    void *attached = check_alloc(n_attached);
    MPI_Request request;

    check_fill(out, MAX_BYTES, world.rank);
    MPI_Buffer_attach(attached, n_attached);
    MPI_Bsend_init(out, MAX_BYTES, MPI_BYTE, world.right, 81, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(in, MAX_BYTES, MPI_BYTE, world.left, 81, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    CHECK(check_is_filled(in, MAX_BYTES, world.left));
    MPI_Request_free(&request);
    MPI_Buffer_detach(&attached, &n_attached);
    free(attached);
    check_say("a buffered one does not\n");
}

/* It goes on with its own, whatever becomes of the handle, and what is made in its
 * place. */
static void its_type_may_be_freed(struct world world)
{
    MPI_Request requests[2];
    MPI_Datatype type, other;
    int out[6], in[6];

    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Recv_init(in, 1, type, world.left, 82, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 1, type, world.right, 82, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&type);
    MPI_Type_vector(2, 2, 4, MPI_SHORT, &other);
    MPI_Type_commit(&other);
    MPI_Sendrecv(out, 1, other, MPI_PROC_NULL, 1, in, 1, other, MPI_PROC_NULL, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 6; i++) {
            out[i] = 100 * world.rank + 10 * round + i;
            in[i] = -1;
        }
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 6; i++) {
            CHECK_EQUAL(in[i], i % 2 ? -1 : 100 * world.left + 10 * round + i);
        }
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Type_free(&other);
    check_say("its type may be freed\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    char *out = check_alloc(MAX_BYTES);
    char *in = check_alloc(MAX_BYTES);

    all_modes(world, out, in);
    a_halo_exchange(world);
    wildcards_stay_wild(world);
    freed_while_active(world);
    a_synchronous_one_waits_for_its_receive(world);
    a_buffered_one_does_not(world, out, in);
    its_type_may_be_freed(world);
    free(out);
    free(in);
    return check_end();
}
