/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cBSP_send: checks everything before the message goes anywhere, so that the receiver need
 * not check anything. Also what all calls check, and the transfers.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>

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

int cbsp_transfer(struct cbsp *cbsp, const struct bcs_xfer *xfer, uint32_t n_dests)
{
    int rc;

    assert(xfer->n_bytes <= BCS_XFER_COPIED_BYTES || xfer->local_event_gva != 0);
    cbsp->counts.n_transfers++;
    cbsp->counts.n_nsync_transfers += cbsp->doing == CBSP_COUNTING;
    if (xfer->remote_event_gva == cbsp->layout.bell_gva) {
        cbsp->n_rings += n_dests;
    }
    while ((rc = bcs_xfer_and_signal(cbsp->core, xfer)) == BCS_XFER_E_BUSY) {
        rc = bcs_core_progress(cbsp->core);
        if (rc < 0) {
            break;
        }
    }
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

/** Whether the arguments can be those of a message at all. */
static int check_arguments(int node, const void *destAddr, const void *srcAddr,
                           size_t n_bytes, cBSP_handler_fn handler)
{
    if (node < 0 || (uint32_t)node >= cbsp_self->n_procs) {
        bcs_error("cBSP_send: no process %d in a job of %u", node, cbsp_self->n_procs);
        return -EINVAL;
    }
    if (srcAddr == NULL && n_bytes != 0) {
        bcs_error("cBSP_send: %zu bytes from a null pointer", n_bytes);
        return -EINVAL;
    }
    if (destAddr == NULL && handler == NULL && n_bytes != 0) {
        bcs_error("cBSP_send: %zu bytes to process %d with neither a destination nor a "
                  "handler",
                  n_bytes, node);
        return -EINVAL;
    }
    if (handler != NULL && n_bytes > INT_MAX) {
        bcs_error("cBSP_send: %zu bytes for a handler, which takes up to %d; send them "
                  "without one, or in parts",
                  n_bytes, INT_MAX);
        return -EMSGSIZE;
    }
    return 0;
}

int cBSP_send(int node, void *destAddr, const void *srcAddr, size_t n_bytes,
              cBSP_handler_fn handler)
{
    struct cbsp_message message = {
        .dest = (uint64_t)(uintptr_t)destAddr,
        .data = n_bytes == 0 ? "" : srcAddr,
        .n_bytes = n_bytes,
    };
    int rc = cbsp_check("cBSP_send");

    rc = rc < 0 ? rc : check_arguments(node, destAddr, srcAddr, n_bytes, handler);
    if (rc == 0 && destAddr != NULL && n_bytes != 0) {
        rc = cbsp_imports_check(cbsp_self, (uint32_t)node, message.dest, n_bytes);
    }
    if (rc < 0) {
        return rc;
    }
    if (handler != NULL) {
        message.handler = cbsp_handler_name(&cbsp_self->handlers, handler);
        if (message.handler == 0) {
            bcs_error("cBSP_send: the handler is not a function of the program or of a "
                      "library");
            return -EINVAL;
        }
    }
    return cbsp_outbox_send(cbsp_self, (uint32_t)node, &message);
}
