/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of transfers that wait for their next chunk. Pure; called under the node's
 * engine lock.
 */
#include "nic_threads/rules/schedule.h"

void nic_schedule_init(struct nic_schedule *schedule, uint64_t chunk_bytes,
                       uint64_t slice_bytes)
{
    *schedule = (struct nic_schedule){
        .waiting = {NIC_ITEM_NONE, NIC_ITEM_NONE},
        .later = {NIC_ITEM_NONE, NIC_ITEM_NONE},
        .chunk_bytes = chunk_bytes,
        .slice_bytes = slice_bytes > chunk_bytes ? slice_bytes : chunk_bytes,
    };
}

/** Relaxed: others look without the lock whether anything waits. */
static void set_first(struct nic_list *list, uint32_t id)
{
    __atomic_store_n(&list->first, id, __ATOMIC_RELAXED);
}

/** Append a chain of items. */
static void append(struct nic_list *list, const struct nic_items *items, uint32_t first,
                   uint32_t last)
{
    if (list->last == NIC_ITEM_NONE) {
        set_first(list, first);
    } else {
        nic_item_at(items, list->last)->next = first;
    }
    list->last = last;
}

static void clear(struct nic_list *list)
{
    set_first(list, NIC_ITEM_NONE);
    list->last = NIC_ITEM_NONE;
}

/** Whether a transfer has had all that it may have of this slice. */
static bool is_served(const struct nic_schedule *schedule, const struct nic_item *item)
{
    return item->granted > 0 && item->chunk_slice == schedule->n_opened &&
           item->chunk_left == 0;
}

void nic_schedule_add(struct nic_schedule *schedule, const struct nic_items *items,
                      uint32_t id)
{
    struct nic_item *item = nic_item_at(items, id);

    if (item->is_queued) {
        return;
    }
    item->is_queued = 1;
    item->next = NIC_ITEM_NONE;
    append(is_served(schedule, item) ? &schedule->later : &schedule->waiting, items, id,
           id);
}

/** Apart, as it is needed seldom. */
static __attribute__((noinline)) void resume(struct nic_schedule *schedule,
                                             const struct nic_items *items)
{
    append(&schedule->waiting, items, schedule->later.first, schedule->later.last);
    clear(&schedule->later);
}

void nic_schedule_open(struct nic_schedule *schedule, const struct nic_items *items)
{
    schedule->n_opened++;
    schedule->left_bytes = schedule->slice_bytes;
    __atomic_store_n(&schedule->is_full, false, __ATOMIC_RELAXED);
    if (schedule->later.first != NIC_ITEM_NONE) {
        resume(schedule, items);
    }
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

int nic_schedule_next(struct nic_schedule *schedule, const struct nic_items *items,
                      struct nic_share *share_out)
{
    uint32_t id = schedule->waiting.first;
    struct nic_item *item;
    uint64_t n_bytes;

    if (id == NIC_ITEM_NONE) {
        return 0;
    }
    item = nic_item_at(items, id);
    if (item->granted == 0 || item->chunk_slice != schedule->n_opened) {
        item->chunk_slice = schedule->n_opened;
        item->chunk_left = schedule->chunk_bytes;
    }
    n_bytes = smaller(item->total - item->granted, item->chunk_left);
    n_bytes = smaller(n_bytes, item->chunk_limit);
    if (n_bytes > schedule->left_bytes) {
        __atomic_store_n(&schedule->is_full, true, __ATOMIC_RELAXED);
        return 0;
    }
    schedule->left_bytes -= n_bytes;
    item->chunk_left -= n_bytes;
    item->is_queued = 0;
    if (item->next == NIC_ITEM_NONE) {
        clear(&schedule->waiting);
    } else {
        set_first(&schedule->waiting, item->next);
    }
    *share_out = (struct nic_share){id, item->granted, n_bytes};
    item->granted += n_bytes;
    return 1;
}
