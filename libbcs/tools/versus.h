/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcsrun --versus: the same job natively and under BCS, in alternating pairs.
 */
#ifndef BCS_TOOLS_VERSUS_H
#define BCS_TOOLS_VERSUS_H

/**
 * Run n_pairs pairs and print each pair's wall seconds, the medians and their ratio.
 * The jobs' output is shown only if one fails, which ends the comparison.
 *
 * @return the exit status for bcsrun: 0, or that of the run that failed
 */
int versus_run(char *const *native, char *const *bcs, int n_pairs);

#endif
