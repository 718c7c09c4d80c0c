/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens in a run, step by step: printed if somebody wants to read it, and folded
 * into a number that is the same whenever the same happens.
 */
#ifndef TESTS_SIM_TRACE_H
#define TESTS_SIM_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_NO_UNIT UINT32_MAX

/** A run begins. */
void sim_trace_begin(bool prints);

/** The next step begins. */
void sim_trace_step(void);

/** Something happens in this step. unit may be SIM_NO_UNIT. */
void sim_trace(const char *what, uint32_t who, uint32_t unit);

/** Of all that has happened. */
uint64_t sim_trace_digest(void);

#endif
