/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scripts; see script.h.
 */
#include "tests/sim/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[SIM_KINDS] = {
    [SIM_NAMED] = "message",
    [SIM_ANY_SOURCE] = "message, any source",
    [SIM_ANY_TAG] = "message, any tag",
    [SIM_ANY] = "message, any source and tag",
    [SIM_TAKEN_BACK] = "receive that is taken back",
    [SIM_RACED] = "message whose receive is taken back",
    [SIM_REGRETTED] = "message whose send is taken back",
    [SIM_BARRIER] = "barrier",
    [SIM_SUM] = "sum",
};

uint32_t sim_random(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % n);
}

/** Lengths around what a descriptor, a block and a chunk hold. */
static uint32_t random_length(uint64_t *state)
{
    static const uint32_t most[] = {1, 9, 81, 82, 600, 5000, 70000, 150000};

    return sim_random(state, most[sim_random(state, sizeof(most) / sizeof(most[0]))]);
}

static struct sim_unit random_unit(uint64_t *state, uint32_t n_ranks)
{
    static const enum sim_kind kinds[] = {
        SIM_NAMED,      SIM_NAMED,   SIM_NAMED,      SIM_ANY_SOURCE,
        SIM_ANY_SOURCE, SIM_ANY_TAG, SIM_ANY,        SIM_RACED,
        SIM_RACED,      SIM_RACED,   SIM_TAKEN_BACK, SIM_BARRIER,
        SIM_SUM,        SIM_SUM,     SIM_REGRETTED,  SIM_REGRETTED,
    };

    return (struct sim_unit){
        .kind = kinds[sim_random(state, sizeof(kinds) / sizeof(kinds[0]))],
        .source = sim_random(state, n_ranks),
        .dest = sim_random(state, n_ranks),
        .tag = (int32_t)sim_random(state, 3),
        .n_bytes = random_length(state),
        .mode = (enum bcs_send_mode)sim_random(state, 3),
    };
}

/** Let there be no crews: the ranks run the engine themselves, most often on one node,
 *  where each has a desk of its own. */
static void leave_to_ranks(struct sim_script *script, uint64_t *state)
{
    struct job_shape *shape = &script->shape;

    shape->has_crew = false;
    shape->n_cpus = 1 + sim_random(state, 2 * shape->n_ranks);
    shape->node_ranks = sim_random(state, 4) == 0 ? shape->node_ranks : 0;
    script->has_background = sim_random(state, 2) == 0;
}

void sim_script_make(struct sim_script *script, uint64_t seed)
{
    uint64_t state = seed * 2 + 1;

    memset(script, 0, sizeof(*script));
    sim_random(&state, 1); /* neighbouring seeds begin alike otherwise */
    script->seed = seed;
    script->shape = (struct job_shape){
        .n_ranks = 1 + sim_random(&state, JOB_MAX_RANKS),
        .is_direct = sim_random(&state, 2) == 0,
        .is_threaded = true,
        .is_timed = sim_random(&state, 4) == 0,
        .has_crew = true, /* the bells ring; nobody starts its threads. See below */
        .descriptors = 256,
        .buffering =
            sim_random(&state, 2) == 0 ? NIC_BUFFERING_EAGER : NIC_BUFFERING_NONE,
        .limits = sim_random(&state, 3) == 0 ? "batch=8" : "least,kept_sends=256",
        .defer = seed + 1,
    };
    script->shape.node_ranks = sim_random(&state, script->shape.n_ranks + 1);
    script->n_units = 1 + sim_random(&state, SIM_MAX_UNITS);
    for (uint32_t i = 0; i < script->n_units; i++) {
        script->units[i] = random_unit(&state, script->shape.n_ranks);
    }
    if (!script->shape.is_timed && sim_random(&state, 3) != 0) {
        leave_to_ranks(script, &state);
    }
}

void sim_script_print(const struct sim_script *script)
{
    printf("seed %" PRIu64 ": %u ranks in nodes of %u, %s, %s, %s, limits %s\n",
           script->seed, script->shape.n_ranks, script->shape.node_ranks,
           script->shape.has_crew   ? "crews"
           : script->has_background ? "inline"
                                    : "inline without a background thread",
           script->shape.is_timed ? "timed" : "on demand",
           script->shape.is_direct ? "direct" : "pooled", script->shape.limits);
    for (uint32_t i = 0; i < script->n_units; i++) {
        const struct sim_unit *unit = &script->units[i];

        if (!unit->is_left_out) {
            printf("  unit %u: %s, %u -> %u, tag %d, %u bytes, mode %d\n", i,
                   kind_names[unit->kind], unit->source, unit->dest, unit->tag,
                   unit->n_bytes, (int)unit->mode);
        }
    }
}
