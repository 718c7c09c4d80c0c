/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A number for what stands in a part of a file with holes, as a heap is one: equal if
 * nothing has changed. Holes are neither read nor filled. One thread.
 */
#ifndef APPS_TOOLS_LOOK_DATA_SUM_H
#define APPS_TOOLS_LOOK_DATA_SUM_H

#include <stdint.h>

/**
 * Add up what stands between two offsets, each word by its place. Zeros count as holes.
 * What changes meanwhile is seen as it was or as it is.
 *
 * @param fd     of a file system that knows its holes, as that of memfd_create
 * @param begin  offset, a multiple of 8, as end is
 * @return 0, *sum has been added to; or -errno
 */
int bcs_data_sum(int fd, uint64_t begin, uint64_t end, uint64_t *sum);

#endif
