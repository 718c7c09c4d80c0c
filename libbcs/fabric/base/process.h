/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether another process still lives, and which file a place in it is in. Any thread;
 * for who has waited long.
 */
#ifndef LIBBCS_FABRIC_BASE_PROCESS_H
#define LIBBCS_FABRIC_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Whether a process has ended, even if its parent has not taken notice yet. False
 *  where the system cannot say (before Linux 5.3, or without a free descriptor) as long
 *  as the process has a number. Some system calls. */
bool bcs_process_has_ended(uint64_t pid);

/**
 * A word that names this process, never 0: its number and when it started, so that a
 * later process of the same number is not taken for it. Some system calls; changes with
 * fork.
 */
uint64_t bcs_process_word(void);

/** Whether the process of such a word has ended. A stopped one has not. Some system
 *  calls. */
bool bcs_process_word_has_ended(uint64_t word);

/** Find the file that an address of a process is in, by /proc.
 *  @param path_out  [n_bytes] ended by a zero, cut if need be; "": none, or unknown */
void bcs_process_file(int64_t pid, uint64_t address, char *path_out, size_t n_bytes);

#endif
