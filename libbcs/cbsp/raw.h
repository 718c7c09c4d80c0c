/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What BSPlib, a library of its own, needs of cBSP and <bcs/cbsp.h> does not have: all
 * that libbcs.so exports for it. Not installed, and for no other caller. Everything runs
 * in the thread that is in a function of <bsp.h>, in a process that has called
 * cBSP_initialize.
 */
#ifndef CBSP_RAW_H
#define CBSP_RAW_H

#include <stddef.h>
#include <stdint.h>

#include <bcs/cbsp.h>

#include "libbcs/base/forked.h"

/**
 * Send as cBSP_send does, to anywhere: the address need not be in an imported region.
 *
 * @param dest     address in the receiver, unchecked; 0: the handler alone gets the data
 * @param handler  of the program or a library; NULL: none
 * @return as cBSP_send
 */
BCS_PUBLIC int cbsp_raw_send(int node, uint64_t dest, const void *data, size_t n_bytes,
                             cBSP_handler_fn handler);

/**
 * End the superstep as cBSP_gsync does, and gather bits.
 *
 * @param bits          this process's, up to 8
 * @param all_bits_out  those that any process has given
 * @return as cBSP_gsync
 */
BCS_PUBLIC int cbsp_raw_gsync(uint8_t bits, uint8_t *all_bits_out);

/** bcs_forked_watch: forked children are known where the job's memory is. */
BCS_PUBLIC void cbsp_raw_watch_forks(struct bcs_forked *entry);

/** bcs_forked_refuse. */
BCS_PUBLIC void cbsp_raw_refuse_forked(const char *caller) __attribute__((noreturn));

#endif
