/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC engine of one process: its views of the near nodes, which are those of its
 * machine. What it does is the roles' business (roles.h); which processes have it done,
 * and when, the driver's (driver.h).
 */
#ifndef NIC_THREADS_MACHINE_ENGINE_H
#define NIC_THREADS_MACHINE_ENGINE_H

#include <pthread.h>

#include "nic_threads/node/views.h"

/** Bits: which messages are meant. */
enum nic_unmatched_kind {
    NIC_UNMATCHED_OWN = 1,  /* those of programs */
    NIC_UNMATCHED_PART = 2, /* parts of collectives */
    NIC_UNMATCHED_TAKEN = 4 /* of programs, that a matched probe has taken */
};

/** A message that has been sent, and that nobody has received. */
struct nic_unreceived {
    uint32_t from, to; /* ranks */
    int32_t tag;
    uint64_t n_bytes;
    uint64_t context_id;
    bool is_taken; /* its receiver has it from a matched probe */
};

/** A deadlock. */
struct nic_verdict {
    const uint64_t *stuck; /* bits: the ranks that can never go on */
    /* Messages to them, some of those that there are. */
    const struct nic_unreceived *unreceived;
    uint32_t n_unreceived;
};

struct nic_snapshot;

/** Ranks that wait for each other, which is no deadlock as long as one of their
 *  processes could act by itself. */
struct nic_doubt {
    const uint64_t *suspected;           /* bits */
    const struct nic_snapshot *snapshot; /* what they wait for, and what could act */
};

/** What nic_engine_create needs. */
struct nic_engine_params {
    struct bcs_memory *memory;    /* the nodes' heaps, of layout.heap_bytes each */
    struct bcs_machine *machine;  /* filled in before the driver is opened */
    struct bcs_own_slot own_slot; /* of the job, among others on the machine */
    uint32_t n_ports;
    /* Which rank has which port; stays the caller's, must outlive the engine. NULL:
     * each rank is its own port. */
    const struct bcs_port_map *map;
    uint32_t port;                   /* of this process */
    const struct nic_config *config; /* stays the caller's, must outlive the engine */
    bool is_direct;
    bool is_background; /* a second engine of this process; sets up nothing */
    bool is_mover;      /* the engine copies long messages by itself, if it may */
    /** Called by the referee's thread, once. NULL: nobody judges. */
    void (*on_deadlock)(const struct nic_engine_params *params,
                        const struct nic_verdict *verdict);
    /** The same, of a suspicion. NULL: as the other one. */
    void (*on_doubt)(const struct nic_engine_params *params,
                     const struct nic_doubt *doubt);
    void *owner; /* of this process's part in the job, for who has set on_deadlock */
    /* Of the service: held while one thread runs a timed slice of all nodes. */
    pthread_mutex_t *slice;
    /* Threads for the roles, or NULL; see roles.h. */
    struct nic_crew *crew;
    const struct nic_crew_ops *crew_ops;
};

/** The layout of a job of n_ports processes. @return 0, -EINVAL or -E2BIG, logged */
int nic_engine_layout(uint32_t n_ports, const struct nic_config *config,
                      struct nic_layout *layout_out);

/** Desks of each node of such a job. */
uint32_t nic_engine_n_desks(uint32_t n_ports, const struct nic_config *config);

/**
 * Make this process's views. The first process of each node also sets up the node's
 * state; nobody may take a turn before all have (the caller synchronizes).
 *
 * @return 0 or -errno, logged; end with nic_engine_destroy
 */
int nic_engine_create(const struct nic_engine_params *params,
                      struct nic_engine **engine_out);

/** Free the views; the memory stays. Accepts NULL. */
void nic_engine_destroy(struct nic_engine *engine);

#endif
