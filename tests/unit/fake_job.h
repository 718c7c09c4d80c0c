/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job without processes, for who looks at jobs (apps/tools/look): the segment of its
 * machine, and the heaps of its nodes, in files that this process keeps open. One
 * thread.
 */
#ifndef TEST_UNIT_FAKE_JOB_H
#define TEST_UNIT_FAKE_JOB_H

#include "apps/tools/look/look.h"

enum {
    FAKE_RANKS = 5,
    FAKE_NODE_RANKS = 2,
    FAKE_NODES = 3,
    FAKE_SEGMENT_BYTES = 4096,
    FAKE_BOARD = 256 /* where the board begins in the segment */
};

/** The job; its heaps are zeroed. */
struct fake_job {
    struct bcs_sign *sign; /* the segment, mapped */
    struct bcs_board *board;
    struct bcs_look_found found;
    struct nic_layout layout;
    int segment, heaps[FAKE_NODES];
};

/** Make a job of FAKE_RANKS ranks that can be looked at. @return 0, end with
 *  fake_job_end; or -errno */
int fake_job_make(struct fake_job *fake_out);

/** Unmap and close all of it. */
void fake_job_end(struct fake_job *fake);

#endif
