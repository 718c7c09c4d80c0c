/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces; see trace.h.
 */
#include "tests/sim/trace.h"

#include <inttypes.h>
#include <stdio.h>

static struct {
    uint64_t n_steps, digest;
    bool prints;
} trace;

void sim_trace_begin(bool prints)
{
    trace.n_steps = 0;
    trace.digest = UINT64_C(14695981039346656037);
    trace.prints = prints;
}

void sim_trace_step(void)
{
    trace.n_steps++;
}

void sim_trace(const char *what, uint32_t who, uint32_t unit)
{
    const uint64_t words[] = {trace.n_steps, (uint8_t)what[0], who, unit};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        trace.digest = (trace.digest ^ words[i]) * UINT64_C(1099511628211);
    }
    if (trace.prints) {
        printf("%8" PRIu64 "  %s %" PRIu32, trace.n_steps, what, who);
        printf(unit != SIM_NO_UNIT ? ": unit %" PRIu32 "\n" : "\n", unit);
    }
}

uint64_t sim_trace_digest(void)
{
    return trace.digest;
}
