/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The monitor: begins and ends of slices, and what is read at the end. Under the lock
 * of the desk, or of the strobe sender's.
 */
#include "nic_threads/node/monitor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void nic_monitor_init(struct nic_monitor *monitor, uint64_t metrics, uint64_t first,
                      uint64_t n, uint64_t n_spans)
{
    uint64_t end = n == 0 || n > UINT64_MAX - first ? UINT64_MAX : first + n;

    monitor->series = (struct nic_series){.begin = first, .end = end, .n = n_spans};
    monitor->metrics = metrics;
}

void nic_monitor_close(const struct nic_recorder *recorder)
{
    struct nic_monitor *monitor = recorder->monitor;
    struct bcs_span *span =
        monitor->has == 0
            ? NULL
            : nic_series_find(&monitor->series, &recorder->spans, monitor->number);

    if (span != NULL) {
        nic_monitor_add(monitor, NIC_MONITORED_WHOLE, monitor->ended - monitor->began);
        span->began = span->began == 0 ? monitor->began : span->began;
        span->n_slices++;
        for (uint64_t bits = monitor->has & monitor->metrics; bits != 0;
             bits &= bits - 1) {
            uint32_t metric = (uint32_t)__builtin_ctzll(bits);

            bcs_tally_add(&span->tallies[metric], monitor->values[metric]);
        }
    }
    monitor->has = 0;
}

/** The number of a slice that begins: it is the next one, or that of its interval. */
static uint64_t number_at(const struct nic_recorder *recorder, uint64_t now)
{
    const struct bcs_machine *machine = recorder->machine;
    struct nic_monitor *monitor = recorder->monitor;
    uint64_t number = monitor->number;

    if (!recorder->is_by_time) {
        return monitor->n_begun;
    }
    if (now >= monitor->next) {
        number = (now - machine->began.ticks) / machine->slice_ticks;
        monitor->next = machine->began.ticks + (number + 1) * machine->slice_ticks;
    }
    return number;
}

/** Add the quick slices to their span, which is that of the last other one. */
static void close_quick(const struct nic_recorder *recorder)
{
    struct nic_monitor *monitor = recorder->monitor;
    struct bcs_span *span =
        monitor->n_quick == 0
            ? NULL
            : nic_series_find(&monitor->series, &recorder->spans, monitor->number);

    if (span != NULL) {
        span->began = span->began == 0 ? monitor->began : span->began;
        span->n_slices += monitor->n_quick;
        for (uint64_t bits = monitor->metrics; bits != 0; bits &= bits - 1) {
            uint32_t metric = (uint32_t)__builtin_ctzll(bits);

            bcs_tally_merge(&span->tallies[metric], &monitor->quick[metric]);
        }
    }
    if (monitor->n_quick > 0) {
        memset(monitor->quick, 0, sizeof(monitor->quick));
        monitor->n_quick = 0;
    }
}

void nic_monitor_begin(const struct nic_recorder *recorder)
{
    struct nic_monitor *monitor = recorder->monitor;
    uint64_t now = monitor->entered;

    close_quick(recorder);
    memset(monitor->values, 0, sizeof(monitor->values));
    if (monitor->n_begun++ > 0) {
        nic_monitor_add(monitor, NIC_MONITORED_ELAPSED, now - monitor->began);
    }
    monitor->number = number_at(recorder, now);
    monitor->began = now;
    monitor->ended = now;
}

int nic_monitor_copy(const struct nic_recorder *recorder, struct bcs_span **spans_out,
                     size_t *n_out, uint64_t *shift_out)
{
    struct nic_series *series = &recorder->monitor->series;
    struct bcs_span *spans = calloc(2 * series->n + 1, sizeof(*spans));
    size_t n;

    if (spans == NULL) {
        return -ENOMEM;
    }
    nic_monitor_close(recorder);
    close_quick(recorder);
    n = nic_series_copy(series, &recorder->spans, spans);
    for (size_t i = 0; i < n; i++) {
        spans[i].began -= recorder->machine->began.ticks;
    }
    *spans_out = spans;
    *n_out = n;
    *shift_out = series->shift;
    return 0;
}
