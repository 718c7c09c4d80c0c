/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point-to-point over intercommunicators, in all forms: ranks are those of the other
 * side, whether the sides are as large as each other or not, and messages of an
 * intercommunicator match no others.
 */
#include "tests/conformance/sides.h"

enum { N_LONG = 300000 };

/** A number that only this pair of world's ranks, from and to, has. */
static int number_of(int from, int to)
{
    return 1000 * from + to;
}

enum form { SEND, SSEND, BSEND, ISEND, ISSEND, PERSISTENT, N_FORMS };

static void send_in_form(enum form form, const int *out, int n, int peer, int tag,
                         MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;

    switch (form) {
    case SEND:
        MPI_Send(out, n, MPI_INT, peer, tag, comm);
        break;
    case SSEND:
        MPI_Ssend(out, n, MPI_INT, peer, tag, comm);
        break;
    case BSEND:
        MPI_Bsend(out, n, MPI_INT, peer, tag, comm);
        break;
    case ISEND:
        MPI_Isend(out, n, MPI_INT, peer, tag, comm, &request);
        break;
    case ISSEND:
        MPI_Issend(out, n, MPI_INT, peer, tag, comm, &request);
        break;
    default:
        MPI_Send_init(out, n, MPI_INT, peer, tag, comm, &request);
        MPI_Start(&request);
        break;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT) {
        MPI_Request_free(&request);
    }
}

static void receive_number(struct world world, const struct sides *sides, int *in,
                           int n, int source, int tag)
{
    MPI_Status status;
    int n_in;

    in[0] = -1;
    MPI_Recv(in, n, MPI_INT, source, tag, sides->both, &status);
    MPI_Get_count(&status, MPI_INT, &n_in);
    CHECK_EQUAL(n_in, n);
    CHECK(status.MPI_SOURCE < sides->n_remote);
    CHECK_EQUAL(status.MPI_TAG, tag);
    CHECK(n == 0 ||
          in[n - 1] == number_of(sides->remote_origin + status.MPI_SOURCE, world.rank));
}

/** Side 0 sends, each of its ranks to one of the other side. */
static void modes_and_lengths(struct world world, const struct sides *sides)
{
    static const int counts[] = {0, 1, 20, 21, 5000, N_LONG};
    int n_space = (int)(N_LONG * sizeof(int)) + MPI_BSEND_OVERHEAD;
    int *data = check_alloc(N_LONG * sizeof(int));
    char *space = check_alloc(n_space);

    for (int form = 0; form < N_FORMS; form++) {
        for (int i = 0; i < CHECK_N(counts); i++) {
            int n = counts[i];
            int tag = 10 * form + i;
            int peer = (sides->rank + form) % sides->n_remote;

            MPI_Buffer_attach(space, n_space);
            if (sides->which == 0) {
                data[n > 0 ? n - 1 : 0] = number_of(world.rank, sides->n_first + peer);
                send_in_form(form, data, n, peer, tag, sides->both);
            }
            for (int from = 0; sides->which && from < sides->n_remote; from++) {
                if ((from + form) % sides->size == sides->rank) {
                    receive_number(world, sides, data, n, i % 2 ? from : MPI_ANY_SOURCE,
                                   tag);
                }
            }
            MPI_Buffer_detach(&space, &n_space);
        }
    }
    free(space);
    free(data);
    /* Else what is sent next could match a receive from anybody above: some tags are
     * the same. */
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("modes and lengths\n");
}

/** Everybody sends one number to everybody on the other side. */
static void send_to_all(struct world world, const struct sides *sides, int tag,
                        MPI_Request requests[], int numbers[])
{
    for (int i = 0; i < sides->n_remote; i++) {
        numbers[i] = number_of(world.rank, sides->remote_origin + i);
        MPI_Isend(&numbers[i], 1, MPI_INT, i, tag, sides->both, &requests[i]);
    }
}

/** Find a message with this tag in one of four ways and receive it. */
static int probe_and_receive(int form, int source, int tag, MPI_Comm comm,
                             MPI_Status *probed, MPI_Status *received)
{
    int in = -1, flag = 0;
    MPI_Message message;
    MPI_Request request;

    switch (form) {
    case 0:
        MPI_Probe(source, tag, comm, probed);
        MPI_Recv(&in, 1, MPI_INT, probed->MPI_SOURCE, tag, comm, received);
        break;
    case 1:
        while (!flag) {
            MPI_Iprobe(source, tag, comm, &flag, probed);
        }
        MPI_Recv(&in, 1, MPI_INT, probed->MPI_SOURCE, tag, comm, received);
        break;
    case 2:
        MPI_Mprobe(source, tag, comm, &message, probed);
        MPI_Mrecv(&in, 1, MPI_INT, &message, received);
        break;
    default:
        while (!flag) {
            MPI_Improbe(source, MPI_ANY_TAG, comm, &flag, &message, probed);
        }
        MPI_Imrecv(&in, 1, MPI_INT, &message, &request);
        MPI_Wait(&request, received);
        break;
    }
    return in;
}

static void probes(struct world world, const struct sides *sides)
{
    MPI_Request *requests = check_alloc(sides->n_remote * sizeof(MPI_Request));
    int *numbers = check_alloc(sides->n_remote * sizeof(int));

    for (int form = 0; form < 4; form++) {
        send_to_all(world, sides, 20 + form, requests, numbers);
        for (int i = 0; i < sides->n_remote; i++) {
            MPI_Status probed, received;
            int in = probe_and_receive(form, form == 2 ? i : MPI_ANY_SOURCE, 20 + form,
                                       sides->both, &probed, &received);
            int n;

            MPI_Get_count(&probed, MPI_INT, &n);
            CHECK_EQUAL(n, 1);
            CHECK_EQUAL(probed.MPI_SOURCE, received.MPI_SOURCE);
            CHECK_EQUAL(
                in, number_of(sides->remote_origin + received.MPI_SOURCE, world.rank));
        }
        MPI_Waitall(sides->n_remote, requests, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(requests);
    free(numbers);
    check_say("probes\n");
}

static void persistent_requests(struct world world, const struct sides *sides)
{
    int n = sides->n_remote;
    MPI_Request *requests = check_alloc(2 * n * sizeof(MPI_Request));
    int *out = check_alloc(n * sizeof(int));
    int *in = check_alloc(n * sizeof(int));

    for (int i = 0; i < n; i++) {
        MPI_Recv_init(&in[i], 1, MPI_INT, i, 30, sides->both, &requests[i]);
        MPI_Ssend_init(&out[i], 1, MPI_INT, i, 30, sides->both, &requests[n + i]);
    }
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < n; i++) {
            out[i] = round + number_of(world.rank, sides->remote_origin + i);
            in[i] = -1;
        }
        MPI_Startall(2 * n, requests);
        MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++) {
            CHECK_EQUAL(in[i], round + number_of(sides->remote_origin + i, world.rank));
        }
    }
    for (int i = 0; i < 2 * n; i++) {
        MPI_Request_free(&requests[i]);
    }
    free(requests);
    free(out);
    free(in);
    check_say("persistent requests\n");
}

static void nobody_and_not_myself(struct world world, const struct sides *sides)
{
    int value = 5, in = -1, flag, class, rc;
    MPI_Status status;
    MPI_Request request;

    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, sides->both);
    MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 1, sides->both, &status);
    CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, sides->both, &flag, &status);
    CHECK_EQUAL(flag, 0);
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 40, sides->both, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Comm_set_errhandler(sides->both, MPI_ERRORS_RETURN);
    rc = MPI_Send(&value, 1, MPI_INT, sides->n_remote, 1, sides->both);
    MPI_Error_class(rc, &class);
    CHECK_EQUAL(class, MPI_ERR_RANK);
    MPI_Comm_set_errhandler(sides->both, MPI_ERRORS_ARE_FATAL);
    /* A message to the same rank of one's own side does not come over both. */
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 41, sides->both, &request);
    MPI_Sendrecv(&world.rank, 1, MPI_INT, sides->rank, 41, &value, 1, MPI_INT,
                 MPI_ANY_SOURCE, 41, sides->mine, MPI_STATUS_IGNORE);
    CHECK_EQUAL(value, world.rank);
    MPI_Test(&request, &flag, &status);
    CHECK_EQUAL(flag, 0);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("nobody and not myself\n");
}

/** The smaller side's ranks exchange with the same ranks of the other. */
static void exchanges(struct world world, const struct sides *sides)
{
    int is_paired = sides->rank < sides->n_remote;
    int peer = is_paired ? sides->rank : MPI_PROC_NULL;
    int value = world.rank, in = -1;
    double rows[4][3] = {{0}};
    MPI_Datatype column;
    MPI_Status status;

    MPI_Sendrecv(&value, 1, MPI_INT, peer, 50, &in, 1, MPI_INT, peer, 50, sides->both,
                 &status);
    CHECK_EQUAL(in, is_paired ? sides->remote_origin + peer : -1);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, peer, 51, peer, MPI_ANY_TAG, sides->both,
                         &status);
    CHECK_EQUAL(value, is_paired ? sides->remote_origin + peer : world.rank);
    CHECK_EQUAL(status.MPI_SOURCE, peer);
    MPI_Type_vector(4, 1, 3, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < 4; i++) {
        rows[i][0] = 10 * world.rank + i;
    }
    MPI_Sendrecv(&rows[0][0], 1, column, peer, 52, &rows[0][2], 1, column, peer, 52,
                 sides->both, MPI_STATUS_IGNORE);
    for (int i = 0; is_paired && i < 4; i++) {
        CHECK_EQUAL(rows[i][2], 10 * (sides->remote_origin + peer) + i);
    }
    MPI_Type_free(&column);
    check_say("exchanges\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    for (int n_first = 1; n_first < world.size; n_first++) {
        struct sides sides = sides_make(world, n_first);

        modes_and_lengths(world, &sides);
        probes(world, &sides);
        persistent_requests(world, &sides);
        nobody_and_not_myself(world, &sides);
        exchanges(world, &sides);
        sides_free(&sides);
    }
    return check_end();
}
