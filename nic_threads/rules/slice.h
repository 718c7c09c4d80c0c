/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of microphases: pure code. The nodes go through them together in rounds.
 * With strobes on demand a round is a slice. With timed strobes a slice begins with a
 * round of the one phase BEGIN, when the clock says so, and then has as many rounds as
 * are demanded.
 *
 * A microstrobe is one number that only grows, round * NIC_PHASES + phase, so that
 * "complete up to here" is one comparison for Compare-And-Write. [BCS-MPI section 4.2]
 */
#ifndef NIC_THREADS_RULES_SLICE_H
#define NIC_THREADS_RULES_SLICE_H

#include <stdbool.h>
#include <stdint.h>

/** The microphases in their order. NIC_PHASE_END closes a round. */
enum nic_phase {
    NIC_PHASE_BEGIN, /* timed: deliver what the last slice has completed; a round alone
                      */
    NIC_PHASE_DEM,   /* descriptor exchange */
    NIC_PHASE_MSM,   /* message scheduling */
    NIC_PHASE_PM,    /* point-to-point */
    NIC_PHASE_BBM,   /* broadcast and barrier */
    NIC_PHASE_RM,    /* reduce */
    NIC_PHASE_END,   /* release what the round has used */
    NIC_PHASE_IDLE,  /* between rounds; no microstrobe */
    NIC_PHASES = 8,
};

/** Where the strobe sender is. */
struct nic_slice_state {
    uint64_t round;
    uint32_t phase; /* enum nic_phase */
};

/** The microstrobe that starts a phase of a round. */
static inline uint64_t nic_microstrobe(uint64_t round, enum nic_phase phase)
{
    return round * NIC_PHASES + phase;
}

static inline enum nic_phase nic_microstrobe_phase(uint64_t microstrobe)
{
    return (enum nic_phase)(microstrobe % NIC_PHASES);
}

static inline uint64_t nic_microstrobe_round(uint64_t microstrobe)
{
    return microstrobe / NIC_PHASES;
}

/** Begin the next round: at DEM, or, if it opens a timed slice, at BEGIN. */
void nic_slice_begin(struct nic_slice_state *state, bool opens_slice);

/**
 * Go on after the present phase is complete on all nodes. Without later work a round
 * goes from MSM to its end at once; after BEGIN, and after its end, the state is idle.
 */
void nic_slice_advance(struct nic_slice_state *state, bool has_later_work);

#endif
