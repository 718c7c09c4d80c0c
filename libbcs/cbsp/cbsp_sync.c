/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ending a superstep, by counting or globally: loops over the inbox, and over the
 * outbox if something was kept, until all is there and all has gone. In the simplest
 * case counting looks at one word for each process, takes the messages that it finds,
 * and is done. [cBSP 4.2, 4.3]
 */
#include <errno.h>
#include <inttypes.h>

#include "libbcs/cbsp/cbsp_calls.h"
#include "libbcs/cbsp/notes.h"
#include "libbcs/fabric/base/log.h"

static int begin(struct cbsp *cbsp, enum cbsp_doing doing)
{
    int rc;

    cbsp->doing = doing;
    cbsp->sending = cbsp->superstep + 1;
    rc = cbsp_inbox_begin(cbsp);
    if (rc == 0 && (cbsp->n_queued[0] | cbsp->n_queued[1]) != 0) {
        rc = cbsp_outbox_flush(cbsp);
    }
    return rc;
}

/** The superstep is over. */
static int end(struct cbsp *cbsp)
{
    int rc = bcs_core_flush(cbsp->core); /* it may compute for long now */

    if (rc < 0) {
        return cbsp_end_job(cbsp, rc);
    }
    cbsp->n_sent[cbsp->superstep % 2] = 0;
    cbsp->superstep++;
    cbsp->counts.n_supersteps++;
    /* Pairs with the acquire of a sender's Compare-And-Write: we have read the
     * buffers. */
    __atomic_store_n(cbsp->progress, cbsp->superstep, __ATOMIC_RELEASE);
    /* Relaxed: a want that is seen later is answered later; see cbsp_serve. */
    if (__atomic_load_n(&cbsp->wants->count, __ATOMIC_RELAXED) != cbsp->wants_seen) {
        rc = cbsp_serve(cbsp);
        cbsp->doing = CBSP_COMPUTING;
        return rc;
    }
    cbsp->doing = CBSP_COMPUTING;
    return 0;
}

static bool has_gone(const struct cbsp *cbsp)
{
    return cbsp->n_queued[cbsp->superstep % 2] == 0;
}

static int fail_more(struct cbsp *cbsp, int count)
{
    bcs_error("superstep %" PRIu64
              ": more messages than cBSP_nsync has counted: %" PRId64 " instead of %d",
              cbsp->superstep, cbsp->n_taken, count);
    return cbsp_end_job(cbsp, -EPROTO);
}

int cbsp_nsync(struct cbsp *cbsp, int count)
{
    struct cbsp_waiter waiter = {.wait = CBSP_IN_NSYNC, .wanted = count};
    int rc = begin(cbsp, CBSP_COUNTING);
    bool may_look;

    while (rc == 0) {
        rc = cbsp_wait_may_look(cbsp, &may_look);
        if (rc == 0 && may_look) {
            rc = cbsp_inbox_take(cbsp);
        }
        if (rc < 0 || (cbsp->n_taken >= count && has_gone(cbsp))) {
            break;
        }
        rc = cbsp_wait(cbsp, &waiter);
    }
    if (rc == 0 && cbsp->n_taken > count) {
        rc = fail_more(cbsp, count);
    }
    if (rc == 0) {
        cbsp->counts.n_nsyncs++;
    }
    return rc < 0 ? rc : end(cbsp);
}

int cbsp_gsync(struct cbsp *cbsp, enum cbsp_wait wait, uint8_t bits,
               uint8_t *all_bits_out)
{
    struct cbsp_waiter waiter = {.wait = wait};
    int phase = 0;
    int rc = begin(cbsp, CBSP_MEETING);
    bool may_look;

    cbsp->bits = bits;
    while (rc == 0) {
        rc = cbsp_wait_may_look(cbsp, &may_look);
        if (rc == 0 && may_look) {
            rc = cbsp_barrier_step(cbsp, &phase);
            rc = rc < 0 ? rc : cbsp_inbox_take(cbsp);
        }
        if (rc < 0 ||
            (phase == CBSP_BARRIER_PASSED && cbsp->n_open == 0 && has_gone(cbsp))) {
            break;
        }
        rc = cbsp_wait(cbsp, &waiter);
    }
    if (rc < 0) {
        return rc;
    }
    *all_bits_out = (uint8_t)cbsp->bits;
    cbsp->n_floor = cbsp->superstep;
    cbsp->n_gsyncs++;
    cbsp_imports_update(cbsp);
    return end(cbsp);
}

/** What both check first. */
static int check(const struct cbsp *cbsp, const char *caller)
{
    int rc = cbsp_check(cbsp, caller);

    if (rc == 0 && cbsp->doing != CBSP_COMPUTING) {
        bcs_error("%s: called in a handler", caller);
        rc = -EPERM;
    }
    return rc;
}

int cbsp_call_nsync(int count)
{
    int rc = check(cbsp_self, "cBSP_nsync");

    if (rc == 0 && count < 0) {
        bcs_error("cBSP_nsync: %d messages; allowed are 0 and more", count);
        rc = -EINVAL;
    }
    return rc < 0 ? rc : cbsp_nsync(cbsp_self, count);
}

int cbsp_call_gsync(void)
{
    uint8_t no_bits;
    int rc = check(cbsp_self, "cBSP_gsync");

    if (rc < 0) {
        return rc;
    }
    cbsp_note_collective(cbsp_self, 0);
    return cbsp_gsync(cbsp_self, CBSP_IN_GSYNC, 0, &no_bits);
}
