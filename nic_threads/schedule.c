/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of transfers that wait for their next chunk. Pure; called under the node's
 * engine lock.
 */
#include "nic_threads/schedule.h"

void nic_schedule_init(struct nic_schedule *schedule, uint64_t chunk_bytes,
                       uint64_t slice_bytes)
{
    schedule->waiting.first = NIC_ITEM_NONE;
    schedule->waiting.last = NIC_ITEM_NONE;
    schedule->chunk_bytes = chunk_bytes;
    schedule->slice_bytes = slice_bytes > chunk_bytes ? slice_bytes : chunk_bytes;
    schedule->left_bytes = 0;
}

/** Relaxed: others look without the lock whether anything waits. */
static void set_first(struct nic_schedule *schedule, uint32_t id)
{
    __atomic_store_n(&schedule->waiting.first, id, __ATOMIC_RELAXED);
}

void nic_schedule_add(struct nic_schedule *schedule, struct nic_item *items,
                      uint32_t id)
{
    if (items[id].is_queued) {
        return;
    }
    items[id].is_queued = 1;
    items[id].next = NIC_ITEM_NONE;
    if (schedule->waiting.last == NIC_ITEM_NONE) {
        set_first(schedule, id);
    } else {
        items[schedule->waiting.last].next = id;
    }
    schedule->waiting.last = id;
}

void nic_schedule_open(struct nic_schedule *schedule)
{
    schedule->left_bytes = schedule->slice_bytes;
}

int nic_schedule_next(struct nic_schedule *schedule, struct nic_item *items,
                      struct nic_plan *plan_out)
{
    uint32_t id = schedule->waiting.first;
    struct nic_item *item = &items[id];
    uint64_t n_bytes;

    if (id == NIC_ITEM_NONE) {
        return 0;
    }
    n_bytes = item->total - item->granted;
    n_bytes = n_bytes < schedule->chunk_bytes ? n_bytes : schedule->chunk_bytes;
    n_bytes = n_bytes < item->chunk_limit ? n_bytes : item->chunk_limit;
    if (n_bytes > schedule->left_bytes) {
        return 0;
    }
    schedule->left_bytes -= n_bytes;
    item->is_queued = 0;
    set_first(schedule, item->next);
    if (schedule->waiting.first == NIC_ITEM_NONE) {
        schedule->waiting.last = NIC_ITEM_NONE;
    }
    *plan_out = (struct nic_plan){id, item->granted, n_bytes};
    item->granted += n_bytes;
    return 1;
}
