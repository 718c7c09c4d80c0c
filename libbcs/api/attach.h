/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attaching a process to its node: bootstrap over a caller-given exchange, the context
 * that all API calls take, and its end; what the caller does for the context while it
 * waits, and what it may ask of it. All else of a context is in context.h. [BCS-MPI
 * section 4.1]
 */
#ifndef BCS_API_ATTACH_H
#define BCS_API_ATTACH_H

#include "libbcs/api/context/group.h"
#include "libbcs/api/context/hooks.h"
#include "libbcs/fabric/base/stamp.h"
#include "libbcs/fabric/ring/port_map.h"
#include "libbcs/session/bootstrap.h"
#include "nic_threads/nic_config.h"

/**
 * Attach this process to the job's memory. Collective over the bootstrap. A forked
 * child that uses the context is ended with a message.
 *
 * @param config  already checked; copied
 * @param map     of bcs_mapping_find; becomes the context's, or is freed
 * @param hooks   copied
 * @return 0        attached; end with bcs_detach
 * @return -ENOTSUP the job spans several machines; logged once
 * @return -EPERM   BCS_COPY=direct, but the kernel forbids it; logged once
 * @return <0       -errno, logged
 */
int bcs_attach(const struct bcs_bootstrap *bootstrap, const struct nic_config *config,
               struct bcs_port_map *map, const struct bcs_hooks *hooks,
               struct bcs_context **context_out);

/** Detach: unmap and free. What was sent stays readable by others. Accepts NULL. */
void bcs_detach(struct bcs_context *context);

/** Have the report of a deadlock written into a file, too, as JSON; once at most, by
 *  the process that attached. @return 0 or -ENOMEM */
int bcs_context_report_into(struct bcs_context *context, const char *path);

/** This process's number in the job, from 0. */
uint32_t bcs_context_rank(const struct bcs_context *context);

/** Number of processes in the job. */
uint32_t bcs_context_size(const struct bcs_context *context);

/** The port of each rank of the job, until the process detaches; NULL: each rank is its
 *  own port. */
const uint32_t *bcs_context_ports(const struct bcs_context *context);

/** How many communicators this process may lead. */
uint32_t bcs_context_communicators(const struct bcs_context *context);

/** How many requests its program may have. */
uint32_t bcs_context_requests(const struct bcs_context *context);

/** Whether the job has more processes than cores. */
bool bcs_context_is_oversubscribed(const struct bcs_context *context);

/** Whether more of them are awake now than there are cores. */
bool bcs_context_is_crowded(const struct bcs_context *context);

/** Number of slices this process's node has taken part in. */
uint64_t bcs_context_slices(const struct bcs_context *context);

/** Where the number of the slice stands that runs or ran last on this process's node,
 *  until it detaches, to be read atomically; NULL with strobes on demand. */
const uint64_t *bcs_context_slice_number(const struct bcs_context *context);

/** The stamps of this process, for who records its calls, until it detaches; NULL: the
 *  job has none. */
struct bcs_stamps *bcs_context_stamps(struct bcs_context *context);

/** When the machine's timed slices have begun, the same; NULL with strobes on
 *  demand. */
const struct bcs_slice_begins *
bcs_context_slice_begins(const struct bcs_context *context);

/** How regular the timed strobes have been; all zero with strobes on demand. */
struct bcs_strobes {
    uint64_t slice_ns;
    uint64_t n_sent;
    uint64_t n_left_out; /* slices of the clock without a strobe, as one was late */
    uint64_t n_idle;     /* slices of the clock without a strobe, as none was needed */
    uint64_t late_ns;    /* 99 % were at most so late */
    uint64_t is_prompt;  /* the sender has real-time priority */
};

/** The strobes so far. */
struct bcs_strobes bcs_context_strobes(const struct bcs_context *context);

/** A number that no other group of the job has, of what the leader of a slot has
 *  counted for all of its slots. */
uint64_t bcs_group_id(uint64_t number, uint32_t slot);

/**
 * Open a group's collective slot, before its first collective; every member calls it.
 *
 * @param base  larger than at any earlier use of the slot; the same on all members
 */
int bcs_group_open(struct bcs_context *context, struct bcs_group *group, uint64_t base);

#endif
