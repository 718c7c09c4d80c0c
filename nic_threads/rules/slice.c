/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slice state machine. Pure; used by the strobe sender.
 */
#include "nic_threads/rules/slice.h"

void nic_slice_begin(struct nic_slice_state *state, bool opens_slice)
{
    state->round++;
    state->phase = opens_slice ? NIC_PHASE_BEGIN : NIC_PHASE_DEM;
}

void nic_slice_advance(struct nic_slice_state *state, bool has_later_work)
{
    if (state->phase == NIC_PHASE_MSM && !has_later_work) {
        state->phase = NIC_PHASE_END;
    } else if (state->phase == NIC_PHASE_BEGIN) {
        state->phase = NIC_PHASE_IDLE;
    } else {
        state->phase++;
    }
}
