/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rest of a short message's last step; see hand_over.h. Under the desk's engine
 * lock.
 */
#include "nic_threads/roles/hand_over.h"

enum bcs_cell_state nic_hand_over_further(struct bcs_cell *cell,
                                          const struct bcs_descriptor *send)
{
    if ((send->flags & BCS_DATA_BLOCK) == 0) {
        memcpy(cell->payload, send->payload, BCS_INLINE_BYTES); /* and the stamp */
        return BCS_CELL_STAMPED;
    }
    cell->address = send->address;
    if ((send->flags & BCS_STAMPED) != 0) {
        cell->stamp = send->stamp;
    }
    return BCS_CELL_BLOCK;
}
