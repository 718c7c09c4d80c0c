/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks receive, and nobody sends, at the end of a chain of calls; for
 * run_places.py. The argument is how the function is called that receives.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "tests/system/places_between.h"

enum { TAG = 5 };

/** So that no call is the last thing that its function does: it would be a jump. */
static volatile int n_calls;

static __attribute__((noinline)) void exchange(int *word)
{
    MPI_Recv(word, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, /* in exchange */
             MPI_STATUS_IGNORE);
    n_calls++;
}

static inline __attribute__((always_inline)) void exchange_within(int *word)
{
    MPI_Recv(word, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, /* put into step */
             MPI_STATUS_IGNORE);
    n_calls++;
}

static __attribute__((noinline)) void step(int *word)
{
    exchange(word); /* in step */
    n_calls++;
}

static __attribute__((noinline)) void step_within(int *word)
{
    exchange_within(word); /* in step_within */
    n_calls++;
}

/** As many calls as nobody wants to read. */
static __attribute__((noinline)) void deep(int n, int *word)
{
    if (n == 0) {
        step(word);
    } else {
        deep(n - 1, word);
    }
    n_calls++;
}

static __attribute__((noinline)) void step_between(int *word)
{
    between_receive(word, TAG); /* by a library */
    n_calls++;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    int word, rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(way, "called") == 0) {
        step(&word); /* called by main */
    } else if (strcmp(way, "within") == 0) {
        step_within(&word); /* put within by main */
    } else if (strcmp(way, "two_ways") == 0 && rank == 0) {
        exchange(&word);
    } else if (strcmp(way, "two_ways") == 0) {
        step(&word);
    } else if (strcmp(way, "deep") == 0) {
        deep(100, &word);
    } else if (strcmp(way, "between") == 0) {
        step_between(&word); /* between by main */
    }
    printf("%d\n", n_calls);
    MPI_Finalize();
    return 0;
}
