/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that a process records in. With a folder for the run it is a file there,
 * mapped, as long as the process runs: what was recorded is in it however the process
 * ends, and can be looked at meanwhile. The process that records makes it and takes it
 * away; others only read.
 */
#ifndef MDS_LIVE_H
#define MDS_LIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "mds/collect.h"

/** A number that says how the memory is laid out: that of this version of bcs. */
uint64_t mds_live_layout(void);

/** Make a file with room for so many bytes, all zeros. @return its descriptor; or
 *  -errno, and there is no file: -ENOSPC: no room for all of it */
int mds_live_make_file(size_t n_bytes, const char *path);

/** Open a file that others record in, for reading. @return its descriptor, *n_bytes_out
 *  is its length; -EAGAIN: it is empty; -EINVAL: it is shorter than n_least, or no
 *  file; or another -errno */
int mds_live_open(const char *path, size_t n_least, size_t *n_bytes_out);

/** Bytes that a recording takes. */
size_t mds_live_bytes(const struct mds_shape *shape);

/**
 * Make the memory of a recording, of zeros.
 *
 * @param path  of the file that it is in; NULL: in none
 * @return 0    end with mds_live_drop
 * @return <0 -errno; there is no file. -ENOSPC: no room for all of it, which the file
 *              has from the begin, so that writing to it never fails
 */
int mds_live_make(size_t n_bytes, const char *path, struct mds_collect **collect_out);

/** Give the memory back, and take its file away. @param path NULL: it has none, or is
 *  to keep it */
void mds_live_drop(struct mds_collect *collect, const char *path);

/**
 * Read a file that a process records in, or has left behind.
 *
 * @param copy_out for free: as it was at a moment at which the process may have been
 *                  writing, so that numbers need not agree; but all that says where
 *                  something is, is sound
 * @return 0
 * @return -EAGAIN  the process has just made it, and it is empty or of zeros
 * @return -ENOENT  it is not there, or not any more
 * @return -EINVAL  it is no such file, or of another version; or another -errno
 */
int mds_live_read(const char *path, struct mds_collect **copy_out);

#endif
