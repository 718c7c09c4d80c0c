/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who has imported a region is counted at its owner, in one step with a look whether
 * that very export is still open. So its memory is not used again while somebody may
 * write to it. Called by the thread that has the region open, and by the owner's
 * service for processes of other machines.
 */
#ifndef LIBBCS_CHANNEL_REGION_USERS_H
#define LIBBCS_CHANNEL_REGION_USERS_H

#include "libbcs/channel/channel_state.h"

/** How often a region of a near process is imported; see REMOTE_USERS. */
uint64_t *region_users_of(const struct channels *channels, uint32_t rank,
                          uint32_t number);

/** Count a process in at a near owner. @return whether it is still that export, and not
 *  taken back */
bool region_count_in(const struct channels *channels, uint32_t rank, uint32_t number,
                     uint64_t serial);

/** Count it out. What it has done with the region is done. */
void region_count_out(const struct channels *channels, uint32_t rank, uint32_t number);

/** Count this process in at an owner, wherever that is. @return 0, BCS_E_PENDING: it is
 *  not that export any more; or -errno */
int region_enter(struct channels *channels, uint32_t rank, uint32_t number,
                 uint64_t serial);

/** Count it out there. @return 0 or -errno */
int region_leave(struct channels *channels, uint32_t rank, uint32_t number,
                 uint64_t serial);

#endif
