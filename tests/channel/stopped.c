/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote commands on the memory of a process that is stopped, which holds up nobody; a
 * case of channel_remote.
 */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "remote.h"

/** Whether a process is stopped, as the kernel says. */
static bool is_stopped(pid_t pid)
{
    char name[64], state = '?';
    FILE *file;

    snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
    file = fopen(name, "r");
    if (file == NULL || fscanf(file, "%*d (%*[^)]) %c", &state) != 1) {
        EXPECT(0);
    }
    if (file != NULL) {
        fclose(file);
    }
    return state == 'T';
}

/** All commands on the memory of the last rank, and messages round a ring of those that
 *  run, as long as it is stopped. @return records that its buffer took */
static uint64_t work_beside_stopped(uint64_t *sum_out)
{
    const struct bcs_remote *last = &of[n - 1];
    uint64_t record[4] = {(uint64_t)me}, bytes[4], n_taken = 0, before = 0;
    int next = (me + 1) % (n - 1), previous = (me + n - 2) % (n - 1);
    struct bcs_remote_event event = {0};
    double real = 0.5;

    for (uint64_t round = 1; round <= N_ROUNDS; round++) {
        struct bcs_remote_fetch fetch = {.word = FLAG,
                                         .offset = SUM,
                                         .n_bytes = sizeof(before),
                                         .data_out = &before,
                                         .event = &event};
        long mine = (long)round + me, theirs = -1;

        EXPECT(bcs_remote_add_word(last, SUM, round, NULL) == 0);
        *sum_out += round;
        accumulate(n - 1, REAL, BCS_SUM, BCS_DOUBLE, &real);
        EXPECT(bcs_remote_write(last, STRIPES + (uint64_t)me * STRIPE, record,
                                sizeof(record)) == 0);
        EXPECT(bcs_remote_read(last, STRIPES + (uint64_t)me * STRIPE, bytes,
                               sizeof(bytes)) == 0);
        EXPECT(memcmp(bytes, record, sizeof(record)) == 0);
        EXPECT(bcs_remote_fetch(last, &fetch) == 0);
        EXPECT(bcs_remote_wait_event(&event, round) == 0 && before >= round);
        n_taken += bcs_remote_append(last, BUFFER, record, sizeof(record)) == 0;
        record[1] = round;
        MPI_Sendrecv(&mine, 1, MPI_LONG, next, 0, &theirs, 1, MPI_LONG, previous, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT(theirs == (long)round + previous);
    }
    return n_taken;
}

void stopped(void)
{
    uint64_t mine[2] = {0}, all[2] = {0}, record[4];
    size_t n_bytes;
    int pid = (int)getpid();

    open_all();
    MPI_Bcast(&pid, 1, MPI_INT, n - 1, MPI_COMM_WORLD);
    if (me == n - 1) {
        raise(SIGSTOP); /* until rank 0 lets it go on */
    } else {
        while (!is_stopped(pid)) {
            usleep(1000);
        }
        mine[0] = work_beside_stopped(&mine[1]);
        EXPECT(is_stopped(pid));
        for (int i = 1; i < n - 1 && me == 0; i++) {
            MPI_Recv(NULL, 0, MPI_BYTE, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (me != 0) {
            MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
        EXPECT(me != 0 || kill(pid, SIGCONT) == 0);
    }
    MPI_Reduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, n - 1, MPI_COMM_WORLD);
    for (uint64_t i = 0; i < all[0]; i++) {
        EXPECT(bcs_remote_take(&own, BUFFER, record, sizeof(record), &n_bytes) == 0);
    }
    EXPECT(me != n - 1 || (all[0] > 0 && word_of(&own, SUM) == all[1]));
    EXPECT(me != n - 1 || bcs_remote_take(&own, BUFFER, record, sizeof(record),
                                          &n_bytes) == BCS_E_PENDING);
}
