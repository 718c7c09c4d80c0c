/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that fork. Each child does one thing and ends; whatever it does, the ranks go
 * on as if there had been none. Every kind of call is tried while something is pending.
 *
 * Usage: forked. Rank 0 prints a line for each kind of child: how the children have
 * ended (the same on all ranks), or that it is not the same.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG = 300000, ELSEWHERE = 7 };

static int rank, n_ranks;
static MPI_Request pending;

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void send(void)
{
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % n_ranks, ELSEWHERE, MPI_COMM_WORLD);
}

static void send_much(void)
{
    for (int i = 0; i < 100000; i++) {
        send();
    }
}

static void probe(void)
{
    int flag;

    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void wait_pending(void)
{
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
}

static void duplicate(void)
{
    MPI_Comm copy;

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
}

static void make_window(void)
{
    MPI_Win window;
    int *base;

    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
}

static void give_up(void)
{
    MPI_Abort(MPI_COMM_WORLD, 5);
}

static void initialize(void)
{
    MPI_Init(NULL, NULL);
}

static void finalize(void)
{
    if (MPI_Finalize() != MPI_SUCCESS) {
        _exit(9);
    }
}

static void ask(void)
{
    int again;

    MPI_Comm_rank(MPI_COMM_WORLD, &again);
    if (again != rank || MPI_Wtime() < 0) {
        _exit(9);
    }
}

static void nothing(void)
{
}

static void fork_again(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        barrier();
        _exit(0);
    }
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 8);
}

static const struct kind {
    const char *name;
    void (*act)(void);
} kinds[] = {
    {"MPI_Barrier", barrier},
    {"MPI_Send", send},
    {"100000 sends", send_much},
    {"MPI_Iprobe", probe},
    {"MPI_Wait", wait_pending},
    {"MPI_Comm_dup", duplicate},
    {"MPI_Win_allocate", make_window},
    {"MPI_Abort", give_up},
    {"MPI_Init", initialize},
    {"MPI_Finalize", finalize},
    {"MPI_Comm_rank", ask},
    {"exit", nothing},
    {"a child of a child", fork_again},
};

/** How the child has ended: its exit status, or 100 and more. */
static int run_child(const struct kind *kind)
{
    int status;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        kind->act();
        exit(0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

/** Long messages are under way while the children are there. */
static int run_kind(const struct kind *kind, char *from, char *to)
{
    MPI_Request sending;
    int least, most, ended;

    MPI_Irecv(to, LONG, MPI_BYTE, (rank + n_ranks - 1) % n_ranks, 1, MPI_COMM_WORLD,
              &pending);
    MPI_Isend(from, LONG, MPI_BYTE, (rank + 1) % n_ranks, 1, MPI_COMM_WORLD, &sending);
    ended = run_child(kind);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    MPI_Allreduce(&ended, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&ended, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return least == most ? least : -1;
}

int main(int n_words, char **words)
{
    char *from = malloc(LONG), *to = malloc(LONG);
    int flag;

    MPI_Init(&n_words, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char before = (char)(rank + i),
             after = (char)((rank + n_ranks - 1) % n_ranks + i);
        int ended;

        for (int k = 0; k < LONG; k++) {
            from[k] = before;
        }
        ended = run_kind(&kinds[i], from, to);
        for (int k = 0; k < LONG; k++) {
            ended = to[k] == after ? ended : -2;
        }
        if (rank == 0) {
            printf("%s: %d\n", kinds[i].name, ended);
        }
    }
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (flag) {
        printf("rank %d: a child has sent something\n", rank);
    }
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
