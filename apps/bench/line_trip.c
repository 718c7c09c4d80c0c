/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ping-pong of a cache line between ranks 0 and 1. The memory is a file of rank 0
 * that rank 1 opens by /proc, so that it has no name which could be left behind.
 *
 * Protocol: turn only grows; rank 0 makes it odd, rank 1 even again. Each waits until
 * the other has done its part, so one word is all that is shared.
 */
#include "apps/bench/line_trip.h"

#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apps/bench/clock.h"
#include "apps/bench/median.h"

/* Of a few stretches the median counts: the first touch of the line, a late rank or an
 * interrupt lengthen one of them. */
enum { N_STRETCHES = 5, N_TRIPS = 1000, N_POLLS_PATIENT = 100000, LINE_BYTES = 4096 };

struct line_trip_place {
    _Atomic long turn;
};

/* Where rank 1 finds the file of rank 0. */
struct invitation {
    long pid;
    int fd;
    char host[MPI_MAX_PROCESSOR_NAME]; /* the number means nothing on another one */
};

static int file_make(void)
{
    int fd = memfd_create("line_trip", MFD_CLOEXEC);

    if (fd >= 0 && ftruncate(fd, LINE_BYTES) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int file_open(const struct invitation *invitation)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    char path[64];
    int length;

    MPI_Get_processor_name(host, &length);
    if (strcmp(host, invitation->host) != 0) {
        return -1;
    }
    snprintf(path, sizeof(path), "/proc/%ld/fd/%d", invitation->pid, invitation->fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

static struct line_trip_place *file_map(int fd)
{
    void *place;

    if (fd < 0) {
        return NULL;
    }
    place = mmap(NULL, LINE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return place == MAP_FAILED ? NULL : place;
}

void line_trip_init(struct line_trip *trip, int rank, int n_ranks)
{
    struct invitation invitation = {.pid = getpid(), .fd = -1};
    int fd, length, is_mapped, are_mapped;

    *trip = (struct line_trip){.rank = rank};
    if (n_ranks != 2 || sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        return;
    }
    fd = rank == 0 ? file_make() : -1;
    invitation.fd = fd;
    MPI_Get_processor_name(invitation.host, &length);
    MPI_Bcast(&invitation, sizeof(invitation), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 1 && invitation.fd >= 0) {
        fd = file_open(&invitation);
    }
    trip->place = file_map(fd);
    is_mapped = trip->place != NULL;
    MPI_Allreduce(&is_mapped, &are_mapped, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (fd >= 0) {
        close(fd);
    }
    if (!are_mapped) {
        line_trip_fini(trip);
    }
}

int line_trip_share(struct line_trip ends[2])
{
    int fd = file_make();
    struct line_trip_place *place = file_map(fd);

    if (fd >= 0) {
        close(fd);
    }
    for (int i = 0; i < 2; i++) {
        ends[i] = (struct line_trip){.place = place, .rank = i};
    }
    return place == NULL ? -1 : 0;
}

int line_trip_is_possible(const struct line_trip *trip)
{
    return trip->place != NULL;
}

/* Wait until turn has this value. acquire: pairs with the other rank's release. */
static void turn_await(struct line_trip_place *place, long turn)
{
    long n_polls = 0;

    while (atomic_load_explicit(&place->turn, memory_order_acquire) != turn) {
        if (++n_polls > N_POLLS_PATIENT) {
            sched_yield();
        }
    }
}

/* A stretch of trips. @return seconds of one, on rank 0 */
static double stretch_run(struct line_trip *trip)
{
    struct line_trip_place *place = trip->place;
    double start = bench_now_seconds();

    for (long i = 0; i < N_TRIPS; i++, trip->n_trips++) {
        long odd = 2 * trip->n_trips + 1;

        /* release: pairs with the acquire of turn_await */
        if (trip->rank == 0) {
            atomic_store_explicit(&place->turn, odd, memory_order_release);
            turn_await(place, odd + 1);
        } else {
            turn_await(place, odd);
            atomic_store_explicit(&place->turn, odd + 1, memory_order_release);
        }
    }
    return (bench_now_seconds() - start) / N_TRIPS;
}

double line_trip_seconds(struct line_trip *trip)
{
    double seconds[N_STRETCHES];

    for (int i = 0; i < N_STRETCHES; i++) {
        seconds[i] = stretch_run(trip);
    }
    return median_of(seconds, N_STRETCHES);
}

void line_trip_fini(struct line_trip *trip)
{
    if (trip->place != NULL) {
        munmap(trip->place, LINE_BYTES);
        trip->place = NULL;
    }
}
