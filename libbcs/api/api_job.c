/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entering and leaving a job without MPI, and its groups. Called by the program, in the
 * thread that uses the context. [BCS-MPI section 4.1]
 *
 * Groups need no agreement by messages: every process of the job counts all of them,
 * and the count gives a new one's context id and collective slot.
 */
#include "libbcs/api/api_job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "libbcs/api/attach.h"
#include "libbcs/api/context/api_call_kinds.h"
#include "libbcs/api/context/api_calls.h"
#include "libbcs/api/context/context.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/session/mapping.h"

static struct bcs_job_group *group_new(struct bcs_job *job, uint32_t size)
{
    struct bcs_job_group *made =
        calloc(1, sizeof(*made) + 2 * (size_t)size * sizeof(made->members[0]));

    if (made == NULL) {
        return NULL;
    }
    made->group = (struct bcs_group){
        .context_id = 2 * (job->n_groups + 1),
        .size = (int32_t)size,
        .ranks = made->members,
        .ports = made->members + size,
        .slot = (uint32_t)job->n_groups,
    };
    made->next = job->groups;
    job->groups = made;
    return made;
}

/** Set a member of a group. @param rank  in the job */
static void set_member(const struct bcs_context *context, struct bcs_job_group *made,
                       uint32_t member, uint32_t rank)
{
    made->members[member] = rank;
    made->members[(uint32_t)made->group.size + member] =
        bcs_port_of(context->map, rank);
}

/** A group is complete: begin to use its collective slot, which no other has used. */
static int group_open(struct bcs_context *context, struct bcs_group *group)
{
    return group->size == 1 ? 0 : bcs_group_open(context, group, 1);
}

static int make_world(struct bcs_context *context)
{
    struct bcs_job *job = context->job;
    struct bcs_job_group *made = group_new(job, context->size);

    if (made == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < context->size; i++) {
        set_member(context, made, i, i);
    }
    made->group.rank = (int32_t)context->rank;
    job->n_groups = 1;
    job->world = &made->group;
    return group_open(context, job->world);
}

static void job_free(struct bcs_job *job)
{
    while (job->groups != NULL) {
        struct bcs_job_group *group = job->groups;

        job->groups = group->next;
        free(group);
    }
    bcs_entry_fini(&job->entry);
    free(job);
}

int bcs_job_join(const struct bcs_entry *entry, struct bcs_port_map *map,
                 struct bcs_context **context_out)
{
    struct bcs_job *job = calloc(1, sizeof(*job));
    struct bcs_context *context = NULL;
    int rc = -ENOMEM;

    if (job == NULL) {
        bcs_port_map_destroy(map);
        return rc;
    }
    rc = bcs_attach(&entry->bootstrap, &entry->settings.nic, map,
                    &(struct bcs_hooks){0}, &context);
    if (rc < 0) {
        goto fail;
    }
    context->job = job;
    rc = make_world(context);
    if (rc < 0) {
        goto fail;
    }
    job->entry = *entry;
    *context_out = context;
    return 0;

fail:
    bcs_detach(context);
    job_free(job);
    return rc;
}

int bcs_init(struct bcs_context **context_out)
{
    struct bcs_entry entry;
    struct bcs_job_record record;
    struct mmds_plan plan = bcs_calls_plan();
    const struct bcs_tasks before = bcs_tasks_list();
    struct bcs_tasks tasks;
    struct bcs_port_map *map = NULL;
    int rc = bcs_entry_init(&entry, BCS_ENTRY_API);

    if (rc < 0) {
        return rc;
    }
    rc = bcs_mapping_find(&entry.bootstrap, &entry.settings.nic, &map);
    if (rc < 0) {
        goto fail;
    }
    rc = bcs_job_record_prepare(&entry.settings.mds, &entry.bootstrap, map,
                                &entry.settings.nic, &record);
    if (rc < 0) {
        bcs_port_map_destroy(map);
        goto fail;
    }
    rc = bcs_job_join(&entry, map, context_out);
    if (rc < 0) {
        bcs_job_record_undo(&record);
        goto fail;
    }
    tasks = bcs_tasks_since(&before);
    bcs_stand_set_tasks(*context_out, &tasks);
    (*context_out)->job->record = record;
    bcs_job_record_start(&record, *context_out, &entry.settings.mds, &plan);
    (*context_out)->collect = bcs_recorder_collect(record.recorder);
    return 0;

fail:
    bcs_entry_fini(&entry);
    return rc;
}

int bcs_finalize(struct bcs_context *context)
{
    struct bcs_recorder_end end;
    struct bcs_job *job;
    int rc;

    if (context == NULL) {
        return 0;
    }
    job = context->job;
    bcs_job_record_stop(&job->record);
    rc = bcs_api_barrier(context, job->world, NULL);
    end = bcs_job_record_slices(&job->record, context, rc);
    if (nic_engine_has_far(context->engine)) {
        /* they may need this machine to get there */
        bcs_meet_again(&job->entry.bootstrap, 0);
    }
    bcs_detach(context);
    bcs_job_record_end(&job->record, &end);
    bcs_job_record_close(&job->record);
    job_free(job);
    return rc;
}

struct bcs_group *bcs_world(const struct bcs_context *context)
{
    return context->job->world;
}

int32_t bcs_group_rank(const struct bcs_group *group)
{
    return group->rank;
}

int32_t bcs_group_size(const struct bcs_group *group)
{
    return group->size;
}

/** @return this process's rank in the list, -1: none, or -EINVAL: the list is wrong */
static int32_t find_self(const struct bcs_context *context, const int32_t ranks[],
                         int32_t n_ranks)
{
    int32_t self = -1;

    for (int32_t i = 0; i < n_ranks; i++) {
        if ((uint32_t)ranks[i] >= context->size) {
            bcs_error("bcs_group_create: no rank %d in a job of %u", ranks[i],
                      context->size);
            return -EINVAL;
        }
        for (int32_t k = 0; k < i; k++) {
            if (ranks[k] == ranks[i]) {
                bcs_error("bcs_group_create: rank %d is twice in the list", ranks[i]);
                return -EINVAL;
            }
        }
        if ((uint32_t)ranks[i] == context->rank) {
            self = i;
        }
    }
    return self;
}

int bcs_api_group_create(struct bcs_context *context, const int32_t ranks[],
                         int32_t n_ranks, struct bcs_group **group_out)
{
    struct bcs_job *job = context->job;
    struct bcs_job_group *made;
    int32_t self = find_self(context, ranks, n_ranks);
    int rc;

    if (n_ranks < 1) {
        bcs_error("bcs_group_create: an empty list");
        return -EINVAL;
    }
    if (self == -EINVAL) {
        return self;
    }
    if (job->n_groups == context->size * context->config.communicators) {
        bcs_error("bcs_group_create: the job has made all of its %" PRIu64
                  " groups; raise BCS_COMMUNICATORS (%" PRIu64 " for each process)",
                  job->n_groups, context->config.communicators);
        return -ENOSPC;
    }
    if (self < 0) {
        job->n_groups++;
        *group_out = NULL;
        return 0;
    }
    made = group_new(job, (uint32_t)n_ranks);
    if (made == NULL) {
        return -ENOMEM;
    }
    job->n_groups++;
    made->group.rank = self;
    for (int32_t i = 0; i < n_ranks; i++) {
        set_member(context, made, (uint32_t)i, (uint32_t)ranks[i]);
    }
    rc = group_open(context, &made->group);
    if (rc == 0) {
        *group_out = &made->group;
    }
    return rc;
}
