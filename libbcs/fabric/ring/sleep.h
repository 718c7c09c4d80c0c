/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping of the processes of one machine until something is completed for them.
 * Called by the drivers and by whoever completes something, in any process and thread.
 *
 * Invariant: a port's `park` is odd while its owner sleeps or is about to; n_asleep is
 * at least the number of such ports, and their number when no announcement is under
 * way. Whoever makes park even, the sleeper itself or another process, also counts it
 * out, so that a process counts as awake from the moment that it may run. Otherwise it
 * is a parking word as others (libbcs/fabric/base/park.h).
 */
#ifndef LIBBCS_FABRIC_RING_SLEEP_H
#define LIBBCS_FABRIC_RING_SLEEP_H

#include <stdbool.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/park.h"
#include "libbcs/fabric/base/stamp.h"
#include "libbcs/fabric/ring/port.h"
#include "libbcs/fabric/ring/sign.h"

/** When the background thread looks next; see nic_threads/service/background.c. */
enum bcs_watch { BCS_WATCH_NONE, BCS_WATCH_LATE, BCS_WATCH_SOON };

/** Cores that can be lent: bits of lent_cpus. */
enum { BCS_LENT_CPUS = 64 };

/** Whether the referee is to be woken by who begins to wait; see
 *  nic_threads/referee/referee.c. */
enum bcs_referee_rests { BCS_REFEREE_LOOKS, BCS_REFEREE_RESTS, BCS_REFEREE_WOKEN };

/** Whether slices of all nodes go on; asked by who wants none any more, and answered by
 *  their sender when the last one is over. */
enum bcs_slices_end { BCS_SLICES_GO_ON, BCS_SLICES_END_ASKED, BCS_SLICES_HAVE_ENDED };

/** What the processes of one job on one machine share: how many sleep, and on how
 *  many cores. All zero at first but for what the first of them sets before they use
 *  it. What several jobs share is in libbcs/fabric/base/machine_jobs.h. */
struct bcs_machine {
    struct bcs_sign sign; /* for those who look from outside; first, see board.h */
    _Alignas(BCS_CACHE_LINE) _Atomic uint32_t n_asleep;
    uint32_t n_cpus;
    uint32_t
        first_port;     /* of the process that does what one of the machine has to do */
    uint32_t n_ports;   /* on this machine, one after the other */
    uint32_t n_sharing; /* so many of them always share a cache; see meeting.h */
    struct bcs_clock_moment
        began;              /* the job; and how many ticks BCS_SLICE takes: for what */
    uint64_t slice_ticks;   /* is recorded by time */
    _Atomic uint32_t watch; /* enum bcs_watch */
    /* Parking words of the background thread and of the sender of timed strobes. */
    _Atomic uint32_t background_park, strobe_park;
    _Atomic uint32_t timer_rests; /* no strobe is needed; see strobe_timer.c */
    _Atomic uint32_t slices_end;  /* enum bcs_slices_end; on node 0's machine */
    /* The job ends, so that nobody need wait for far nodes any more; relaxed, as it is
     * looked at now and then. */
    _Atomic uint32_t is_ending;
    /* Parking word of the referee, and enum bcs_referee_rests. Hardly ever written. */
    _Alignas(BCS_CACHE_LINE) _Atomic uint32_t referee_park;
    _Atomic uint32_t referee_rests;
    /* Cores, a bit each, on which a process does nothing but wait for a timed strobe; a
     * hint for its sender, so relaxed. */
    _Alignas(BCS_CACHE_LINE) _Atomic uint64_t lent_cpus;
    /* when a process last called the others; see libbcs/api/message/external.h */
    _Alignas(BCS_CACHE_LINE) _Atomic uint64_t called_ns;
    /* for how long the background thread has meant to sleep between its looks, in all;
     * for tests, so relaxed */
    _Atomic uint64_t watched_ns;
    struct bcs_slice_begins begins; /* of timed slices, where the job has stamps */
    /* The last error of several ranks that the user was told of;
     * libbcs/api/message/misuse.c. */
    _Atomic uint64_t told;
    /* A rank tells of the error that ends the job. */
    _Atomic uint32_t has_fatal;
};

/**
 * Mark the owner of a port as asleep (seq_cst). Afterwards it must look once more for
 * what it waits for, and then sleep or retract.
 *
 * @return the value of park to sleep on
 */
uint32_t bcs_sleep_announce(struct bcs_machine *machine, struct bcs_port *port);

/** Take an announcement back; only for an owner with a single thread. */
void bcs_sleep_retract(struct bcs_machine *machine, struct bcs_port *port);

/**
 * Sleep until bcs_sleep_wake is called; at once if it has been since the announcement.
 * May return early, too.
 *
 * @param until_ns  on the clock of bcs_clock_now_ns; 0: no limit
 * @return whether it has been called; if not, the announcement stands
 */
bool bcs_sleep_now(struct bcs_port *port, uint32_t park, uint64_t until_ns);

/** Wake all threads of the owner of a port that sleep. A seq_cst store or fence must
 *  stand between what they are to find and this call. */
void bcs_sleep_wake(struct bcs_machine *machine, struct bcs_port *port);

#endif
