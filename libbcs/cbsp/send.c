/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cBSP_send: checks everything before the message goes anywhere, so that the receiver
 * need not check anything.
 */
#include <errno.h>
#include <limits.h>

#include "libbcs/cbsp/cbsp_calls.h"
#include "libbcs/fabric/base/log.h"

/** Whether the arguments can be those of a message at all. */
static int check_arguments(const struct cbsp *cbsp, int node,
                           const struct cbsp_message *message, cBSP_handler_fn handler)
{
    size_t n_bytes = message->n_bytes;

    if (node < 0 || (uint32_t)node >= cbsp->n_procs) {
        bcs_error("cBSP_send: no process %d in a job of %u", node, cbsp->n_procs);
        return -EINVAL;
    }
    if (message->data == NULL && n_bytes != 0) {
        bcs_error("cBSP_send: %zu bytes from a null pointer", n_bytes);
        return -EINVAL;
    }
    if (message->dest == 0 && handler == NULL && n_bytes != 0) {
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

int cbsp_send(struct cbsp *cbsp, int node, struct cbsp_message *message,
              cBSP_handler_fn handler)
{
    int rc = cbsp_check(cbsp, "cBSP_send");

    rc = rc < 0 ? rc : check_arguments(cbsp, node, message, handler);
    if (rc == 0 && message->dest != 0 && message->n_bytes != 0) {
        rc = cbsp_imports_check(cbsp, (uint32_t)node, message->dest, message->n_bytes);
    }
    if (rc < 0) {
        return rc;
    }
    if (message->n_bytes == 0) {
        message->data = "";
    }
    if (handler != NULL) {
        message->handler = cbsp_handler_name(&cbsp->handlers, handler);
        if (message->handler == 0) {
            bcs_error("cBSP_send: the handler is not a function of the program or of a "
                      "library");
            return -EINVAL;
        }
    }
    return cbsp_outbox_send(cbsp, (uint32_t)node, message);
}

int cbsp_call_send(int node, void *destAddr, const void *srcAddr, size_t n_bytes,
                   cBSP_handler_fn handler)
{
    struct cbsp_message message = {
        .dest = (uint64_t)(uintptr_t)destAddr,
        .data = srcAddr,
        .n_bytes = n_bytes,
    };

    return cbsp_send(cbsp_self, node, &message, handler);
}
