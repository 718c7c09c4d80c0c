/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs conformance programs one after the other between one MPI_Init and one
 * MPI_Finalize: starting a job takes longer than most of them run. The arguments name
 * the programs. Each is the object of the program of that name, in which Meson has
 * renamed main and what begins and ends MPI; BATCH_PROGRAMS, its list of them, is
 * defined there, too. Rank 0 prints a line before each, so that run_conformance.py can
 * tell their output apart and knows in which one a job has ended.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(name) int batch_main_##name(int argc, char **argv);
BATCH_PROGRAMS(DECLARE)

struct program {
    const char *name;
    int (*main)(int argc, char **argv);
};

#define ROW(name) {#name, batch_main_##name},
static const struct program programs[] = {BATCH_PROGRAMS(ROW)};

enum { N_PROGRAMS = sizeof(programs) / sizeof(programs[0]), NO_PROGRAM = 98 };

/** What the programs call in place of MPI_Init: MPI runs already. */
int batch_init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return MPI_SUCCESS;
}

/** What the programs call in place of MPI_Finalize: MPI goes on. */
int batch_finalize(void)
{
    return MPI_SUCCESS;
}

static const struct program *find(const char *name)
{
    for (int i = 0; i < N_PROGRAMS; i++) {
        if (strcmp(programs[i].name, name) == 0) {
            return &programs[i];
        }
    }
    fprintf(stderr, "batch: there is no program %s\n", name);
    MPI_Abort(MPI_COMM_WORLD, NO_PROGRAM);
    return NULL;
}

/** Run one program, and give the next one what MPI_Init would have given it. */
static void run(const struct program *program, int rank)
{
    char name[64];
    char *argv[] = {name, NULL};
    int status;

    snprintf(name, sizeof(name), "%s", program->name);
    if (rank == 0) {
        printf("== %s\n", name);
        fflush(stdout);
    }
    status = program->main(1, argv);
    if (status != 0) {
        fprintf(stderr, "%s: rank %d: not true: main returns 0 (%d)\n", name, rank,
                status);
        MPI_Abort(MPI_COMM_WORLD, status);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++) {
        run(find(argv[i]), rank);
    }
    if (rank == 0) { /* what fails from here on is no program's fault */
        puts("== end");
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
