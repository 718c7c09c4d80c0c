/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all calls begin with, the transfers that all of them make, and the end of a job.
 */
#include <assert.h>
#include <errno.h>

#include "libbcs/cbsp/cbsp_job_state.h"
#include "libbcs/fabric/base/forked.h"
#include "libbcs/fabric/base/log.h"

struct cbsp *cbsp_self;

int cbsp_check(const struct cbsp *cbsp, const char *caller)
{
    if (cbsp == NULL) {
        if (bcs_forked_is_child()) {
            bcs_forked_tell(caller);
        } else {
            bcs_error("%s: called before cBSP_initialize or after cBSP_finalize",
                      caller);
        }
        return -EPERM;
    }
    return cbsp->error;
}

int cbsp_end_job(struct cbsp *cbsp, int error)
{
    if (cbsp->error == 0) {
        cbsp->error = bcs_verdict_end(&cbsp->verdict, error);
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
