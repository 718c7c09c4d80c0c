/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a simulated job do, made of a seed, and what must come of it. A
 * script is a list of units that have nothing to do with each other: any of them may be
 * left out, and what is left is a script, so that a failing one shrinks.
 */
#ifndef TESTS_SIM_SCRIPT_H
#define TESTS_SIM_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/engine/job.h"

enum { SIM_MAX_UNITS = 48 };

/** What a unit is. */
enum sim_kind {
    SIM_NAMED,      /* a message; the receive names source and tag */
    SIM_ANY_SOURCE, /* the receive names the tag, which only such receives have */
    SIM_ANY_TAG,    /* the receive names the source, in a context of its own */
    SIM_ANY,        /* neither, in a context of its own */
    SIM_TAKEN_BACK, /* a receive that nothing comes for, and that is cancelled */
    SIM_RACED, /* a message whose receive is cancelled, perhaps too late; if not, it is
                * posted again */
    SIM_REGRETTED, /* a message whose send is cancelled, perhaps too late; if not, it is
                      sent again */
    SIM_BARRIER,   /* of all */
    SIM_SUM,       /* of all: an allreduce of one number */
    SIM_KINDS,
};

/** A unit. */
struct sim_unit {
    enum sim_kind kind;
    bool is_left_out;
    uint32_t source, dest; /* ranks; SIM_TAKEN_BACK: dest only */
    int32_t tag;
    uint32_t n_bytes;
    enum bcs_send_mode mode;
};

/** A script. */
struct sim_script {
    uint64_t seed;
    uint64_t order; /* of the steps; any number, usually 0 */
    struct job_shape shape;
    bool has_background; /* without crews: the background thread, if it were needed */
    uint32_t n_units;
    struct sim_unit units[SIM_MAX_UNITS];
};

/** The script of a seed. */
void sim_script_make(struct sim_script *script, uint64_t seed);

/** Print it, a line for each unit that is not left out. */
void sim_script_print(const struct sim_script *script);

/** Whether all ranks take part in a unit. */
static inline bool sim_is_collective(const struct sim_unit *unit)
{
    return unit->kind == SIM_BARRIER || unit->kind == SIM_SUM;
}

/** Whether a receive, if it had been the only one, could have got a message. */
static inline bool sim_units_fit(const struct sim_unit *receive,
                                 const struct sim_unit *send)
{
    return receive->kind == send->kind && receive->dest == send->dest &&
           (receive->kind == SIM_ANY || receive->kind == SIM_ANY_SOURCE ||
            receive->source == send->source) &&
           (receive->kind == SIM_ANY || receive->kind == SIM_ANY_TAG ||
            receive->tag == send->tag);
}

/** A random number below n, and the next state. */
uint32_t sim_random(uint64_t *state, uint32_t n);

#endif
