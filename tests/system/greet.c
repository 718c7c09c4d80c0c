/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a launcher's test needs of a program: rank 0 prints the number of ranks, its
 * arguments and which libbcs_mpi.so is loaded into it, if any.
 *
 *     greet [ARGUMENT...]        status 0
 *     greet exit STATUS          the last rank ends with this status after MPI_Finalize
 *     greet yields               says also whether ranks that wait in Open MPI yield
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path of the loaded preload, from this process's own map; "none" without one. */
static void find_preload(char *path, size_t n_bytes)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");

    snprintf(path, n_bytes, "none");
    while (maps && fgets(line, sizeof(line), maps)) {
        char *at = strchr(line, '/');

        if (at && strstr(at, "/libbcs_mpi.so")) {
            at[strcspn(at, "\n")] = '\0';
            snprintf(path, n_bytes, "%s", at);
        }
    }
    if (maps) {
        fclose(maps);
    }
}

/* A variable of Open MPI's lower library. */
static void print_yields(void)
{
    const bool *yields = dlsym(RTLD_DEFAULT, "opal_progress_yield_when_idle");

    printf("yields %s\n", yields == NULL ? "unknown" : *yields ? "yes" : "no");
}

int main(int argc, char **argv)
{
    char preload[4096];
    int rank;
    int size;
    int sum;
    int status = argc > 2 && strcmp(argv[1], "exit") == 0 ? atoi(argv[2]) : 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        find_preload(preload, sizeof(preload));
        printf("ranks %d sum %d\n", size, sum);
        for (int i = 1; i < argc; i++) {
            printf("argument %s\n", argv[i]);
        }
        printf("preload %s\n", preload);
        if (argc > 1 && strcmp(argv[1], "yields") == 0) {
            print_yields();
        }
        fflush(stdout);
    }
    MPI_Finalize();
    return rank == size - 1 ? status : 0;
}
