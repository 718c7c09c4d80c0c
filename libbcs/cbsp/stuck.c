/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding out that nobody can go on.
 *
 * A process that has slept for the time limit of a sleep, without hearing its bell,
 * tells all what it waits for: a record with the number of times that it has rung
 * others, and that it has heard its own bell before it last looked and found nothing to
 * do. From then on it does nothing at all until it hears its bell again; then it first
 * takes the record back (its state becomes even), and only then looks.
 *
 * The proof. Whoever has written its record reads those of all, and then again. Say
 * that all are valid, and the same both times. Between the two readings there is a
 * moment at which every process waited and did nothing, as its record had been written
 * before and was not taken back: the records are the truth of that moment. Now let all
 * that was ever rung be all that was ever heard. Everything that can let a process go
 * on (a message, a word of the barrier, that it may go on with a lap, that its message
 * was read, that a receiver has ended a superstep) comes with a ring, and every process
 * has looked after the last ring that it has got. So none can go on at that moment, and
 * as none does anything, none ever will. Nothing here depends on time: it only decides
 * when one begins to ask.
 *
 * A process that computes, or waits in another library, has no valid record.
 *
 * Who is to report it is found by a Compare-And-Write (bcs_verdict_write_first), and
 * before the job is ended: once there is a verdict, any process may end, and its
 * launcher kill the others.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "libbcs/cbsp/cbsp_job_state.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/report/finding.h"

#define MOST_LINES 16
#define HEADLINE "every process waits, and none can go on"

/** Tell all; no bell is rung, or nobody could ever be found to be stuck. */
static int put_to_all(struct cbsp *cbsp, uint64_t gva, const void *src, size_t n_bytes)
{
    const struct bcs_xfer xfer = {
        .src = src,
        .n_bytes = n_bytes,
        .dest_gva = gva,
        .dests = &cbsp->all,
    };

    cbsp->counts.n_record_transfers++;
    return cbsp_transfer(cbsp, &xfer, cbsp->n_procs);
}

static uint64_t record_gva(const struct cbsp *cbsp)
{
    return cbsp_from_gva(&cbsp->layout, cbsp->pid) + offsetof(struct cbsp_from, record);
}

static int say(struct cbsp *cbsp, const struct cbsp_waiter *waiter)
{
    const struct cbsp_record record = {
        .superstep = cbsp->superstep,
        .n_rings = cbsp->n_rings,
        .n_heard = waiter->bell.n_heard,
        .wait = waiter->wait,
        .wanted = waiter->wanted,
        .n_taken = cbsp->n_taken,
        .n_queued = (int64_t)cbsp->n_queued[cbsp->superstep % 2],
        .state = ++cbsp->state,
    };

    cbsp->is_told = true;
    cbsp->n_heard = waiter->bell.n_heard;
    return put_to_all(cbsp, record_gva(cbsp), &record, sizeof(record));
}

int cbsp_stuck_unsay(struct cbsp *cbsp)
{
    cbsp->state++;
    cbsp->is_told = false;
    return put_to_all(cbsp, record_gva(cbsp) + offsetof(struct cbsp_record, state),
                      &cbsp->state, sizeof(cbsp->state));
}

static uint64_t state_of(const struct cbsp_from *from)
{
    /* Pairs with the put of a record, whose last word it is. A record is changed only
     * while its state is even, so that an odd one read twice has the record between. */
    return __atomic_load_n(&from->record.state, __ATOMIC_ACQUIRE);
}

bool cbsp_stuck_is_proved(const struct cbsp_from *from, uint32_t n_procs)
{
    uint64_t n_rings = 0, n_heard = 0, n_states = 0;

    for (uint32_t i = 0; i < n_procs; i++) {
        uint64_t state = state_of(&from[i]);

        if (state % 2 == 0) {
            return false;
        }
        n_states += state;
        n_rings += __atomic_load_n(&from[i].record.n_rings, __ATOMIC_RELAXED);
        n_heard += __atomic_load_n(&from[i].record.n_heard, __ATOMIC_RELAXED);
    }
    /* The records are read before the states are, again. States only grow. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n_procs; i++) {
        n_states -= state_of(&from[i]);
    }
    return n_states == 0 && n_rings == n_heard;
}

/** One line of the report: for what a process waits. */
static void report(const struct cbsp_record *record, uint32_t node)
{
    char rest[96] = "";

    if (record->n_queued > 0) {
        snprintf(rest, sizeof(rest),
                 ", and until %" PRId64 " that it has sent are taken",
                 record->n_queued);
    }
    if (record->wait == CBSP_IN_NSYNC) {
        bcs_error("  process %" PRIu32 ", superstep %" PRIu64
                  ": cBSP_nsync waits for %" PRId32 " messages and has %" PRId64 "%s",
                  node, record->superstep, record->wanted, record->n_taken, rest);
    } else {
        bcs_error("  process %" PRIu32 ", superstep %" PRIu64
                  ": %s waits for the others%s",
                  node, record->superstep,
                  record->wait == CBSP_IN_GSYNC ? "cBSP_gsync" : "cBSP_finalize", rest);
    }
}

int cbsp_stuck_look(struct cbsp *cbsp, const struct cbsp_waiter *waiter)
{
    int rc = cbsp->is_told ? 0 : say(cbsp, waiter);

    if (rc < 0 || !cbsp_stuck_is_proved(cbsp->from, cbsp->n_procs)) {
        return rc;
    }
    if (!bcs_verdict_write_first(&cbsp->verdict, cbsp->layout.reporter_gva, 1)) {
        return 0; /* another process reports it */
    }
    bcs_error("%s:", HEADLINE);
    bcs_finding_tell(
        &(struct bcs_finding){.kind = BCS_FINDING_DEADLOCK, .message = HEADLINE});
    for (uint32_t i = 0; i < cbsp->n_procs && i < MOST_LINES; i++) {
        report(&cbsp->from[i].record, i);
    }
    if (cbsp->n_procs > MOST_LINES) {
        bcs_error("  and %" PRIu32 " more", cbsp->n_procs - MOST_LINES);
    }
    return cbsp_end_job(cbsp, -EDEADLK);
}
