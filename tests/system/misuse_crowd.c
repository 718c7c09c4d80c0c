/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that are in collectives of one communicator at once; see misuse.c. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#include "misuse.h"

/** What a thread does, of two. */
struct part {
    const struct run *run;
    MPI_Comm comm;
    pthread_barrier_t *start;
    long from[N_LONG], to[N_LONG];
};

/** All are alike, so that it does not matter which of this rank's meets which of the
 *  others'. */
static void *call_often(void *arg)
{
    enum { N_CALLS = 100 };
    struct part *part = arg;

    pthread_barrier_wait(
        part->start); /* else one may be done before the other begins */
    for (int i = 0; i < N_CALLS; i++) {
        if (part->run->n == 0) {
            MPI_Barrier(part->comm);
        } else {
            MPI_Allreduce(part->from, part->to, part->run->n, MPI_LONG, MPI_SUM,
                          part->comm);
        }
    }
    if (part->run->n != 0 && part->to[0] != part->run->size) {
        printf("the sum is %ld\n", part->to[0]);
    }
    return NULL;
}

void crowd(const struct run *run, int is_wrong)
{
    static struct part parts[2];
    pthread_barrier_t start;
    pthread_t other;

    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++) {
        parts[i].run = run;
        parts[i].from[0] = 1;
        parts[i].comm = MPI_COMM_WORLD;
        parts[i].start = &start;
    }
    if (!is_wrong) {
        MPI_Comm_dup(MPI_COMM_WORLD, &parts[1].comm);
    }
    if (pthread_create(&other, NULL, call_often, &parts[1]) != 0) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    call_often(&parts[0]);
    pthread_join(other, NULL);
    pthread_barrier_destroy(&start);
    if (!is_wrong) {
        MPI_Comm_free(&parts[1].comm);
    }
}
