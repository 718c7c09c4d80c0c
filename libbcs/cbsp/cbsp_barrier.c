/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barrier of cBSP_gsync, on a tree of processes: when all below a process have
 * begun to end the superstep, it says so upwards; the first process then says downwards
 * that all have. O(log n) steps and O(n) messages. [cBSP 6.1]
 *
 * A process says it when its messages of the superstep are in the buffers of their
 * receivers, or an overflow in their place. As all transfers have one order, who learns
 * that all have said so finds in its buffers every message of the superstep, or an
 * overflow that it then follows to the end.
 *
 * A word is the superstep's number + 1, and 8 bits, which are gathered on the way up.
 */
#include <errno.h>
#include <inttypes.h>

#include "libbcs/cbsp/cbsp_job_state.h"
#include "libbcs/fabric/base/log.h"

enum { BARRIER_RISING, BARRIER_SAID };

enum { BITS = 8 };

/** What this process says of the superstep. */
static uint64_t word_of(const struct cbsp *cbsp)
{
    return (cbsp->superstep + 1) << BITS | cbsp->bits;
}

/** Whether a word says that its writer ends this superstep; if so, take its bits.
 *  @return 1, 0, -EPROTO */
static int has_come(struct cbsp *cbsp, const uint64_t *word, uint32_t writer)
{
    /* Pairs with the put of the child, or of the parent. */
    uint64_t bits = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    uint64_t said = bits >> BITS;

    if (said > cbsp->superstep + 1) {
        bcs_error("process %" PRIu32 " calls cBSP_gsync in superstep %" PRIu64
                  ", process %" PRIu32 " in superstep %" PRIu64,
                  writer, said - 1, cbsp->pid, cbsp->superstep);
        return cbsp_end_job(cbsp, -EPROTO);
    }
    if (said != cbsp->superstep + 1) {
        return 0;
    }
    cbsp->bits |= bits & ((1 << BITS) - 1);
    return 1;
}

static int all_below_have(struct cbsp *cbsp)
{
    int rc = 1;

    for (uint32_t i = 0; rc == 1 && i < cbsp->n_children; i++) {
        rc = has_come(cbsp, &cbsp->up[i], cbsp->pid * cbsp->layout.n_children + 1 + i);
    }
    return rc;
}

static int say_up(struct cbsp *cbsp)
{
    return cbsp_tell(cbsp, cbsp->parent,
                     cbsp->layout.up_gva + cbsp->sibling * sizeof(uint64_t),
                     word_of(cbsp));
}

static int say_down(struct cbsp *cbsp)
{
    uint64_t word = word_of(cbsp);
    const struct bcs_xfer xfer = {
        .src = &word,
        .n_bytes = sizeof(word),
        .dest_gva = cbsp->layout.down_gva,
        .dests = &cbsp->children,
        .remote_event_gva = cbsp->layout.bell_gva,
    };

    return cbsp->n_children == 0 ? 0 : cbsp_transfer(cbsp, &xfer, cbsp->n_children);
}

int cbsp_barrier_step(struct cbsp *cbsp, int *phase)
{
    int rc;

    if (*phase == BARRIER_RISING) {
        rc = all_below_have(cbsp);
        if (rc <= 0 || !cbsp_outbox_is_visible(cbsp)) {
            return rc < 0 ? rc : 0;
        }
        /* The first process tells itself by no transfer, but sends itself messages. */
        rc = cbsp->pid == 0 ? bcs_core_flush(cbsp->core) : say_up(cbsp);
        if (rc < 0) {
            return cbsp_end_job(cbsp, rc);
        }
        *phase = BARRIER_SAID;
    }
    if (*phase == BARRIER_SAID) {
        rc = cbsp->pid == 0 ? 1 : has_come(cbsp, cbsp->down, cbsp->parent);
        if (rc <= 0) {
            return rc;
        }
        *phase = CBSP_BARRIER_PASSED;
        return say_down(cbsp);
    }
    return 0;
}
