/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Announcing; see the header.
 */
#include "nic_threads/machine/announce.h"

#include "nic_threads/machine/engine_xfer.h"

void nic_announce(struct nic_view *view, uint32_t node,
                  const struct nic_announcing *announcing)
{
    static const uint8_t is_in_use = 1;
    const struct bcs_node_set dests = bcs_node_set_one(node);
    struct bcs_xfer xfer = {
        .src = &is_in_use,
        .n_bytes = sizeof(is_in_use),
        .dest_gva = announcing->each_gva + announcing->number,
        .dests = &dests,
    };

    nic_engine_xfer(view, &xfer);
    xfer.dest_gva = announcing->groups_gva + announcing->number / NIC_ANNOUNCED_GROUP;
    xfer.remote_event_gva = announcing->event_gva;
    nic_engine_xfer(view, &xfer);
}

/** acquire: pairs with the transport's store */
static bool is_set(const uint8_t *byte)
{
    return __atomic_load_n(byte, __ATOMIC_ACQUIRE) != 0;
}

void nic_announced_take(const struct nic_announced *announced, uint32_t n,
                        const struct nic_marks *marks)
{
    for (uint32_t first = 0; first < n; first += NIC_ANNOUNCED_GROUP) {
        uint32_t end =
            n - first < NIC_ANNOUNCED_GROUP ? n : first + NIC_ANNOUNCED_GROUP;

        if (!is_set(&announced->groups[first / NIC_ANNOUNCED_GROUP])) {
            continue;
        }
        for (uint32_t i = first; i < end; i++) {
            if (is_set(&announced->each[i])) {
                nic_marks_set(marks, i);
            }
        }
    }
}
