/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are longer than their receives; see misuse.c. */
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "misuse.h"

static long in[N_LONG], out[N_LONG];

/** How many elements a receive has room for. */
static int room_of(const struct run *run, int is_wrong)
{
    return is_wrong ? run->n - 1 : run->n + 1;
}

static int send_if_first(const struct run *run)
{
    if (run->rank == 0) {
        MPI_Send(in, run->n, MPI_LONG, 1, 7, MPI_COMM_WORLD);
    }
    return run->rank == 1;
}

void truncated_recv(const struct run *run, int is_wrong)
{
    if (send_if_first(run)) {
        MPI_Recv(out, room_of(run, is_wrong), MPI_LONG, 0, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
}

void truncated_any(const struct run *run, int is_wrong)
{
    if (send_if_first(run)) {
        MPI_Recv(out, room_of(run, is_wrong), MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

void truncated_wait(const struct run *run, int is_wrong)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (run->rank == 1) {
        MPI_Irecv(out, room_of(run, is_wrong), MPI_LONG, 0, 7, MPI_COMM_WORLD,
                  &request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    send_if_first(run);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void truncated_waitall(const struct run *run, int is_wrong)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    if (run->rank == 1) {
        MPI_Irecv(out, room_of(run, is_wrong), MPI_LONG, 0, 7, MPI_COMM_WORLD,
                  &requests[1]);
    }
    send_if_first(run);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

void truncated_test(const struct run *run, int is_wrong)
{
    MPI_Request request;
    int is_over = 0;

    if (send_if_first(run)) {
        MPI_Irecv(out, room_of(run, is_wrong), MPI_LONG, 0, 7, MPI_COMM_WORLD,
                  &request);
        while (!is_over) {
            MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
        }
    }
}

void truncated_persistent(const struct run *run, int is_wrong)
{
    MPI_Request request;

    if (send_if_first(run)) {
        MPI_Recv_init(out, room_of(run, is_wrong), MPI_LONG, 0, 7, MPI_COMM_WORLD,
                      &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
}

void truncated_sendrecv(const struct run *run, int is_wrong)
{
    int partner = run->rank ^ 1;

    if (partner < run->size) {
        int room = run->rank == 1 ? room_of(run, is_wrong) : run->n;

        MPI_Sendrecv(in, run->n, MPI_LONG, partner, 7, out, room, MPI_LONG, partner, 7,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

void truncated_mrecv(const struct run *run, int is_wrong)
{
    MPI_Message message;

    if (send_if_first(run)) {
        MPI_Mprobe(0, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(out, room_of(run, is_wrong), MPI_LONG, &message, MPI_STATUS_IGNORE);
    }
}

void truncated_with_gaps(const struct run *run, int is_wrong)
{
    MPI_Datatype every_other;

    MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &every_other);
    MPI_Type_commit(&every_other);
    if (send_if_first(run)) {
        MPI_Recv(out, room_of(run, is_wrong), every_other, 0, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&every_other);
}

static volatile sig_atomic_t n_children;

static void note_child(int number)
{
    (void)number;
    n_children++;
}

/** The error is returned, several times, and the program goes on. It sees nothing of
 *  what says where that was. */
void truncated_often(const struct run *run, int is_wrong)
{
    signal(SIGCHLD, note_child);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 40; i++) {
        if (send_if_first(run)) {
            int class, code = MPI_Recv(out, room_of(run, is_wrong), MPI_LONG, 0, 7,
                                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);

            MPI_Error_class(code, &class);
            if (class != (is_wrong ? MPI_ERR_TRUNCATE : MPI_SUCCESS)) {
                printf("error class %d\n", class);
            }
        }
    }
    if (n_children > 0 || waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD) {
        printf("the program sees a child\n");
    }
}
