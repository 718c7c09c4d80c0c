/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What members of a collective must agree on, in words, for whoever is told that they
 * do not. For libbcs/api, and for the shim's lint. Pure functions.
 */
#ifndef LIBBCS_API_RECORD_COLLECTIVE_WORDS_H
#define LIBBCS_API_RECORD_COLLECTIVE_WORDS_H

#include <stdint.h>

enum { BCS_KERNEL_WORDS_BYTES = 32, BCS_PART_WORDS_BYTES = 96 };

/** The operation and the type of a reduction, as "sum of int32". @param kernel -1:
 *  "" */
void bcs_kernel_words(int kernel, char words_out[BCS_KERNEL_WORDS_BYTES]);

/** What a collective by messages is, by the tag of its messages: "broadcast". */
const char *bcs_plan_words(int32_t tag);

/** The type of a kernel. @param type  enum nic_reduce_type */
const char *bcs_type_words(int type);

/** Whose part a message is, by its tag: "a broadcast, root 0"; "a reduction, root 1,
 *  sum of int32" */
void bcs_part_words(int32_t tag, char words_out[BCS_PART_WORDS_BYTES]);

#endif
