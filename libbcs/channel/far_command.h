/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands to regions of other machines. Each asks the owner's service (far_service.h)
 * and waits for its answer. Called by the thread that has the region open; a command is
 * checked before.
 */
#ifndef LIBBCS_CHANNEL_FAR_COMMAND_H
#define LIBBCS_CHANNEL_FAR_COMMAND_H

#include "libbcs/channel/remote_state.h"

/** Count this process among the users of an export. @return 0, BCS_E_PENDING: it is not
 *  that export any more; or -errno */
int remote_far_import(struct channels *channels, uint32_t rank, uint32_t number,
                      uint64_t serial);

/** Count it out. @return 0 or -errno */
int remote_far_release(struct channels *channels, uint32_t rank, uint32_t number,
                       uint64_t serial);

/** bcs_remote_write. */
int remote_far_write(const struct bcs_remote *remote, uint64_t offset, const void *data,
                     size_t n_bytes);

/** bcs_remote_read. */
int remote_far_read(const struct bcs_remote *remote, uint64_t offset, void *data_out,
                    size_t n_bytes);

/** bcs_remote_accumulate. */
int remote_far_accumulate(const struct bcs_remote *remote, uint64_t offset,
                          const struct bcs_remote_accumulation *accumulation,
                          size_t element_bytes);

/** remote_append. */
int remote_far_append(const struct bcs_remote *remote, uint64_t offset,
                      const void *record, size_t n_bytes, uint64_t *wanted_out);

/**
 * Ask whether a word is at_least so much, and to be told when it may be.
 *
 * @param id_out  which wait it is
 * @return 0, BCS_E_PENDING: see remote_far_is_told; BCS_E_CLOSED, or -errno
 */
int remote_far_wait(const struct bcs_remote *remote, uint64_t offset, uint64_t at_least,
                    uint64_t *id_out);

/** Whether a wait is over. @param is_there_out  the word was; else the region is closed
 */
bool remote_far_is_told(const struct channels *channels, uint64_t id,
                        bool *is_there_out);

#endif
