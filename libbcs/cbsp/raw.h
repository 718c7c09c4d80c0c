/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What BSPlib, a library of its own, needs of cBSP and <bcs/cbsp.h> does not have: all
 * that libbcs.so exports for it. Not installed, and for no other caller. Everything
 * runs in the thread that is in a function of <bsp.h>, in a process that has called
 * cBSP_initialize.
 */
#ifndef CBSP_RAW_H
#define CBSP_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcs/cbsp.h>

#include "libbcs/fabric/base/forked.h"

/** Numbers of what the MDS records of cBSP and BSPlib. */
enum cbsp_call {
#define CBSP_CALL(timing, name, parameters, arguments, NOTE) CBSP_CALL_cBSP_##name,
#define CBSP_BSPLIB_CALL(timing, name, parameters, arguments, n_bytes)                 \
    CBSP_CALL_bsp_##name,
#define CBSP_BSPLIB_OTHER(timing, name) CBSP_CALL_bsp_##name,
#include "libbcs/cbsp/call_kinds.def"
    CBSP_N_CALLS
};

/**
 * Send as cBSP_send does, to anywhere: the address need not be in an imported region.
 *
 * @param dest address in the receiver, unchecked; 0: the handler alone gets the data
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

/** Whether calls of this process are recorded: from cBSP_initialize to
 *  cBSP_finalize. */
BCS_PUBLIC bool cbsp_raw_records(void);

/**
 * A call of the program begins, while calls are recorded. What it calls of cBSP is part
 * of it.
 *
 * @param address  where it returns to
 * @return for cbsp_raw_end
 */
BCS_PUBLIC uint64_t cbsp_raw_begin(enum cbsp_call call, const void *address);

/** It ends. @param n_bytes  its size; -1: it has none */
BCS_PUBLIC void cbsp_raw_end(enum cbsp_call call, uint64_t began, int64_t n_bytes);

/** bcs_forked_refuse. */
BCS_PUBLIC void cbsp_raw_refuse_forked(const char *caller) __attribute__((noreturn));

#endif
