/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the strobe receiver records of a slice, by the names of the paper's Table 5.2.
 * Called by it alone, under the desk's lock, and only while slices are recorded.
 * [BCS-MPI section 5.2]
 */
#ifndef NIC_THREADS_ROLES_SLICE_RECORD_H
#define NIC_THREADS_ROLES_SLICE_RECORD_H

#include "nic_threads/node/node.h"

/** Descriptors of point-to-point that the batch has. */
static inline uint32_t nic_record_n_messages(const struct nic_view *view)
{
    const struct nic_batch *batch = &view->desk->batch;

    return batch->n_sends + batch->n_receives + batch->n_probes;
}

/** A slice begins with the phase that was entered last: LETTS, BPTS. */
void nic_record_begin(struct nic_view *view, const struct nic_recorder *recorder);

/** A slice on demand of which only numbers are taken has been run, but for the end of
 *  its batch: all numbers, LETTS. */
void nic_record_quick(struct nic_view *view, const struct nic_recorder *recorder,
                      uint32_t n_calls);

/** Calls of collectives in the batch. */
uint32_t nic_record_n_calls(const struct nic_view *view);

/** What was posted has been taken: NP2PDEM, NCOLLDEM. @param n_arrived messages that
 *  the batch had before, from other nodes */
void nic_record_exchange(struct nic_view *view, const struct nic_recorder *recorder,
                         uint32_t n_arrived);

/** What goes in this round has been chosen: NP2PMSM, NCOLLMSM. */
void nic_record_scheduling(struct nic_view *view, const struct nic_recorder *recorder);

/** The slice ends now, unless another round follows: LTTS. */
static inline void nic_record_end(const struct nic_recorder *recorder)
{
    nic_monitor_stamp(recorder->monitor);
    nic_monitor_end(recorder->monitor);
}

/** A microphase of several nodes, or of a timed slice, begins. */
void nic_record_enter(struct nic_view *view, const struct nic_recorder *recorder,
                      enum nic_phase phase);

/** It ends: LTDEM, LTMSM. */
void nic_record_leave(const struct nic_recorder *recorder, enum nic_phase phase);

#endif
