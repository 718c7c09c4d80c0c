/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that is not linked with an MPI library: it opens one, and looks MPI's
 * functions up in it, as Python's ctypes and Julia do. Or it opens a module that is
 * linked with the MPI library, in such a way that the module's calls pass the preload
 * by.
 *
 *     handles LIBRARY local|global|deep ACT
 *
 * ACT is
 *     sum      prints the rank, the number of ranks and the sum of all ranks
 *     dead     then waits for a message that nobody sends
 *     wait     prints "begun" and waits for SIGUSR2
 *     before   prints "loaded" and waits for SIGUSR2 before MPI_Init
 *     lookups  prints in which file each of some names is found
 */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handles.h"

static void *library;

void *handles_find(const char *name)
{
    void *symbol = dlsym(library, name);

    if (symbol == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return symbol;
}

void handles_await(void)
{
    sigset_t signals;
    int number;

    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR2);
    sigwait(&signals, &number);
}

/** Print where a symbol is. */
static void tell(const char *how, const char *name, void *symbol)
{
    const char *file = "nowhere";
    Dl_info info;

    if (symbol != NULL && dladdr(symbol, &info) != 0) {
        file = strrchr(info.dli_fname, '/') + 1;
    }
    printf("%s %s: %s\n", how, name, file);
}

/** All that does not ask the MPI library for a function of MPI is as without BCS. */
static void look_up(void)
{
    void *symbol;

    tell("handle", "MPI_Send", dlsym(library, "MPI_Send"));
    tell("handle", "PMPI_Send", dlsym(library, "PMPI_Send"));
    tell("next", "dlsym", dlsym(RTLD_NEXT, "dlsym"));
    tell("handle", "MPI_Comm_size", dlsym(library, "MPI_Comm_size"));
    tell("handle", "ompi_mpi_comm_world", dlsym(library, "ompi_mpi_comm_world"));
    tell("default", "malloc", dlsym(RTLD_DEFAULT, "malloc"));
    tell("next", "malloc", dlsym(RTLD_NEXT, "malloc"));
    symbol = dlsym(library, "MPI_Nonsense");
    tell("handle", "MPI_Nonsense", symbol);
    printf("%s\n", symbol == NULL ? strrchr(dlerror(), ':') : "");
    tell("handle", "MPI", dlsym(library, "MPI"));
}

/** What an act does by functions that were looked up. */
static void act_by_names(const char *act)
{
    int (*init)(int *, char ***) = handles_find("MPI_Init");
    int (*find_rank)(MPI_Comm, int *) = handles_find("MPI_Comm_rank");
    int (*find_size)(MPI_Comm, int *) = handles_find("MPI_Comm_size");
    int (*finalize)(void) = handles_find("MPI_Finalize");
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm) =
        handles_find("MPI_Allreduce");
    int (*recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *) =
        handles_find("MPI_Recv");
    MPI_Comm world = handles_find("ompi_mpi_comm_world");
    int rank, size, sum;

    init(NULL, NULL);
    find_rank(world, &rank);
    find_size(world, &size);
    allreduce(&rank, &sum, 1, handles_find("ompi_mpi_int"),
              handles_find("ompi_mpi_op_sum"), world);
    printf("rank %d of %d, sum %d\n", rank, size, sum);
    fflush(stdout);
    if (strcmp(act, "dead") == 0) {
        recv(&sum, 1, handles_find("ompi_mpi_int"), (rank + 1) % size, 3, world, NULL);
    } else if (strcmp(act, "wait") == 0) {
        puts("begun");
        fflush(stdout);
        handles_await();
    }
    finalize();
}

int main(int n_words, char **words)
{
    int flags = RTLD_NOW;
    sigset_t signals;

    if (n_words != 4) {
        return 2;
    }
    flags |= strcmp(words[2], "deep") == 0     ? RTLD_LOCAL | RTLD_DEEPBIND
             : strcmp(words[2], "global") == 0 ? RTLD_GLOBAL
                                               : RTLD_LOCAL;
    library = dlopen(words[1], flags);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR2);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    if (strcmp(words[3], "lookups") == 0) {
        look_up();
        return 0;
    }
    if (strcmp(words[3], "before") == 0) {
        puts("loaded");
        fflush(stdout);
        handles_await();
    }
    if (strcmp(words[2], "deep") == 0) {
        return ((handles_module_fn)handles_find("module_run"))(handles_await);
    }
    act_by_names(words[3]);
    return 0;
}
