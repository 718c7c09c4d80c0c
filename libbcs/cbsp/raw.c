/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libbcs.so does for BSPlib: cBSP without its checks, which BSPlib has of its own.
 */
#include "libbcs/cbsp/raw.h"

#include "libbcs/cbsp/notes.h"

int cbsp_raw_send(int node, uint64_t dest, const void *data, size_t n_bytes,
                  cBSP_handler_fn handler)
{
    struct cbsp_message message = {
        .dest = dest,
        .handler =
            handler == NULL ? 0 : cbsp_handler_name(&cbsp_self->handlers, handler),
        .data = data,
        .n_bytes = n_bytes,
    };

    return cbsp_outbox_send(cbsp_self, (uint32_t)node, &message);
}

int cbsp_raw_gsync(uint8_t bits, uint8_t *all_bits_out)
{
    cbsp_note_collective(cbsp_self, 0);
    return cbsp_gsync(cbsp_self, CBSP_IN_GSYNC, bits, all_bits_out);
}

void cbsp_raw_watch_forks(struct bcs_forked *entry)
{
    bcs_forked_watch(entry);
}

void cbsp_raw_refuse_forked(const char *caller)
{
    bcs_forked_refuse(caller);
}
