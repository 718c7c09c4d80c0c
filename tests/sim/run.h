/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries out a script, step by step in an order that the seed gives, and compares what
 * comes of it with what must.
 */
#ifndef TESTS_SIM_RUN_H
#define TESTS_SIM_RUN_H

#include "tests/sim/script.h"

/**
 * Run a script.
 *
 * @param traces      print the steps in which anything was done
 * @param digest_out  of all steps and what came of them: the same whenever it is run
 * @return NULL       all is as it must be
 * @return            what is not, static until the next run
 */
const char *sim_run(const struct sim_script *script, bool traces, uint64_t *digest_out);

#endif
