/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Xfer-And-Signal: checks the arguments, then hands the transfer to the transport. Runs
 * in whichever thread acts for the node; on the path of every strobe.
 */
#include <errno.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/core/core.h"

static int data_check(const struct bcs_core *core, const struct bcs_xfer *xfer)
{
    if (xfer->n_bytes == 0) {
        return 0;
    }
    if (xfer->src == NULL) {
        bcs_error("bcs_xfer_and_signal: %zu bytes from a null pointer", xfer->n_bytes);
        return -EINVAL;
    }
    return bcs_core_check_range(core, "bcs_xfer_and_signal", "destination",
                                xfer->dest_gva, xfer->n_bytes, 1);
}

static int events_check(const struct bcs_core *core, const struct bcs_xfer *xfer)
{
    int rc = bcs_core_check_event(core, "bcs_xfer_and_signal", "local event",
                                  xfer->local_event_gva);

    if (rc < 0) {
        return rc;
    }
    return bcs_core_check_event(core, "bcs_xfer_and_signal", "remote event",
                                xfer->remote_event_gva);
}

int bcs_xfer_and_signal(struct bcs_core *core, const struct bcs_xfer *xfer)
{
    if (bcs_core_check_dests(core, "bcs_xfer_and_signal", xfer->dests) < 0 ||
        data_check(core, xfer) < 0 || events_check(core, xfer) < 0) {
        return -EINVAL;
    }
    return core->transport->ops->xfer(core->transport, xfer);
}

int bcs_xfer_and_signal_blocking(struct bcs_core *core, const struct bcs_xfer *xfer)
{
    int rc;

    while ((rc = bcs_xfer_and_signal(core, xfer)) == BCS_E_BUSY) {
        rc = bcs_core_progress(core);
        if (rc < 0) {
            break;
        }
    }
    return rc;
}
