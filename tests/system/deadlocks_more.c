/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cases of deadlocks.c that need more than a line or two of their own.
 */
#include "deadlocks.h"

#include <dirent.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum { TAG = 7, WHILE_MS = 300, LONG = 1 << 20, HUGE_BYTES = 64 << 20, N_HUGE = 3 };

static char bytes[LONG];

static int my_rank(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static void send(int to)
{
    int word = 0;

    MPI_Send(&word, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
}

static void receive(int from)
{
    int word;

    MPI_Recv(&word, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* -------------------------------------------------------------- more than are
 * listed */

void last_of_many_receives(void)
{
    enum { N = 150 };
    MPI_Request requests[N];
    int words[N], rank = my_rank(), size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1) {
        for (;;) {
            compute(WHILE_MS);
        }
    }
    if (rank == 0) {
        for (int i = 0; i < N; i++) {
            MPI_Irecv(&words[i], 1, MPI_INT, i < N - 1 ? size - 1 : 1, TAG,
                      MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    } else {
        receive(0);
    }
}

/** Wait for any of a hundred messages, as a master for its workers' results. */
static void receive_any_of_many(void)
{
    enum { N = 100 };
    MPI_Request requests[N];
    int words[N], index, size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++) {
        MPI_Irecv(&words[i], 1, MPI_INT, i < N - 1 ? 1 + i % (size - 2) : size - 1, TAG,
                  MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitany(N, requests, &index, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) {
        if (i != index) {
            MPI_Cancel(&requests[i]);
        }
    }
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
}

void any_of_many_receives(void)
{
    if (my_rank() == 0) {
        receive_any_of_many();
    } else {
        receive(0);
    }
}

void late_one_of_many(void)
{
    int rank = my_rank(), size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        receive_any_of_many();
        for (int i = 1; i < size - 1; i++) {
            send(i);
        }
    } else if (rank == size - 1) {
        compute(WHILE_MS);
        send(0);
    } else {
        receive(0);
    }
}

void broadcasts_of_other_roots(void)
{
    enum { N = 12 };
    MPI_Request requests[N];
    int words[N], size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++) {
        MPI_Ibcast(&words[i], 1, MPI_INT, (my_rank() + 1) % size, MPI_COMM_WORLD,
                   &requests[i]);
    }
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
}

/* ---------------------------------------------------- what requests are left
 * without */

void send_without_request(void)
{
    MPI_Request request;

    if (my_rank() == 0) {
        MPI_Isend(bytes, LONG, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
}

void send_from_buffer(void)
{
    static char buffer[LONG + MPI_BSEND_OVERHEAD];
    void *detached;
    int n_bytes;

    if (my_rank() == 0) {
        MPI_Buffer_attach(buffer, sizeof(buffer));
        MPI_Bsend(bytes, LONG, MPI_CHAR, 1, TAG + 1, MPI_COMM_WORLD);
        MPI_Buffer_detach(&detached, &n_bytes);
        send(1);
    } else if (my_rank() == 1) {
        receive(0);
    }
}

/** Post a receive on a communicator that is freed then. */
static void receive_on_freed(int from, int *word, MPI_Request *request_out)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(word, 1, MPI_INT, from, TAG, comm, request_out);
    MPI_Comm_free(&comm);
}

void receives_on_freed_communicator(void)
{
    int rank = my_rank(), word = 0, size;
    MPI_Request request;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    receive_on_freed((rank + 1) % size, &word, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ------------------------------------------------------- threads of the beginning */

static pthread_t starter, started;
static atomic_bool has_begun; /* MPI_Init_thread is over */
static atomic_bool may_send;

static int count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int n = 0;

    if (folder == NULL) {
        return 0;
    }
    while (readdir(folder) != NULL) {
        n++;
    }
    closedir(folder);
    return n - 2; /* itself and the one above */
}

/* ---------------------------------------------------------- some, and another group */

/** Begin to receive of two ranks, and wait for a message of one of them at least. */
static void receive_some(int from, int other, MPI_Request *requests)
{
    static int words[2];
    int n_done, done[2];

    MPI_Irecv(&words[0], 1, MPI_INT, from, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&words[1], 1, MPI_INT, other, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitsome(2, requests, &n_done, done, MPI_STATUSES_IGNORE);
}

void all_wait_for_some(void)
{
    MPI_Request requests[2];
    int rank = my_rank(), size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    receive_some((rank + 1) % size, (rank + size - 1) % size, requests);
}

void late_one_of_some(void)
{
    int rank = my_rank(), size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        MPI_Request requests[2];

        receive_some(1, size - 1, requests);
        send(1);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        receive(0);
        send(0);
    } else if (rank == size - 1) {
        compute(WHILE_MS);
        send(0);
    }
}

void last_one_comes_late(void)
{
    int rank = my_rank(), n_ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int i = 0; i < 2; i++) {
        if (rank == n_ranks - 1) {
            compute(WHILE_MS);
        }
        if (i == 0) { /* the others tell of this wait before */
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    receive((rank + 1) % n_ranks);
}

void late_end_of_long_messages(void)
{
    int rank = my_rank(), n_ranks;
    char *data = calloc(1, HUGE_BYTES);

    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int i = 0; data != NULL && i < N_HUGE; i++) {
        if (rank == 0) {
            MPI_Ssend(data, HUGE_BYTES, MPI_CHAR, n_ranks - 1, TAG, MPI_COMM_WORLD);
        } else if (rank == n_ranks - 1) {
            MPI_Recv(data, HUGE_BYTES, MPI_CHAR, 0, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
    }
    free(data);
}

void both_groups_receive(void)
{
    MPI_Comm group, groups;
    int rank = my_rank(), word;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, (rank + 1) % 2, TAG, &groups);
    MPI_Recv(&word, 1, MPI_INT, 0, TAG, groups, MPI_STATUS_IGNORE);
    MPI_Comm_free(&groups);
    MPI_Comm_free(&group);
}

/** Whether this is the last rank, which leaves out what the others call: then it has
 *  waited for rank 0. */
static bool leaves_out(void)
{
    int rank = my_rank(), n_ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (rank == n_ranks - 1) {
        receive(0);
    }
    return rank == n_ranks - 1;
}

void one_does_not_duplicate(void)
{
    MPI_Comm copy;

    if (!leaves_out()) {
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    }
}

void one_makes_no_window(void)
{
    static int word;
    MPI_Win window;

    if (!leaves_out()) {
        MPI_Win_create(&word, sizeof(word), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    }
}

void one_does_not_split_a_part(void)
{
    int rank = my_rank();
    MPI_Comm part, half;

    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &part);
    if (rank == 0) {
        MPI_Comm_split(part, 0, 0, &half);
    } else if (rank == 1) {
        receive(0);
    }
}

void late_to_what_is_made(void)
{
    int rank = my_rank(), n_ranks, word = 0;
    MPI_Comm half, grid;
    MPI_Win window;
    MPI_File file;

    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int i = 0; i < 4; i++) {
        if (rank == n_ranks - 1) {
            compute(WHILE_MS / 4);
        }
        if (i == 0) {
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        } else if (i == 1) {
            MPI_Cart_create(MPI_COMM_WORLD, 1, &n_ranks, (int[]){1}, 0, &grid);
        } else if (i == 2) {
            MPI_Win_create(&word, sizeof(word), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                           &window);
        } else {
            MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL,
                          &file);
        }
    }
    MPI_File_close(&file);
    MPI_Win_free(&window);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&half);
}

static void *send_late(void *unused)
{
    (void)unused;
    while (!atomic_load(&has_begun)) {
        sched_yield();
    }
    if (atomic_load(&may_send)) {
        compute(WHILE_MS);
        send(1);
    }
    return NULL;
}

/** Start a thread as soon as the MPI library has started one. */
static void *start_late(void *unused)
{
    (void)unused;
    while (count_threads() <= 2 && !atomic_load(&has_begun)) {
        sched_yield();
    }
    pthread_create(&started, NULL, send_late, NULL);
    return NULL;
}

void begin_late_thread(void)
{
    pthread_create(&starter, NULL, start_late, NULL);
}

void late_thread_of_the_start(void)
{
    int rank = my_rank();

    atomic_store(&may_send, rank == 0);
    atomic_store(&has_begun, true);
    pthread_join(starter, NULL);
    if (rank == 0) {
        receive(1);
    }
    pthread_join(started, NULL);
    if (rank == 1) {
        receive(0);
        send(0);
    }
}
