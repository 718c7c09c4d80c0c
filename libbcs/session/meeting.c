/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Introductions, the memory that all share, and the trial of direct copies; see
 * meeting.h.
 */
#include "libbcs/session/meeting.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/fabric/base/forked.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/log_job.h"
#include "libbcs/fabric/base/notice.h"
#include "libbcs/fabric/copy/process_copy.h"
#include "libbcs/session/caches.h"

/** What every process tells the others first. */
struct introduction {
    struct bcs_shm_handle machine;    /* of the first process of the machine */
    struct bcs_memory_address memory; /* of the first process of a node */
    struct bcs_slot_handle slot;      /* of the first process of the machine */
    cpu_set_t cpus;                   /* it may run on */
    char host[64];
    int64_t pid;
    uint64_t probe; /* address of a word to read, to try direct copies */
    int64_t error;
    uint64_t settings; /* nic_config_digest */
};

/** Length of a segment with the counts at its end. */
static size_t with_notices(uint64_t n_bytes)
{
    size_t n_alignment = _Alignof(max_align_t);

    return (n_bytes + n_alignment - 1) / n_alignment * n_alignment +
           sizeof(struct bcs_notices);
}

static struct bcs_notices *notices_of(const struct bcs_shm_segment *machine)
{
    void *end = (char *)machine->base + machine->n_bytes;

    return (struct bcs_notices *)end - 1;
}

void bcs_part(struct bcs_meeting *meeting)
{
    if (meeting->machine.base != NULL) {
        bcs_notice_unshare(notices_of(&meeting->machine));
    }
    bcs_shm_segment_fini(&meeting->machine);
    bcs_slot_leave(&meeting->slot);
    bcs_memory_destroy(meeting->memory);
    meeting->memory = NULL;
}

void bcs_meeting_take_away(const struct bcs_meeting *meeting)
{
    bcs_memory_take_away(meeting->memory);
    bcs_forked_take_away(meeting->machine.base, meeting->machine.n_bytes);
    bcs_slot_take_away(&meeting->slot);
}

/** @return -ENOMEM, logged */
static int no_memory(const char *what, uint32_t n)
{
    bcs_error("no memory for the %s, %u", what, n);
    return -ENOMEM;
}

int bcs_meet_again(const struct bcs_bootstrap *bootstrap, int error)
{
    int64_t mine = error;
    int64_t *all = calloc(bootstrap->size, sizeof(*all));
    int rc = all == NULL ? no_memory("results of all ranks", bootstrap->size) : 0;

    if (rc == 0) {
        rc = bootstrap->allgather(bootstrap->arg, &mine, sizeof(mine), all);
    }
    for (uint32_t i = 0; rc == 0 && i < bootstrap->size; i++) {
        rc = (int)all[i];
    }
    free(all);
    return rc;
}

static bool is_one_machine(const struct introduction *all, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (strncmp(all[i].host, all[0].host, sizeof(all[i].host)) != 0) {
            return false;
        }
    }
    return true;
}

/** Rank 0 says which other rank has other settings than it. */
static bool are_settings_equal(const struct bcs_bootstrap *bootstrap,
                               const struct introduction *all)
{
    for (uint32_t i = 1; i < bootstrap->size; i++) {
        if (all[i].settings != all[0].settings) {
            bcs_job_error("rank %u has other settings than rank 0: all variables of "
                          "bcs-info's section nic but BCS_SPIN must be the same",
                          i);
            return false;
        }
    }
    return true;
}

/** The rank of a port that is no hole. */
static uint32_t rank_of(const struct bcs_meeting_params *params, uint32_t port)
{
    return params->map == NULL ? port : bcs_rank_of(params->map, port);
}

/** What a process of this machine has told. @param i number of its port there */
static const struct introduction *near_one(const struct bcs_meeting_params *params,
                                           const struct bcs_meeting *meeting,
                                           const struct introduction *all, uint32_t i)
{
    return &all[rank_of(params, meeting->first + i)];
}

/** Copy the processors of the processes of this machine, in the order of their ports.
 *  @return NULL: no memory */
static cpu_set_t *near_cpus(const struct bcs_meeting_params *params,
                            const struct bcs_meeting *meeting,
                            const struct introduction *all)
{
    cpu_set_t *cpus = calloc(meeting->n_processes, sizeof(*cpus));

    for (uint32_t i = 0; cpus != NULL && i < meeting->n_processes; i++) {
        cpus[i] = near_one(params, meeting, all, i)->cpus;
    }
    return cpus;
}

/** Find on how many processors this machine's processes may run, and enter the slot. */
static void find_cpus(struct bcs_meeting *meeting, const cpu_set_t *cpus)
{
    cpu_set_t any;

    CPU_ZERO(&any);
    for (uint32_t i = 0; i < meeting->n_processes; i++) {
        CPU_OR(&any, &any, &cpus[i]);
    }
    if (CPU_COUNT(&any) == 0) {
        bcs_notice(BCS_NOTICE_CPUS_UNKNOWN,
                   "the kernel does not say on which processors the ranks may run");
        return;
    }
    meeting->n_cpus = (uint32_t)CPU_COUNT(&any);
    bcs_slot_enter(&meeting->slot, &any, meeting->n_processes);
}

static void tell_if_crowded(const struct bcs_meeting *meeting)
{
    uint32_t n_beside = bcs_jobs_n_beside(&meeting->slot.own);

    if (meeting->n_processes > meeting->n_cpus) {
        bcs_notice(BCS_NOTICE_CROWDED, "%u ranks have %u processors",
                   meeting->n_processes, meeting->n_cpus);
    } else if (meeting->n_processes + n_beside > meeting->n_cpus) {
        bcs_notice(BCS_NOTICE_CROWDED,
                   "%u ranks have %u processors, which %u ranks of other jobs use too",
                   meeting->n_processes, meeting->n_cpus, n_beside);
    }
}

/** How many of n processes that follow each other share a last-level cache, at
 *  least. */
static uint32_t count_sharing(const cpu_set_t *cpus, uint32_t n)
{
    uint32_t *caches = calloc(n, sizeof(*caches)), n_sharing;

    if (caches == NULL) {
        return 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        caches[i] = bcs_caches_find(BCS_CACHES_FOLDER, &cpus[i]);
    }
    n_sharing = bcs_caches_n_sharing(caches, n);
    free(caches);
    return n_sharing;
}

/** Read a word of another rank's memory, as a direct copy would. */
static bool can_read(const struct introduction *other, uint64_t expected)
{
    uint64_t word = 0;
    uint64_t n_done;

    return bcs_copy_read((pid_t)other->pid, other->probe, &word, sizeof(word),
                         &n_done) == 0 &&
           word == expected;
}

/** Whether all processes may copy directly: every one tries its neighbour on its
 *  machine. */
static int try_direct(const struct bcs_bootstrap *bootstrap,
                      const struct bcs_meeting_params *params,
                      const struct bcs_meeting *meeting, const struct introduction *all,
                      bool *is_direct_out)
{
    uint32_t after = (meeting->port - meeting->first + 1) % meeting->n_processes;
    const struct introduction *next = near_one(params, meeting, all, after);
    bool can = can_read(next, (uint64_t)next->pid);
    int rc = bcs_meet_again(bootstrap, can ? 0 : -EPERM);

    *is_direct_out = rc == 0;
    return rc == -EPERM ? 0 : rc;
}

/** The nodes of this process's machine; n 0: all. */
static struct bcs_node_range near_nodes(const struct bcs_meeting_params *params,
                                        const struct bcs_meeting *meeting)
{
    return params->map == NULL
               ? params->near
               : bcs_port_map_near(params->map, meeting->port / params->node_ranks);
}

/** Make this process's part of what all share: the first of the machine its state, the
 *  first of a node the node's heap. */
static int make_memory(const struct bcs_meeting_params *params,
                       struct bcs_meeting *meeting, struct introduction *me)
{
    uint32_t node = meeting->port / params->node_ranks;
    bool is_maker = meeting->port % params->node_ranks == 0;
    struct bcs_node_range near = near_nodes(params, meeting);
    struct bcs_memory_params memory = {
        .transport = nic_config_transport(params->config,
                                          near.n > 0 && near.n < meeting->n_nodes),
        .n_nodes = meeting->n_nodes,
        .heap_bytes = params->heap_bytes,
        .window_bytes = params->window_bytes,
        .whole_bytes = params->whole_bytes,
        .seed = params->config->defer,
        .near = bcs_node_set_range(near.first, near.n),
    };
    int rc;

    if (is_maker) {
        memory.makes = bcs_node_set_one(node);
    }
    rc = bcs_memory_create(&memory, &meeting->memory);
    if (rc == 0 && is_maker) {
        me->memory = bcs_memory_address(meeting->memory, node);
    }
    if (rc == 0 && meeting->port == meeting->first) {
        rc = bcs_shm_segment_create(&meeting->machine,
                                    with_notices(params->n_machine_bytes));
        me->machine = bcs_shm_segment_handle(&meeting->machine);
        bcs_slot_find(&meeting->slot);
        me->slot = bcs_slot_handle(&meeting->slot);
    }
    return rc;
}

/** The error of the first process that has one, or 0. */
static int first_error(const struct introduction *all, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (all[i].error != 0) {
            return (int)all[i].error;
        }
    }
    return 0;
}

static int introduce(const struct bcs_bootstrap *bootstrap,
                     const struct bcs_meeting_params *params, const uint64_t *probe,
                     struct bcs_meeting *meeting, struct introduction *all)
{
    struct introduction me = {
        .pid = getpid(),
        .probe = (uint64_t)(uintptr_t)probe,
        .settings = nic_config_digest(params->config),
    };
    int rc = params->error;

    gethostname(me.host, sizeof(me.host) - 1);
    sched_getaffinity(0, sizeof(me.cpus), &me.cpus);
    bcs_copy_permit();
    if (rc == 0) {
        rc = make_memory(params, meeting, &me);
    }
    me.error = rc;
    rc = bootstrap->allgather(bootstrap->arg, &me, sizeof(me), all);
    if (rc == 0 && all[0].error != 0) {
        rc = (int)all[0].error;
    }
    if (rc == 0 && params->map == NULL && !is_one_machine(all, bootstrap->size)) {
        bcs_job_error("the job spans several machines (%s and others); this version "
                      "carries cBSP and channels on one machine",
                      all[0].host);
        rc = -ENOTSUP;
    }
    if (rc == 0 && !are_settings_equal(bootstrap, all)) {
        rc = -EINVAL;
    }
    return rc == 0 ? first_error(all, bootstrap->size) : rc;
}

static int map_memory(const struct bcs_meeting_params *params,
                      const struct introduction *all, struct bcs_meeting *meeting)
{
    struct bcs_memory_address *addresses = calloc(meeting->n_nodes, sizeof(*addresses));
    int rc;

    if (addresses == NULL) {
        return no_memory("addresses of all heaps", meeting->n_nodes);
    }
    for (uint32_t i = 0; i < meeting->n_nodes; i++) {
        addresses[i] = all[rank_of(params, i * params->node_ranks)].memory;
    }
    rc = bcs_memory_connect(meeting->memory, addresses);
    free(addresses);
    if (rc == 0 && meeting->port != meeting->first) {
        rc = bcs_shm_segment_attach(&meeting->machine,
                                    &near_one(params, meeting, all, 0)->machine);
        bcs_slot_share(&meeting->slot, &near_one(params, meeting, all, 0)->slot);
    }
    return rc;
}

static int choose_copy(const struct bcs_bootstrap *bootstrap,
                       const struct bcs_meeting_params *params,
                       const struct introduction *all, struct bcs_meeting *meeting)
{
    uint64_t copy = params->config->copy;
    int rc;

    if (copy == NIC_COPY_POOLED) {
        return 0;
    }
    rc = try_direct(bootstrap, params, meeting, all, &meeting->is_direct);
    if (rc < 0 || meeting->is_direct) {
        return rc;
    }
    if (copy != NIC_COPY_AUTO) {
        bcs_job_error(
            "BCS_COPY=direct: the kernel does not let the ranks read each other's "
            "memory (process_vm_readv); use BCS_COPY=pooled or auto");
        return -EPERM;
    }
    if (bootstrap->rank == 0) {
        bcs_notice(BCS_NOTICE_COPY_FORBIDDEN,
                   "the kernel does not let the ranks read each other's memory "
                   "(process_vm_readv)");
    }
    return 0;
}

/** Find the ports of this process and of its machine. */
static struct bcs_meeting find_machine(const struct bcs_bootstrap *bootstrap,
                                       const struct bcs_meeting_params *params)
{
    const struct bcs_port_map *map = params->map;
    struct bcs_meeting meeting = {
        .n_nodes = (bootstrap->size - 1) / params->node_ranks + 1,
        .port = bootstrap->rank,
        .n_processes = bootstrap->size,
        .n_cpus = 1,
        .n_sharing = 1,
    };

    if (map != NULL) {
        struct bcs_node_range near;

        meeting.n_nodes = map->n_nodes;
        meeting.port = bcs_port_of(map, bootstrap->rank);
        near = near_nodes(params, &meeting);
        meeting.first = near.first * map->node_ranks;
        meeting.n_processes =
            (near.n - 1) * map->node_ranks + map->n_local[near.first + near.n - 1];
    } else if (params->near.n > 0) {
        meeting.first = params->near.first;
        meeting.n_processes = params->near.n;
    }
    return meeting;
}

/** Look at the processors of this machine's processes. The first process says if they
 *  are fewer than what wants to run. */
static void look_at_cpus(const struct bcs_meeting_params *params,
                         const struct introduction *all, struct bcs_meeting *meeting)
{
    uint32_t n = meeting->n_processes;
    cpu_set_t *cpus = near_cpus(params, meeting, all);

    if (cpus == NULL) {
        return;
    }
    find_cpus(meeting, cpus);
    if (meeting->port == meeting->first) {
        tell_if_crowded(meeting);
    }
    if (meeting->port == meeting->first && n <= meeting->n_cpus) {
        meeting->n_sharing = count_sharing(cpus, n);
    }
    free(cpus);
}

int bcs_meet(const struct bcs_bootstrap *bootstrap,
             const struct bcs_meeting_params *params, struct bcs_meeting *meeting_out)
{
    struct introduction *all = calloc(bootstrap->size, sizeof(*all));
    struct bcs_meeting meeting = find_machine(bootstrap, params);
    uint64_t probe = (uint64_t)getpid();
    int rc;

    if (all == NULL) {
        rc = no_memory("introductions of all ranks", bootstrap->size);
        goto fail;
    }
    rc = introduce(bootstrap, params, &probe, &meeting, all);
    if (rc < 0) {
        goto fail;
    }
    rc = bcs_meet_again(bootstrap, map_memory(params, all, &meeting));
    if (rc < 0) {
        goto fail;
    }
    bcs_memory_seal(meeting.memory);
    if (meeting.port == meeting.first) {
        bcs_shm_segment_keep_fd(&meeting.machine); /* by it the job is looked at */
    } else {
        bcs_shm_segment_close_fd(&meeting.machine);
    }
    bcs_notice_share(notices_of(&meeting.machine));
    rc = choose_copy(bootstrap, params, all, &meeting);
    if (rc < 0) {
        goto fail;
    }
    look_at_cpus(params, all, &meeting);
    free(all);
    *meeting_out = meeting;
    return 0;

fail:
    free(all);
    bcs_part(&meeting);
    return rc;
}
