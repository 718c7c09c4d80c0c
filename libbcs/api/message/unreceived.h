/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the program that nobody has received, at the end of a job. Called by the
 * process that owns the context.
 */
#ifndef LIBBCS_API_MESSAGE_UNRECEIVED_H
#define LIBBCS_API_MESSAGE_UNRECEIVED_H

#include <stdint.h>

struct bcs_context;
struct bcs_group;

/** A message that has come. */
struct bcs_unreceived {
    uint32_t from; /* whose, by its number in the job */
    int32_t tag;
    uint64_t n_bytes;
    uint64_t context_id; /* of the group */
};

/**
 * List messages to this process that nobody has received, the oldest first. All
 * processes call it after the last of their sends: each sends a message without data to
 * each other one, behind which nothing comes any more.
 *
 * @param world       all processes of the job, by their numbers
 * @param n_out       how many there are in the list
 * @return 0 or -ENOMEM
 */
int bcs_unreceived(struct bcs_context *context, const struct bcs_group *world,
                   struct bcs_unreceived *list_out, uint32_t n_most, uint32_t *n_out);

#endif
