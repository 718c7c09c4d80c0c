/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grid of timed strobes. Pure; the counts are read by other processes, hence the
 * relaxed stores.
 */
#include "nic_threads/rules/strobe_clock.h"

/* Being late makes the lead longer by a step, being early shorter by a part of it: at
 * rest one in so many is late. The first leads are about what it takes on a virtual
 * machine. */
enum { LEAD_STEPS_A_SLICE = 64, LEAD_PARTS_A_STEP = 128 };

static const uint64_t first_leads_a_slice[NIC_STROBE_POLLS] = {
    [NIC_STROBE_POLL_FREE] = 8, [NIC_STROBE_POLL_DEAR] = 16};

void nic_strobe_clock_start(struct nic_strobe_clock *clock, uint64_t now_ns,
                            uint64_t slice_ns, struct nic_strobe_counts *counts)
{
    *clock = (struct nic_strobe_clock){
        .start_ns = now_ns - now_ns % slice_ns,
        .slice_ns = slice_ns,
        .sent_ns = now_ns,
        .counts = counts,
    };
    for (int poll = 0; poll < NIC_STROBE_POLLS; poll++) {
        clock->lead_ns[poll] = slice_ns / first_leads_a_slice[poll];
    }
}

uint64_t nic_strobe_clock_due_ns(const struct nic_strobe_clock *clock, uint64_t now_ns)
{
    uint64_t earliest_ns = clock->sent_ns + clock->slice_ns / 2;
    uint64_t point;

    if (earliest_ns < now_ns) {
        earliest_ns = now_ns;
    }
    point = (earliest_ns - clock->start_ns + clock->slice_ns - 1) / clock->slice_ns;
    if (point <= clock->point) {
        point = clock->point + 1;
    }
    return clock->start_ns + point * clock->slice_ns;
}

void nic_strobe_clock_ready(struct nic_strobe_clock *clock, uint64_t due_ns,
                            uint64_t now_ns, enum nic_strobe_poll poll)
{
    uint64_t *lead_ns = &clock->lead_ns[poll];
    uint64_t step_ns = clock->slice_ns / LEAD_STEPS_A_SLICE;
    uint64_t part_ns = step_ns / LEAD_PARTS_A_STEP;
    uint64_t limit_ns = clock->slice_ns / NIC_STROBE_LEADS_A_SLICE;
    uint64_t delay_ns =
        poll == NIC_STROBE_POLL_FREE ? 0 : clock->slice_ns / NIC_STROBE_DELAYS_A_SLICE;

    if (now_ns <= due_ns + delay_ns) {
        *lead_ns -= *lead_ns < part_ns ? *lead_ns : part_ns;
    } else {
        *lead_ns += step_ns;
        *lead_ns = *lead_ns < limit_ns ? *lead_ns : limit_ns;
    }
}

static void add(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

void nic_strobe_clock_sent(struct nic_strobe_clock *clock, uint64_t due_ns,
                           uint64_t now_ns)
{
    uint64_t point = (due_ns - clock->start_ns) / clock->slice_ns;
    uint64_t bin = (now_ns - due_ns) * NIC_STROBE_BINS_A_SLICE / clock->slice_ns;
    uint32_t *count =
        &clock->counts->late[bin < NIC_STROBE_BINS ? bin : NIC_STROBE_BINS - 1];

    __atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
    add(&clock->counts->n_left_out, point - clock->point - 1);
    add(&clock->counts->n_strobes, 1);
    clock->point = point;
    clock->sent_ns = now_ns;
}

void nic_strobe_clock_skip(struct nic_strobe_clock *clock, uint64_t now_ns)
{
    uint64_t point = (now_ns - clock->start_ns) / clock->slice_ns;

    add(&clock->counts->n_idle, point - clock->point);
    clock->point = point;
}

uint64_t nic_strobe_counts_late_ns(const struct nic_strobe_counts *counts,
                                   uint64_t slice_ns, double part)
{
    uint64_t total = 0, n = 0;

    for (int i = 0; i < NIC_STROBE_BINS; i++) {
        total += __atomic_load_n(&counts->late[i], __ATOMIC_RELAXED);
    }
    for (uint64_t i = 0; total > 0 && i < NIC_STROBE_BINS; i++) {
        n += __atomic_load_n(&counts->late[i], __ATOMIC_RELAXED);
        if ((double)n >= part * (double)total) {
            return (i + 1) * slice_ns / NIC_STROBE_BINS_A_SLICE;
        }
    }
    return 0;
}
