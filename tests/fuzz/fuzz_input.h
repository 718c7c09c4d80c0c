/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one function of each fuzz_*.c, by the name that libFuzzer wants.
 */
#ifndef TEST_FUZZ_INPUT_H
#define TEST_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

/** Give bytes to a reader: fuzz_run.c to that of runs, fuzz_job.c to that of running
 *  jobs, fuzz_place.c to that of debug information. It is wrong if that crashes, or a
 *  sanitizer finds something. @return 0 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#endif
