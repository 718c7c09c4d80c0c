/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the strobe receiver records; see the header.
 */
#include "nic_threads/roles/slice_record.h"

/** Whether a process waits: it sleeps, or polls. */
static bool is_blocked(const struct bcs_port *port)
{
    return bcs_park_is_announced(&port->park) ||
           atomic_load_explicit(&port->is_polling, memory_order_relaxed) != 0;
}

static uint32_t n_blocked(const struct nic_view *view)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < view->n_served; i++) {
        n += is_blocked(nic_view_port(view, view->first_served + i));
    }
    return n;
}

void nic_record_begin(struct nic_view *view, const struct nic_recorder *recorder)
{
    struct nic_monitor *monitor = recorder->monitor;

    nic_monitor_begin(recorder);
    nic_monitor_add(monitor, NIC_LOCAL(BCS_METRIC_BPTS), n_blocked(view));
    nic_monitor_add(monitor, NIC_LOCAL(BCS_METRIC_NP2PDEM),
                    0); /* also if none follow */
    nic_monitor_add(monitor, NIC_LOCAL(BCS_METRIC_NP2PMSM), 0);
    nic_monitor_add(monitor, NIC_LOCAL(BCS_METRIC_NCOLLDEM), 0);
    nic_monitor_add(monitor, NIC_LOCAL(BCS_METRIC_NCOLLMSM), 0);
}

uint32_t nic_record_n_calls(const struct nic_view *view)
{
    const struct nic_batch *batch = &view->desk->batch;
    uint32_t n = 0;

    for (uint32_t i = 0; i < batch->n_controls; i++) {
        n += nic_posted_descriptor(view, &batch->controls[i])->kind == BCS_COLLECTIVE;
    }
    return n;
}

void nic_record_quick(struct nic_view *view, const struct nic_recorder *recorder,
                      uint32_t n_calls)
{
    const struct nic_batch *batch = &view->desk->batch;
    struct nic_monitor *monitor = recorder->monitor;

    nic_monitor_begin_quick(monitor);
    nic_monitor_add_quick(monitor, NIC_LOCAL(BCS_METRIC_NP2PDEM),
                          nic_record_n_messages(view));
    nic_monitor_add_quick(monitor, NIC_LOCAL(BCS_METRIC_NP2PMSM),
                          batch->n_pairs + batch->n_shares);
    nic_monitor_add_quick(monitor, NIC_LOCAL(BCS_METRIC_NCOLLDEM), n_calls);
    nic_monitor_add_quick(monitor, NIC_LOCAL(BCS_METRIC_NCOLLMSM), batch->n_ready);
    nic_monitor_add_quick(monitor, NIC_LOCAL(BCS_METRIC_BPTS), n_blocked(view));
}

void nic_record_exchange(struct nic_view *view, const struct nic_recorder *recorder,
                         uint32_t n_arrived)
{
    struct nic_monitor *monitor = recorder->monitor;

    nic_monitor_add(monitor, NIC_LOCAL(BCS_METRIC_NP2PDEM),
                    nic_record_n_messages(view) - n_arrived);
    nic_monitor_add(monitor, NIC_LOCAL(BCS_METRIC_NCOLLDEM), nic_record_n_calls(view));
    nic_monitor_stamp(monitor);
}

void nic_record_scheduling(struct nic_view *view, const struct nic_recorder *recorder)
{
    const struct nic_batch *batch = &view->desk->batch;
    struct nic_monitor *monitor = recorder->monitor;

    nic_monitor_add(monitor, NIC_LOCAL(BCS_METRIC_NP2PMSM),
                    batch->n_pairs + batch->n_shares);
    nic_monitor_add(monitor, NIC_LOCAL(BCS_METRIC_NCOLLMSM), batch->n_ready);
}

void nic_record_enter(struct nic_view *view, const struct nic_recorder *recorder,
                      enum nic_phase phase)
{
    bool begins_slice =
        phase == (view->engine->is_timed ? NIC_PHASE_BEGIN : NIC_PHASE_DEM);

    if (begins_slice) {
        nic_monitor_close(recorder);
    }
    nic_monitor_enter(recorder->monitor);
}

void nic_record_leave(const struct nic_recorder *recorder, enum nic_phase phase)
{
    struct nic_monitor *monitor = recorder->monitor;

    nic_monitor_stamp(monitor);
    if (phase == NIC_PHASE_DEM) {
        nic_monitor_leave(monitor, NIC_MONITORED_DEM);
    } else if (phase == NIC_PHASE_MSM) {
        nic_monitor_leave(monitor, NIC_MONITORED_MSM);
    }
    nic_monitor_end(monitor);
}
