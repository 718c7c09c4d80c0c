/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one function of fuzz_run.c, by the name that libFuzzer wants.
 */
#ifndef TEST_FUZZ_RUN_H
#define TEST_FUZZ_RUN_H

#include <stddef.h>
#include <stdint.h>

/** Take bytes for a run and show it. @return 0 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#endif
