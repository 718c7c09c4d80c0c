/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All send modes, blocking and not, deliver the same bytes for every length; a
 * synchronous send does not end before its receive has started.
 */
#include "tests/conformance/check.h"

#include <sched.h>

struct mode {
    const char *name;
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int is_buffered;
};

static const struct mode modes[] = {
    {"standard", MPI_Send, MPI_Isend, 0},
    {"synchronous", MPI_Ssend, MPI_Issend, 0},
    {"ready", MPI_Rsend, MPI_Irsend, 0},
    {"buffered", MPI_Bsend, MPI_Ibsend, 1},
};

struct buffers {
    char *out;
    char *in;
    char *attached;
};

static void exchange(const struct mode *mode, struct world world, int n,
                     int is_blocking, struct buffers *buffers)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    int count;

    check_fill(buffers->out, n, 100 * n + world.rank);
    memset(buffers->in, 0x5a, n + 8);
    MPI_Irecv(buffers->in, n, MPI_BYTE, world.left, n, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_blocking) {
        CHECK_EQUAL(
            mode->send(buffers->out, n, MPI_BYTE, world.right, n, MPI_COMM_WORLD),
            MPI_SUCCESS);
    } else {
        CHECK_EQUAL(mode->isend(buffers->out, n, MPI_BYTE, world.right, n,
                                MPI_COMM_WORLD, &requests[1]),
                    MPI_SUCCESS);
    }
    if (mode->is_buffered && is_blocking) {
        memset(buffers->out, 0, n);
    }
    MPI_Waitall(2, requests, statuses);
    MPI_Get_count(&statuses[0], MPI_BYTE, &count);
    CHECK_EQUAL(count, n);
    CHECK_EQUAL(statuses[0].MPI_SOURCE, world.left);
    CHECK_EQUAL(statuses[0].MPI_TAG, n);
    CHECK(check_is_filled(buffers->in, n, 100 * n + world.left));
    CHECK(check_is_all(buffers->in + n, 8, 0x5a));
}

static void all_lengths(const struct mode *mode, struct world world,
                        struct buffers *buffers)
{
    void *detached;
    int n_detached;
    uint64_t sum = 0;

    for (int i = 0; i < CHECK_N_LENGTHS; i++) {
        int n = check_lengths[i];

        for (int is_blocking = 0; is_blocking < 2; is_blocking++) {
            if (mode->is_buffered) {
                MPI_Buffer_attach(buffers->attached, n + MPI_BSEND_OVERHEAD);
            }
            exchange(mode, world, n, is_blocking, buffers);
            if (mode->is_buffered) {
                MPI_Buffer_detach(&detached, &n_detached);
                CHECK(detached == buffers->attached);
                CHECK_EQUAL(n_detached, n + MPI_BSEND_OVERHEAD);
            }
        }
        sum = check_mix(sum, check_sum(buffers->in, n < 4096 ? n : 4096));
    }
    check_say_sum(mode->name, sum);
}

static void a_synchronous_send_waits_for_its_receive(struct world world)
{
    MPI_Request request;
    int is_done;
    int value = world.rank;
    int in = -1;

    MPI_Issend(&value, 1, MPI_INT, world.right, 7, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 200; i++) {
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        CHECK(!is_done);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    CHECK(!is_done);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, world.left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world.left);
    check_say("a synchronous send waits for its receive\n");
}

/* What is sent after it does not come before its receive. */
static void a_blocking_one_waits_too(struct world world)
{
    int value = 1, flag;

    if (world.rank == 0 && world.size > 1) {
        MPI_Ssend(&value, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
        MPI_Send(&value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
    } else if (world.rank == 1) {
        MPI_Probe(0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 800; i++) {
            MPI_Iprobe(0, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
            sched_yield();
        }
        MPI_Recv(&value, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    check_say("a blocking one waits, too\n");
}

/* Short ones, and some that are longer than what goes out at once in any mode. */
static void buffered_sends_go_out_before_any_receive(struct world world)
{
    enum { N_MESSAGES = 50, N_BYTES = 3000, N_LONG = 300000, EACH = 10 };
    int n_attached =
        N_MESSAGES * (N_BYTES + MPI_BSEND_OVERHEAD) + N_MESSAGES / EACH * 2 * N_LONG;
    void *attached = check_alloc(n_attached);
    char *data = check_alloc(N_LONG);
    MPI_Request request;

    MPI_Buffer_attach(attached, n_attached);
    for (int i = 0; i < N_MESSAGES; i++) {
        int n = i % EACH < 2 ? N_LONG : N_BYTES;

        check_fill(data, n, i + world.rank);
        if (i % 2) {
            MPI_Bsend(data, n, MPI_BYTE, world.right, i, MPI_COMM_WORLD);
        } else {
            MPI_Ibsend(data, n, MPI_BYTE, world.right, i, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = N_MESSAGES - 1; i >= 0; i--) {
        int n = i % EACH < 2 ? N_LONG : N_BYTES;

        MPI_Recv(data, n, MPI_BYTE, world.left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(check_is_filled(data, n, i + world.left));
    }
    MPI_Buffer_detach(&attached, &n_attached);
    free(attached);
    free(data);
    check_say("buffered sends go out before any receive\n");
}

/* A long message is still under way when its buffer is taken back. */
static void a_buffer_is_given_back_when_it_is_empty(struct world world)
{
    enum { N_BYTES = 300000 };
    int n = N_BYTES + MPI_BSEND_OVERHEAD, flag;
    void *attached = check_alloc(n);
    char *data = check_alloc(N_BYTES);

    if (world.rank == 0 && world.size > 1) {
        MPI_Buffer_attach(attached, n);
        MPI_Bsend(data, N_BYTES, MPI_BYTE, 1, 10, MPI_COMM_WORLD);
        MPI_Buffer_detach(&attached, &n);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 11, MPI_COMM_WORLD);
    } else if (world.rank == 1) {
        MPI_Probe(0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 800; i++) {
            MPI_Iprobe(0, 11, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
            sched_yield();
        }
        MPI_Recv(data, N_BYTES, MPI_BYTE, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(attached);
    free(data);
    check_say("a buffer is given back when it is empty\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    struct buffers buffers = {
        .out = check_alloc(CHECK_MAX_LENGTH + 8),
        .in = check_alloc(CHECK_MAX_LENGTH + 8),
        .attached = check_alloc(CHECK_MAX_LENGTH + MPI_BSEND_OVERHEAD),
    };

    for (int i = 0; i < CHECK_N(modes); i++) {
        all_lengths(&modes[i], world, &buffers);
    }
    a_synchronous_send_waits_for_its_receive(world);
    a_blocking_one_waits_too(world);
    buffered_sends_go_out_before_any_receive(world);
    a_buffer_is_given_back_when_it_is_empty(world);
    free(buffers.out);
    free(buffers.in);
    free(buffers.attached);
    return check_end();
}
