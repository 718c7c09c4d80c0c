/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the next timed strobe is due: pure code, used by whoever sends strobes. Strobes
 * stand on the multiples of a slice, so that they never drift, and so that those of all
 * jobs on a machine with slices of one length fall together. A strobe that was sent
 * late is not followed by a slice of less than half the length: the next one is the
 * first of the grid that leaves it so much, and the points of the grid that are left
 * out are counted.
 *
 * A thread wakes up some time after its timer, tens of microseconds on a virtual
 * machine. So the timer is set ahead of the strobe, and the thread polls for the rest.
 * By how much is learnt from each strobe: the lead settles where all but one in a
 * hundred are ready early enough, so that little is polled. Where polling takes time
 * from processes that compute, a strobe may be late by a sixteenth of a slice, 16 of
 * 250 us (the paper's are 250 to 270 us apart), and there is a lead of its own for
 * that.
 */
#ifndef NIC_THREADS_RULES_STROBE_CLOCK_H
#define NIC_THREADS_RULES_STROBE_CLOCK_H

#include <stdint.h>

enum {
    NIC_STROBE_BINS = 1024,
    NIC_STROBE_BINS_A_SLICE = 256, /* bins are equal parts of a slice */
    NIC_STROBE_LEADS_A_SLICE = 3,  /* no lead is longer than this part of a slice */
    NIC_STROBE_DELAYS_A_SLICE = 16 /* what may be late is late by such a part at most */
};

/** Whose time is polled away. */
enum nic_strobe_poll {
    NIC_STROBE_POLL_FREE, /* nobody's: a process lends its core */
    NIC_STROBE_POLL_DEAR, /* perhaps a computing process's */
    NIC_STROBE_POLLS
};

/** What strobes there were: in NIC memory, written by the sender only. */
struct nic_strobe_counts {
    uint64_t n_strobes;
    uint64_t n_left_out; /* points of the grid without a strobe, as it came too late */
    uint64_t n_idle;     /* points of the grid without a strobe, as none was needed */
    uint64_t is_prompt;  /* the sender has real-time priority */
    /* How late each was sent; the last bin has all that were later. */
    uint32_t late[NIC_STROBE_BINS];
};

struct nic_strobe_clock {
    uint64_t start_ns;
    uint64_t slice_ns;
    uint64_t point; /* of the grid, last strobe */
    uint64_t sent_ns;
    uint64_t lead_ns[NIC_STROBE_POLLS]; /* from the timer to the strobe */
    struct nic_strobe_counts *counts;
};

/** Start at a time; the first strobe is due at a point of the grid, half a slice later
 *  or more. counts stays the caller's. */
void nic_strobe_clock_start(struct nic_strobe_clock *clock, uint64_t now_ns,
                            uint64_t slice_ns, struct nic_strobe_counts *counts);

/** When the next strobe is due, given that the work of the last slice ended now. */
uint64_t nic_strobe_clock_due_ns(const struct nic_strobe_clock *clock, uint64_t now_ns);

/** When to set the timer for the strobe that is due at due_ns. */
static inline uint64_t nic_strobe_clock_timer_ns(const struct nic_strobe_clock *clock,
                                                 uint64_t due_ns,
                                                 enum nic_strobe_poll poll)
{
    return due_ns - clock->lead_ns[poll];
}

/** Learn the lead: the timer for the strobe that is due at due_ns has ended, and its
 *  thread is ready to send it now. */
void nic_strobe_clock_ready(struct nic_strobe_clock *clock, uint64_t due_ns,
                            uint64_t now_ns, enum nic_strobe_poll poll);

/** Account for the strobe that was due at due_ns and is sent now. */
void nic_strobe_clock_sent(struct nic_strobe_clock *clock, uint64_t due_ns,
                           uint64_t now_ns);

/** No strobe was needed from the one that was sent last until now. */
void nic_strobe_clock_skip(struct nic_strobe_clock *clock, uint64_t now_ns);

/**
 * How late a part of all strobes was at most.
 *
 * @param part  0 to 1, as 0.99
 * @return upper end of the bin in which it lies, in ns; 0 if there were no strobes
 */
uint64_t nic_strobe_counts_late_ns(const struct nic_strobe_counts *counts,
                                   uint64_t slice_ns, double part);

#endif
