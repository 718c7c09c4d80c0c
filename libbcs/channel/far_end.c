/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends whose other end is on another machine, where this process maps nothing; see
 * far_end.h.
 *
 * Such a channel has a place at each end. The writer stores records and marks into its
 * own place, and the reader stores the count of freed blocks into its own. In both
 * places the word of sleepers of the other end says CHANNEL_IS_FAR for good. So after
 * each mark, and after each count, the inline functions call the library, as if
 * somebody slept. The library puts what is new into the place of the other end. Each
 * end looks at its own place only.
 *
 * Of a block, its new records are put with all that lies behind them. The last word of
 * a block is its mark, so the mark is written last. Records that the reader may be
 * reading are not written again.
 *
 * No sleeper is forgotten. Each put rings the bell of the other process, after its
 * data. Who goes to sleep reads how often the bell has rung, looks, and then sleeps on
 * that number. A writer that is far cannot see which thread of the reader's process
 * sleeps. So in a job of several machines the helper thread has the bell of its
 * process.
 */
#include "libbcs/channel/far_end.h"

void channel_far_publish(struct channel_out *out)
{
    const struct bcs_channel_out *inlined = &out->inlined;
    uint64_t from;

    if (out->block_told != inlined->n_begun) {
        out->block_told = inlined->n_begun;
        out->n_told = 0;
    }
    from = out->n_told * bcs_channel_stride(inlined->record_bytes);
    out->n_told = inlined->mark & BCS_CHANNEL_COUNT;
    /* An error has been logged, and meets whoever waits. */
    (void)channel_door_transfer(
        &out->end, &(struct bcs_xfer){
                       .src = inlined->block + from,
                       .n_bytes = inlined->block_bytes - from,
                       .dest_gva = out->there_gva +
                                   (uint64_t)(inlined->block - inlined->first) + from,
                   });
}

void channel_far_give_back(struct channel_in *in)
{
    uint64_t place_gva, n_blocks;

    if (!channel_door_read(&in->end, &place_gva, &n_blocks)) {
        return; /* the writer has closed its end */
    }
    /* As in channel_far_publish. */
    (void)channel_door_transfer(
        &in->end, &(struct bcs_xfer){
                      .src = &in->inlined.n_freed_here,
                      .n_bytes = sizeof(in->inlined.n_freed_here),
                      .dest_gva = place_gva + offsetof(struct channel_place, n_freed),
                  });
}
