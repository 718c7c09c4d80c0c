/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Appending to buffers in regions. Called by the program's thread that has the region
 * open, and by the service, for processes of other machines.
 */
#ifndef LIBBCS_CHANNEL_BUFFER_H
#define LIBBCS_CHANNEL_BUFFER_H

#include <bcs/remote.h>

/** Append as bcs_remote_append does. @param wanted_out  if there is no room: how much
 *  must be freed */
int remote_append(const struct bcs_remote *remote, uint64_t offset, const void *record,
                  size_t n_bytes, uint64_t *wanted_out);

#endif
