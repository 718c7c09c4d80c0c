/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a machine knows of the ranks of other machines: copies of where they stand,
 * which their witnesses have put into the heap of node 0
 * (nic_threads/referee/witness.c). Used by look.c, on the machine that has node 0;
 * elsewhere nothing is known. Read only.
 */
#ifndef APPS_TOOLS_LOOK_FAR_RECORDS_H
#define APPS_TOOLS_LOOK_FAR_RECORDS_H

#include "libbcs/fabric/base/shm_segment.h"
#include "libbcs/fabric/ring/nic_memory.h"
#include "libbcs/fabric/ring/stand.h"

/** All zero: nothing is known. */
struct bcs_far_records {
    const char *base;
    uint64_t n_bytes;
};

/** Map them from the heap of node 0. @return 0 or -errno; end with
 *  bcs_far_records_close */
int bcs_far_records_open(const struct bcs_shm_segment *heap,
                         const struct nic_layout *layout,
                         struct bcs_far_records *records_out);

/** Accepts a zeroed one. */
void bcs_far_records_close(struct bcs_far_records *records);

/** What is known of a port. @return NULL: nothing */
const struct bcs_far_stand *bcs_far_records_of(const struct bcs_far_records *records,
                                               const struct nic_layout *layout,
                                               uint32_t port);

#endif
