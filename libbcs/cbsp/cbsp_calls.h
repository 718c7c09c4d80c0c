/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is behind the entry points of <bcs/cbsp.h>: cbsp_call_<name> does what
 * cBSP_<name> does, and is not recorded; and when recording starts and stops. In the
 * thread that is in a function of <bcs/cbsp.h>.
 */
#ifndef LIBBCS_CBSP_CBSP_CALLS_H
#define LIBBCS_CBSP_CBSP_CALLS_H

#include <bcs/cbsp.h>

#include "libbcs/cbsp/cbsp_job_state.h"

#define CBSP_CALL(timing, name, parameters, arguments, NOTE)                           \
    int cbsp_call_##name parameters;
#include "libbcs/cbsp/call_kinds.def"

/** Start recording a process that has entered, if the settings ask for it.
 *  Collective. */
void cbsp_calls_record(struct cbsp *cbsp);

/** Stop it: the process leaves. */
void cbsp_calls_stop(struct cbsp *cbsp);

#endif
