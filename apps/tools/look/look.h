/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looking at running jobs from outside: which there are on this machine, and where
 * their ranks stand (libbcs/fabric/ring/stand.h). Jobs are found by the file descriptor
 * that the first process of each keeps of its machine's segment, in /proc: the kernel
 * lets only the same user, or root, open it. All is read only; a rank that sleeps and
 * has not told where it stands is woken without a reason, which changes no memory. What
 * is read is somebody else's, and checked before it is used as a size or a place. Used
 * by one thread of a process that is no rank.
 */
#ifndef APPS_TOOLS_LOOK_LOOK_H
#define APPS_TOOLS_LOOK_LOOK_H

#include <bcs/primitives.h>
#include <stdbool.h>

#include "libbcs/fabric/base/shm_segment.h"
#include "libbcs/fabric/ring/board.h"
#include "libbcs/fabric/ring/port_map.h"
#include "libbcs/fabric/ring/sign.h"
#include "libbcs/fabric/ring/stand.h"

/** Where a segment of a job is kept open. */
struct bcs_look_found {
    struct bcs_shm_handle handle;
    uint64_t device,
        inode; /* of the segment: a job may be found through several processes */
};

/** A job that is looked at. */
struct bcs_look;

/**
 * Find the jobs that this user may look at.
 *
 * @param found_out  for free, by pid; NULL if there are none
 * @return how many, or -ENOMEM, or -errno of /proc
 */
int bcs_look_find(struct bcs_look_found **found_out);

/** bcs_look_find of one process: the job that it is of, whichever of the job's
 *  processes that is. */
int bcs_look_find_of(int64_t pid, struct bcs_look_found **found_out);

/**
 * Look at a job.
 *
 * @param version_out  [BCS_SIGN_VERSION_BYTES] of the job, ended by a zero
 * @return 0         end with bcs_look_close
 * @return -EPROTO   it is of another version
 * @return -EAGAIN   it is just beginning
 * @return -EINVAL   it is damaged; -ENOMEM, or another -errno: it has ended, say
 */
int bcs_look_open(const struct bcs_look_found *found, struct bcs_look **look_out,
                  char *version_out);

/** End looking. Accepts NULL. */
void bcs_look_close(struct bcs_look *look);

/** What is known of the job: a copy of the board's head, without its nodes, as it was
 *  when it was checked, whatever the job's owner does to it since. */
const struct bcs_board *bcs_look_board(const struct bcs_look *look);

/** How many ranks the job has. */
uint32_t bcs_look_n_ranks(const struct bcs_look *look);

/** The rank of each port of the layout, BCS_PORT_HOLE of one that is of no rank. NULL:
 *  each rank is its own port. */
const uint32_t *bcs_look_ranks(const struct bcs_look *look);

/** Where everything is in the heaps of its nodes. */
const struct nic_layout *bcs_look_layout(const struct bcs_look *look);

/** The nodes of the machine that is looked at. */
struct bcs_node_range bcs_look_near(const struct bcs_look *look);

/** The heap of a near node: a file to read, which stays the look's. */
int bcs_look_file(const struct bcs_look *look, uint32_t node);

/** Whether a rank is seen to be in a call that waits: it sleeps in it, or polls at its
 *  own desk, where it holds the lock meanwhile, or has told. With timed strobes, and
 *  the driver `threads`, who polls is not seen until it has told. */
bool bcs_look_is_waiting(const struct bcs_look *look, uint32_t rank);

/** Whether a rank is on this machine. Of others it is known where they stand, on the
 *  machine of the referee, as they have told it last; and no more. */
bool bcs_look_is_near(const struct bcs_look *look, uint32_t rank);

/** Whether it is known of a rank where it stands, if it waits for long: it is on this
 *  machine, or has told. */
bool bcs_look_is_known(const struct bcs_look *look, uint32_t rank);

/** Of a thread on another machine: the files that its frames are in. @return false: the
 *  rank's process is on this machine, or of no known one */
bool bcs_look_files_of(const struct bcs_look *look, uint32_t rank, uint32_t thread,
                       struct bcs_stand_files *files_out);

/** Process of a rank, on its machine; 0: not known. */
int64_t bcs_look_pid(const struct bcs_look *look, uint32_t rank);

/** Wake the ranks of this machine that sleep and have told nothing, and give them some
 *  milliseconds to tell. */
void bcs_look_ask(const struct bcs_look *look);

/**
 * A number for all that messages and collectives change in the job's memory on this
 * machine: what is posted, read, matched, copied and completed. Equal at two looks:
 * nothing of that has moved between them. Looking, sleeping and waking do not change
 * it, nor does polling in vain.
 *
 * @return 0 or -errno
 */
int bcs_look_sum(const struct bcs_look *look, uint64_t *sum_out);

/** Whether a job that was found is still there. */
bool bcs_look_is_there(const struct bcs_look_found *found);

/** bcs_stand_read of a thread of a rank. */
int bcs_look_stand(const struct bcs_look *look, uint32_t rank, uint32_t thread,
                   struct bcs_stand *stand_out, uint64_t *sequence_out);

#endif
