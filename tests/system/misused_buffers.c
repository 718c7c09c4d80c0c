/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes buffers of pending operations, for run_buffers.py, which knows the lines by
 * their marks: the call that posts, and, with "_end" behind the name, the one that
 * completes. With "right" behind the case's name the same is done as it should be, and
 * what is allowed beside; then what is received is looked at.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, LONG = 1 << 20, ROWS = 16 };

static int rank, size, tag; /* tag: of the case */
static bool is_right;
static int a[N], b[N];
static char out[LONG], in[LONG];

static int next(void)
{
    return (rank + 1) % size;
}

static int previous(void)
{
    return (rank + size - 1) % size;
}

static void expect(bool is_true, const char *what)
{
    if (!is_true && is_right) {
        fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/** Whether an array was received from the previous rank, but for a value that this one
 *  has spoilt. */
static void expect_from_previous(const int *values)
{
    for (int i = 0; i < N; i++) {
        expect(values[i] == 1000 * previous() + i, "a value");
    }
}

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = 1000 * rank + i;
        b[i] = -1;
    }
}

/** Change a value that must not be changed. */
static void spoil(int *value)
{
    if (!is_right) {
        *value = 5;
    }
}

static void send(void)
{
    MPI_Request request;
    int sum = 0;

    /* mark: send */
    MPI_Isend(a, N, MPI_INT, next(), tag, MPI_COMM_WORLD, &request);
    for (int i = 0; i < N; i++) {
        sum += a[i]; /* to read is allowed */
    }
    if (!is_right) {
        a[3] += sum + 1;
    }
    MPI_Recv(b, N, MPI_INT, previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* mark: send_end */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    a[3] = sum;
    if (is_right) {
        expect_from_previous(b);
    }
}

/** A synchronous one, which MPI_Test completes. */
static void synchronous(void)
{
    MPI_Request request;
    int is_over = 0;

    /* mark: synchronous */
    MPI_Issend(a, N, MPI_INT, next(), tag, MPI_COMM_WORLD, &request);
    spoil(&a[N - 1]);
    MPI_Recv(b, N, MPI_INT, previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!is_over) {
        /* mark: synchronous_end */
        MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    }
    a[N - 1] = -5;
}

/** Longer than what is kept of it. */
static void long_send(void)
{
    MPI_Request request;

    memset(out, rank, LONG);
    /* mark: long_send */
    MPI_Isend(out, LONG, MPI_CHAR, next(), tag, MPI_COMM_WORLD, &request);
    if (!is_right) {
        out[LONG - 1] = 99;
    }
    MPI_Recv(in, LONG, MPI_CHAR, previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* mark: long_send_end */
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    expect(in[LONG - 2] == previous(), "a long message");
}

/** A receive whose buffer the program changes before the message is sent. */
static void receive(void)
{
    MPI_Request request;

    /* mark: receive */
    MPI_Irecv(b, N, MPI_INT, previous(), tag, MPI_COMM_WORLD, &request);
    spoil(&b[7]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(a, N, MPI_INT, next(), tag, MPI_COMM_WORLD);
    /* mark: receive_end */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_from_previous(b);
    b[7] = 5;
}

/** The same after it has come, with a long one. */
static void late_receive(void)
{
    MPI_Request requests[2];
    int index;

    memset(out, 'a' + rank, LONG);
    memset(in, 0, LONG);
    /* mark: late_receive */
    MPI_Irecv(in, LONG, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, LONG, MPI_CHAR, next(), tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!is_right) {
        in[LONG / 2] = 1;
    }
    /* mark: late_receive_end */
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    expect(in[LONG / 2] == 'a' + previous() && in[LONG - 1] == 'a' + previous(),
           "a long message");
}

/** Of a message that was probed for. */
static void probed(void)
{
    MPI_Request request, sent;
    MPI_Message message;

    MPI_Isend(a, N, MPI_INT, next(), tag, MPI_COMM_WORLD, &sent);
    MPI_Mprobe(previous(), tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    /* mark: probed */
    MPI_Imrecv(b, N, MPI_INT, &message, &request);
    spoil(&b[1]);
    /* mark: probed_end */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    expect_from_previous(b);
}

/** Of MPI 4; the MPI library below may lack it. */
int MPI_Isendrecv(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype,
                  int, int, MPI_Comm, MPI_Request *) __attribute__((weak));

/** Of an exchange the half that sends. */
static void exchanged(void)
{
    MPI_Request request;

    /* mark: exchanged */
    MPI_Isendrecv(a, N, MPI_INT, next(), tag, b, N, MPI_INT, previous(), tag,
                  MPI_COMM_WORLD, &request);
    spoil(&a[2]);
    /* mark: exchanged_end */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_from_previous(b);
}

/** A buffered one, which MPI_Waitsome completes: its data have gone, but nobody has
 *  said so. */
static void buffered(void)
{
    static char space[N * sizeof(int) + MPI_BSEND_OVERHEAD];
    MPI_Request request;
    void *back;
    int n, index;

    MPI_Buffer_attach(space, sizeof(space));
    /* mark: buffered */
    MPI_Ibsend(a, N, MPI_INT, next(), tag, MPI_COMM_WORLD, &request);
    spoil(&a[1]);
    MPI_Recv(b, N, MPI_INT, previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* mark: buffered_end */
    MPI_Waitsome(1, &request, &n, &index, MPI_STATUSES_IGNORE);
    MPI_Buffer_detach(&back, &n);
    expect_from_previous(b);
}

static void persistent(void)
{
    MPI_Request requests[2];

    MPI_Recv_init(b, N, MPI_INT, previous(), tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(a, N, MPI_INT, next(), tag, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        fill(); /* it has not been started */
        /* mark: persistent */
        MPI_Startall(2, requests);
        if (!is_right && i == 1) {
            a[0]++;
        }
        /* mark: persistent_end */
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    expect_from_previous(b);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void persistent_receive(void)
{
    MPI_Request request;

    MPI_Recv_init(b, N, MPI_INT, previous(), tag, MPI_COMM_WORLD, &request);
    b[5] = 2;
    /* mark: persistent_receive */
    MPI_Start(&request);
    spoil(&b[5]);
    MPI_Send(a, N, MPI_INT, next(), tag, MPI_COMM_WORLD);
    /* mark: persistent_receive_end */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_from_previous(b);
    MPI_Request_free(&request);
}

/** A column: between its elements everything is allowed. */
static void column(void)
{
    MPI_Datatype type;
    MPI_Request request;

    MPI_Type_vector(ROWS, 1, ROWS, MPI_INT, &type);
    MPI_Type_commit(&type);
    /* mark: column */
    MPI_Isend(a, 1, type, next(), tag, MPI_COMM_WORLD, &request);
    MPI_Type_free(&type);
    a[1] = -1;
    a[ROWS - 1] = -1;
    spoil(&a[2 * ROWS]);
    MPI_Recv(b, ROWS, MPI_INT, previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* mark: column_end */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(b[1] == 1000 * previous() + ROWS, "a column");
}

static void received_column(void)
{
    MPI_Datatype type;
    MPI_Request request;

    MPI_Type_vector(ROWS, 1, ROWS, MPI_INT, &type);
    MPI_Type_commit(&type);
    /* mark: received_column */
    MPI_Irecv(b, 1, type, previous(), tag, MPI_COMM_WORLD, &request);
    MPI_Type_free(&type);
    b[1] = -7;
    spoil(&b[0]);
    MPI_Send(a, ROWS, MPI_INT, next(), tag, MPI_COMM_WORLD);
    /* mark: received_column_end */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(b[ROWS] == 1000 * previous() + 1 && b[1] == -7, "a column");
}

static void reduction(void)
{
    MPI_Request request;

    /* mark: reduction */
    MPI_Iallreduce(a, b, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    spoil(&a[N - 2]);
    /* mark: reduction_end */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(b[1] == size + 1000 * size * (size - 1) / 2, "a sum");
}

static void reduction_result(void)
{
    MPI_Request request;

    memcpy(b, a, sizeof(b));
    /* mark: reduction_result */
    MPI_Iallreduce(MPI_IN_PLACE, b, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    spoil(&b[1]);
    /* mark: reduction_result_end */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(b[2] == 2 * size + 1000 * size * (size - 1) / 2, "a sum");
}

static void broadcast(void)
{
    MPI_Request request;

    /* mark: broadcast */
    MPI_Ibcast(a, N, MPI_INT, 0, MPI_COMM_WORLD, &request);
    if (!is_right) {
        a[10] = 77; /* sent by one, received by the others */
    }
    /* mark: broadcast_end */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(a[9] == 9, "a broadcast");
}

static void blocks(void)
{
    int counts[64], displs[64];
    MPI_Request request;

    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        displs[i] = 8 * i;
    }
    /* mark: blocks */
    MPI_Iallgatherv(a, rank + 1, MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_WORLD,
                    &request);
    b[7] = 1; /* in a gap */
    a[N - 1] = 1;
    spoil(&b[8 * (size - 1)]);
    /* mark: blocks_end */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(b[8 * (size - 1) + 1] == 1000 * (size - 1) + 1 && b[7] == 1, "a block");
}

static void all_to_all(void)
{
    MPI_Request request;

    /* mark: all_to_all */
    MPI_Ialltoall(a, 2, MPI_INT, b, 2, MPI_INT, MPI_COMM_WORLD, &request);
    spoil(&a[2 * size - 1]);
    /* mark: all_to_all_end */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(b[2 * previous()] == 1000 * previous() + 2 * rank, "a block");
}

/** The buffer of a pending receive is sent. What is sent may be sent twice. */
static void shared(void)
{
    MPI_Request requests[4];

    /* mark: shared_end */
    MPI_Irecv(b, 500, MPI_INT, previous(), tag, MPI_COMM_WORLD, &requests[0]);
    /* mark: shared */
    MPI_Isend(is_right ? b + 500 : b + 499, 4, MPI_INT, next(), tag + 100,
              MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(a, 500, MPI_INT, next(), tag, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(a + 1, 400, MPI_INT, next(), tag + 200, MPI_COMM_WORLD, &requests[3]);
    MPI_Recv(b + 900, 4, MPI_INT, previous(), tag + 100, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Recv(b + 504, 396, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Recv(in, 400, MPI_INT, previous(), tag + 200, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    expect(b[1] == 1000 * previous() + 1, "a message");
}

/** The same by a call that waits; the receive is not changed by it. */
static void sent_at_once(void)
{
    MPI_Request request;

    /* mark: sent_at_once_end */
    MPI_Irecv(b, 500, MPI_INT, previous(), tag, MPI_COMM_WORLD, &request);
    /* mark: sent_at_once */
    MPI_Send(is_right ? b + 500 : b + 499, 4, MPI_INT, next(), tag + 100,
             MPI_COMM_WORLD);
    MPI_Send(a, 500, MPI_INT, next(), tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(b, 4, MPI_INT, previous(), tag + 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(b[4] == 1000 * previous() + 4, "a message");
}

/** Two receives into one buffer; columns beside each other are none. */
static void shared_receives(void)
{
    MPI_Datatype type;
    MPI_Request requests[2];

    MPI_Type_vector(ROWS, 1, ROWS, MPI_INT, &type);
    MPI_Type_commit(&type);
    /* mark: shared_receives_end */
    MPI_Irecv(b, 1, type, previous(), tag, MPI_COMM_WORLD, &requests[0]);
    /* mark: shared_receives */
    MPI_Irecv(is_right ? b + 1 : b + ROWS, 1, type, previous(), tag, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Send(a, ROWS, MPI_INT, next(), tag, MPI_COMM_WORLD);
    MPI_Send(a, ROWS, MPI_INT, next(), tag, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Type_free(&type);
    expect(b[0] == 1000 * previous(), "a column");
}

/** What is allowed, and looks like more. */
static void allowed(void)
{
    MPI_Request requests[2];
    int is_over = 0, value = rank;

    if (!is_right) {
        return;
    }
    MPI_Sendrecv_replace(a, N, MPI_INT, next(), tag, previous(), tag, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    expect_from_previous(a);
    MPI_Isend(&value, 1, MPI_INT, next(), tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv(b, 1, MPI_INT, previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!is_over) {
        MPI_Request_get_status(requests[0], &is_over, MPI_STATUS_IGNORE);
    }
    value = -1; /* it is over, though the request is not */
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Irecv(b, N, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(b, 0, MPI_INT, previous(), tag, MPI_COMM_WORLD, &requests[1]);
    b[0] = 1;
    MPI_Send(a, 0, MPI_INT, next(), tag, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Irecv(b, N, MPI_INT, previous(), tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(a, 10, MPI_INT, next(), tag, MPI_COMM_WORLD); /* shorter */
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    expect(b[N - 1] == -1, "what was not received");
    MPI_Irecv(b, N, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_SELF, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Irecv(a, N, MPI_INT, previous(), tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Request_free(&requests[0]);
    a[0] =
        -1; /* not allowed, but when it is over nobody can tell: so it is not watched */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(b, 1, MPI_INT, next(), tag, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"send", send},
             {"synchronous", synchronous},
             {"long_send", long_send},
             {"receive", receive},
             {"late_receive", late_receive},
             {"probed", probed},
             {"buffered", buffered},
             {"exchanged", exchanged},
             {"persistent", persistent},
             {"persistent_receive", persistent_receive},
             {"column", column},
             {"received_column", received_column},
             {"reduction", reduction},
             {"reduction_result", reduction_result},
             {"broadcast", broadcast},
             {"blocks", blocks},
             {"all_to_all", all_to_all},
             {"shared", shared},
             {"sent_at_once", sent_at_once},
             {"shared_receives", shared_receives},
             {"allowed", allowed}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_right = argc > 2 && strcmp(argv[2], "right") == 0;
    for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(cases[i].name, argv[1]) == 0 || strcmp(argv[1], "all") == 0) {
            tag = 1000 + (int)i;
            fill();
            MPI_Barrier(MPI_COMM_WORLD);
            cases[i].run();
        }
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
