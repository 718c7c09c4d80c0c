/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting within a synchronization, at the bell, which every message rings. Between
 * looks it serves the others.
 */

#include "libbcs/cbsp/cbsp_job_state.h"
#include "libbcs/fabric/base/system.h"

enum { LOOKS_A_SERVICE = 16 };

/** Ring for those who wait until this process has ended some superstep, if it has. */
static int answer(struct cbsp *cbsp)
{
    /* Pairs with the signal of a want, which follows its word. */
    uint64_t n_wants = __atomic_load_n(&cbsp->wants->count, __ATOMIC_ACQUIRE);
    bool is_all = true;
    int rc = 0;

    if (n_wants == cbsp->wants_seen) {
        return 0;
    }
    for (uint32_t i = 0; rc == 0 && i < cbsp->n_procs; i++) {
        uint64_t wanted = __atomic_load_n(&cbsp->from[i].wanted, __ATOMIC_ACQUIRE);
        const struct bcs_xfer ring = {
            .dests = &cbsp->outs[i].node,
            .remote_event_gva = cbsp->layout.bell_gva,
        };

        if (wanted > cbsp->superstep) {
            is_all = false;
        } else if (wanted > cbsp->ins[i].wanted) {
            cbsp->ins[i].wanted = wanted;
            rc = cbsp_transfer(cbsp, &ring, 1);
        }
    }
    if (is_all) {
        cbsp->wants_seen = n_wants;
    }
    return rc;
}

int cbsp_serve(struct cbsp *cbsp)
{
    int verdict = bcs_verdict_look(&cbsp->verdict);
    int rc = bcs_core_progress(cbsp->core);

    if (verdict != 0) {
        cbsp->error = verdict;
        return cbsp->error;
    }
    if (rc < 0) {
        return cbsp_end_job(cbsp, rc);
    }
    if (cbsp->is_told) {
        return 0; /* it has said that it does nothing before somebody rings */
    }
    rc = answer(cbsp);
    if (rc == 0 && (cbsp->n_queued[0] | cbsp->n_queued[1]) != 0) {
        rc = cbsp_outbox_flush(cbsp);
    }
    return rc;
}

static int go_to_sleep(struct cbsp *cbsp, struct cbsp_waiter *waiter)
{
    int rc = bcs_bell_sleep(&cbsp->bell, &waiter->bell);

    cbsp->counts.n_sleeps++;
    if (rc < 0) {
        return cbsp_end_job(cbsp, rc);
    }
    if (rc == 0) {
        rc = cbsp_stuck_look(cbsp, waiter);
    }
    return rc < 0 ? rc : cbsp_serve(cbsp);
}

int cbsp_wait(struct cbsp *cbsp, struct cbsp_waiter *waiter)
{
    switch (bcs_bell_step(&cbsp->bell, &waiter->bell)) {
    case BCS_WAIT_SLEEP:
        return go_to_sleep(cbsp, waiter);
    case BCS_WAIT_ANNOUNCE:
        return cbsp_serve(cbsp);
    case BCS_WAIT_YIELD:
        bcs_yield();
        break;
    default:
        break;
    }
    if ((cbsp->n_queued[0] | cbsp->n_queued[1]) != 0 ||
        waiter->bell.spell.n_looks % LOOKS_A_SERVICE == 0) {
        return cbsp_serve(cbsp);
    }
    return 0;
}

int cbsp_wait_may_look(struct cbsp *cbsp, bool *may_look_out)
{
    *may_look_out = !cbsp->is_told || bcs_bell_n_rings(&cbsp->bell) != cbsp->n_heard;
    return cbsp->is_told && *may_look_out ? cbsp_stuck_unsay(cbsp) : 0;
}
