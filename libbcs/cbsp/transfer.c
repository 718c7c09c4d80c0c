/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all calls begin with, the transfers that all of them make, and the end of a job.
 *
 * Ending a job is one Compare-And-Write: if the verdict is 0 everywhere, make it the error.
 * So one process succeeds.
 */
#include <assert.h>
#include <errno.h>

#include "libbcs/base/forked.h"
#include "libbcs/base/log.h"
#include "libbcs/cbsp/cbsp.h"

struct cbsp *cbsp_self;

int cbsp_check(const char *caller)
{
    if (cbsp_self == NULL) {
        if (bcs_forked_is_child()) {
            bcs_forked_tell(caller);
        } else {
            bcs_error("%s: called before cBSP_initialize or after cBSP_finalize",
                      caller);
        }
        return -EPERM;
    }
    return cbsp_self->error;
}

bool cbsp_write_first(struct cbsp *cbsp, uint64_t gva, uint64_t value)
{
    const struct bcs_comparison comparison = {
        .variable_gva = gva,
        .op = BCS_COMPARE_EQ,
        .dests = &cbsp->all,
        .write_gva = gva,
        .write_value = value,
    };
    bool is_first = false;

    return bcs_compare_and_write(cbsp->core, &comparison, &is_first) == 0 && is_first;
}

/** Make an error the end of the job. @return whether this process has done it */
static bool decide(struct cbsp *cbsp, int error)
{
    const struct bcs_xfer ring = {
        .dests = &cbsp->all,
        .remote_event_gva = cbsp->layout.bell_gva,
    };
    bool is_first = cbsp_write_first(cbsp, cbsp->layout.verdict_gva, (uint64_t)-error);

    if (is_first) {
        bcs_xfer_and_signal_blocking(cbsp->core, &ring);
        bcs_core_flush(cbsp->core); /* this process may do nothing more */
    }
    return is_first;
}

int cbsp_end_job(struct cbsp *cbsp, int error)
{
    if (cbsp->error == 0) {
        bool is_first = decide(cbsp, error);
        uint64_t verdict = __atomic_load_n(cbsp->verdict, __ATOMIC_ACQUIRE);

        /* Where the primitives fail, there is no verdict, and each has its own error. */
        cbsp->error = is_first || verdict == 0 ? error : -(int)verdict;
    }
    return cbsp->error;
}

int cbsp_transfer(struct cbsp *cbsp, const struct bcs_xfer *xfer, uint32_t n_dests)
{
    int rc;

    assert(xfer->n_bytes <= BCS_XFER_COPIED_BYTES || xfer->local_event_gva != 0);
    cbsp->counts.n_transfers++;
    cbsp->counts.n_nsync_transfers += cbsp->doing == CBSP_COUNTING;
    if (xfer->remote_event_gva == cbsp->layout.bell_gva) {
        cbsp->n_rings += n_dests;
    }
    rc = bcs_xfer_and_signal_blocking(cbsp->core, xfer);
    return rc < 0 ? cbsp_end_job(cbsp, rc) : 0;
}

int cbsp_tell(struct cbsp *cbsp, uint32_t node, uint64_t gva, uint64_t word)
{
    const struct bcs_xfer xfer = {
        .src = &word,
        .n_bytes = sizeof(word),
        .dest_gva = gva,
        .dests = &cbsp->outs[node].node,
        .remote_event_gva = cbsp->layout.bell_gva,
    };

    return cbsp_transfer(cbsp, &xfer, 1);
}
