/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of microphases within a slice: pure code. A microstrobe is one number that
 * only grows, slice * NIC_PHASES + phase, so that "complete up to here" is one comparison
 * for Compare-And-Write. [BCS-MPI section 4.2]
 */
#ifndef NIC_THREADS_SLICE_H
#define NIC_THREADS_SLICE_H

#include <stdbool.h>
#include <stdint.h>

/** The microphases in their order. NIC_PHASE_END closes a slice. */
enum nic_phase {
    NIC_PHASE_IDLE,
    NIC_PHASE_DEM, /* descriptor exchange */
    NIC_PHASE_MSM, /* message scheduling */
    NIC_PHASE_PM,  /* point-to-point */
    NIC_PHASE_BBM, /* broadcast and barrier */
    NIC_PHASE_RM,  /* reduce */
    NIC_PHASE_END, /* release what the slice has used */
    NIC_PHASES = 8,
};

/** Where the strobe sender is. */
struct nic_slice_state {
    uint64_t slice;
    uint32_t phase; /* enum nic_phase */
};

/** The microstrobe that starts a phase of a slice. */
static inline uint64_t nic_microstrobe(uint64_t slice, enum nic_phase phase)
{
    return slice * NIC_PHASES + phase;
}

static inline enum nic_phase nic_microstrobe_phase(uint64_t microstrobe)
{
    return (enum nic_phase)(microstrobe % NIC_PHASES);
}

static inline uint64_t nic_microstrobe_slice(uint64_t microstrobe)
{
    return microstrobe / NIC_PHASES;
}

/** Begin the next slice: state is then at DEM. */
void nic_slice_begin(struct nic_slice_state *state);

/**
 * Go on after the present phase is complete on all nodes. Without later work a slice
 * goes from MSM to its end at once; after its end the state is idle.
 */
void nic_slice_advance(struct nic_slice_state *state, bool has_later_work);

#endif
