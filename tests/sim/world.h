/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job of a few ranks and nodes in one thread. Where nodes have crews, whoever would
 * run by itself in a real job, the strobe receiver of each node with its roles and the
 * strobe sender, runs when it is told to, and sleeps as in driver `threads`: until the
 * bell of its node has rung. Between the steps of two roles others may run. Without
 * crews, the ranks run by themselves (inline.h). What nodes put to each other lands
 * late, as the seed says (transport shm-defer).
 */
#ifndef TESTS_SIM_WORLD_H
#define TESTS_SIM_WORLD_H

#include "tests/engine/job.h"
#include "tests/sim/fiber.h"
#include "tests/sim/process.h"

enum { SIM_MAX_NODES = JOB_MAX_RANKS };

/** Somebody who sleeps until a bell rings. */
struct sim_looker {
    struct nic_view *view;
    uint64_t n_rings;
    bool is_asleep;
    bool has_done; /* anything, the last time */
    struct sim_fiber
        fiber; /* of a strobe receiver: it stops before and after each role */
};

/** A job. */
struct sim_world {
    struct job job;
    struct rank ranks[JOB_MAX_RANKS];
    uint32_t n_ranks, n_nodes;
    struct nic_engine
        *sender_engine; /* of the strobe sender; NULL: one node has no need of it */
    struct sim_looker receivers[SIM_MAX_NODES];
    struct sim_looker sender;
    /* Without crews: the ranks, and then the background thread, if there is one. */
    struct sim_process processes[JOB_MAX_RANKS + 1];
    uint32_t n_processes;
    void *background; /* its state */
};

/** Make a job. End with sim_world_fini. */
void sim_world_init(struct sim_world *world, const struct job_shape *shape);

/** Free it. Nothing may be pending. */
void sim_world_fini(struct sim_world *world);

/** With crews: a node's strobe receiver goes on, if it is awake, to the next role.
 *  @return whether anything was done */
bool sim_step_receiver(struct sim_world *world, uint32_t node);

/** With crews: one step of the strobe sender, if it is awake. @return whether anything
 *  was done */
bool sim_step_sender(struct sim_world *world);

/** With crews: let something land that a node has put. */
void sim_land(struct sim_world *world, uint32_t node);

#endif
