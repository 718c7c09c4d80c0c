/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bootstrap of one process: agree on the layout, map the job's memory, find out whether
 * processes may copy each other's memory. Called once by each process, from the thread
 * that initializes the library.
 */
#include "libbcs/api/attach.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libbcs/api/post.h"
#include "libbcs/base/clock.h"
#include "libbcs/base/log.h"

/** What every process tells the others first. */
struct introduction {
    struct bcs_shm_handle segment; /* of rank 0 */
    cpu_set_t cpus;                /* it may run on */
    char host[64];
    int64_t pid;
    uint64_t probe; /* address of a word to read, to try direct copies */
    int64_t error;
};

static int synchronize(const struct bcs_bootstrap *bootstrap, int error)
{
    int64_t mine = error;
    int64_t *all = calloc(bootstrap->size, sizeof(*all));
    int rc = all == NULL ? -ENOMEM : 0;

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

static uint32_t count_cpus(const struct introduction *all, uint32_t n)
{
    cpu_set_t any;

    CPU_ZERO(&any);
    for (uint32_t i = 0; i < n; i++) {
        CPU_OR(&any, &any, &all[i].cpus);
    }
    return CPU_COUNT(&any) > 0 ? (uint32_t)CPU_COUNT(&any) : 1;
}

/** Read a word of the next rank's memory, as a direct copy would. */
static bool can_read(const struct introduction *other, uint64_t expected)
{
    uint64_t word = 0;
    struct iovec to = {&word, sizeof(word)};
    struct iovec from = {(void *)(uintptr_t)other->probe, sizeof(word)}; // NOLINT

    return process_vm_readv((pid_t)other->pid, &to, 1, &from, 1, 0) == sizeof(word) &&
           word == expected;
}

/** Whether all processes may copy directly: every one tries its neighbour. */
static int try_direct(const struct bcs_bootstrap *bootstrap,
                      const struct introduction *all, bool *is_direct_out)
{
    const struct introduction *next = &all[(bootstrap->rank + 1) % bootstrap->size];
    bool can = can_read(next, (uint64_t)next->pid);
    int rc = synchronize(bootstrap, can ? 0 : -EPERM);

    *is_direct_out = rc == 0;
    return rc == -EPERM ? 0 : rc;
}

static int map_memory(struct bcs_context *context,
                      const struct bcs_bootstrap *bootstrap,
                      const struct introduction *all)
{
    if (bootstrap->rank == 0) {
        return 0;
    }
    return bcs_shm_segment_attach(&context->segment, &all[0].segment);
}

static int introduce(struct bcs_context *context, const struct bcs_bootstrap *bootstrap,
                     const uint64_t *probe, struct introduction *all)
{
    struct introduction me = {.pid = getpid(), .probe = (uint64_t)(uintptr_t)probe};
    struct nic_layout layout;
    int rc = nic_engine_layout(bootstrap->size, &context->config, &layout);

    gethostname(me.host, sizeof(me.host) - 1);
    sched_getaffinity(0, sizeof(me.cpus), &me.cpus);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* Yama: siblings may copy */
    if (rc == 0 && bootstrap->rank == 0) {
        rc =
            bcs_shm_segment_create(&context->segment, nic_engine_memory_bytes(&layout));
        me.segment = bcs_shm_segment_handle(&context->segment);
    }
    me.error = rc;
    rc = bootstrap->allgather(bootstrap->arg, &me, sizeof(me), all);
    if (rc == 0 && all[0].error != 0) {
        rc = (int)all[0].error;
    }
    if (rc == 0 && !is_one_machine(all, bootstrap->size)) {
        if (bootstrap->rank == 0) {
            bcs_error("the job spans several machines (%s and others); this version "
                      "carries jobs on one machine",
                      all[0].host);
        }
        rc = -ENOTSUP;
    }
    return rc;
}

static int choose_copy(struct bcs_context *context,
                       const struct bcs_bootstrap *bootstrap,
                       const struct introduction *all, bool *is_direct_out)
{
    int rc;

    *is_direct_out = false;
    if (context->config.copy == NIC_COPY_POOLED) {
        return 0;
    }
    rc = try_direct(bootstrap, all, is_direct_out);
    if (rc == 0 && !*is_direct_out && context->config.copy == NIC_COPY_DIRECT) {
        if (bootstrap->rank == 0) {
            bcs_error("BCS_COPY=direct: the kernel does not let the ranks read each "
                      "other's memory (process_vm_readv); use BCS_COPY=pooled or auto");
        }
        rc = -EPERM;
    }
    return rc;
}

static struct nic_engine_params engine_params(const struct bcs_context *context,
                                              bool is_direct)
{
    return (struct nic_engine_params){
        .base = context->segment.base,
        .n_ports = context->size,
        .port = context->rank,
        .config = &context->config,
        .is_direct = is_direct,
    };
}

static int start_engine(struct bcs_context *context,
                        const struct bcs_bootstrap *bootstrap,
                        const struct introduction *all, bool is_direct)
{
    const struct nic_engine_params params = engine_params(context, is_direct);
    int rc = nic_engine_create(&params, &context->engine);

    if (rc < 0) {
        return rc;
    }
    rc = bcs_poster_init(&context->poster, context->segment.base,
                         nic_layout_port(&context->engine->layout, bootstrap->rank),
                         (uint32_t)context->config.descriptors);
    if (rc < 0) {
        return rc;
    }
    context->poster.port->pid = getpid();
    context->poster.port->rank = bootstrap->rank;
    if (bootstrap->rank == 0) {
        context->engine->machine->n_cpus = count_cpus(all, bootstrap->size);
    }
    context->driver = nic_driver_find(&context->config);
    context->pending = calloc(context->config.descriptors, sizeof(*context->pending));
    context->ordered = calloc(context->config.descriptors, sizeof(*context->ordered));
    return context->pending == NULL || context->ordered == NULL ? -ENOMEM : 0;
}

/** Start what the driver needs in this process. All nodes must be set up. */
static int open_service(struct bcs_context *context, bool is_direct)
{
    const struct nic_engine_params params = engine_params(context, is_direct);

    return context->driver->open(&params, &context->service);
}

int bcs_attach(const struct bcs_bootstrap *bootstrap, const struct nic_config *config,
               struct bcs_context **context_out)
{
    struct bcs_context *context = calloc(1, sizeof(*context));
    struct introduction *all = calloc(bootstrap->size, sizeof(*all));
    uint64_t start_ticks = bcs_clock_ticks(), start_ns = bcs_clock_now_ns();
    uint64_t probe = (uint64_t)getpid();
    bool is_direct = false;
    int rc = -ENOMEM;

    if (context == NULL || all == NULL) {
        goto fail;
    }
    context->config = *config;
    context->rank = bootstrap->rank;
    context->size = bootstrap->size;
    rc = introduce(context, bootstrap, &probe, all);
    if (rc < 0) {
        goto fail;
    }
    rc = synchronize(bootstrap, map_memory(context, bootstrap, all));
    if (rc < 0) {
        goto fail;
    }
    bcs_shm_segment_close_fd(&context->segment);
    rc = choose_copy(context, bootstrap, all, &is_direct);
    if (rc < 0) {
        goto fail;
    }
    rc = synchronize(bootstrap, start_engine(context, bootstrap, all, is_direct));
    if (rc < 0) {
        goto fail;
    }
    context->engine->spin_ticks = config->spin_ns * (bcs_clock_ticks() - start_ticks) /
                                  (bcs_clock_now_ns() - start_ns + 1);
    context->engine->patience_ticks = context->engine->spin_ticks;
    rc = synchronize(bootstrap, open_service(context, is_direct));
    if (rc < 0) {
        goto fail;
    }
    free(all);
    *context_out = context;
    return 0;

fail:
    free(all);
    bcs_detach(context);
    return rc;
}

void bcs_detach(struct bcs_context *context)
{
    if (context == NULL) {
        return;
    }
    if (context->driver != NULL) {
        context->driver->close(context->service);
    }
    nic_engine_destroy(context->engine);
    bcs_poster_fini(&context->poster);
    free(context->pending);
    free(context->ordered);
    bcs_plans_fini(context);
    bcs_shm_segment_fini(&context->segment);
    free(context);
}

uint64_t bcs_context_slices(const struct bcs_context *context)
{
    const struct nic_engine *engine = context->engine;

    return __atomic_load_n(&engine->views[engine->home].node->slice, __ATOMIC_RELAXED);
}

struct bcs_strobes bcs_context_strobes(const struct bcs_context *context)
{
    const struct nic_strobe_counts *counts = &context->engine->views[0].node->strobes;
    uint64_t slice_ns = context->config.slice_ns;

    if (!context->engine->is_timed) {
        return (struct bcs_strobes){0};
    }
    return (struct bcs_strobes){
        .slice_ns = slice_ns,
        .n_sent = __atomic_load_n(&counts->n_strobes, __ATOMIC_RELAXED),
        .n_left_out = __atomic_load_n(&counts->n_left_out, __ATOMIC_RELAXED),
        .n_idle = __atomic_load_n(&counts->n_idle, __ATOMIC_RELAXED),
        .late_ns = nic_strobe_counts_late_ns(counts, slice_ns, 0.99),
        .is_prompt = counts->is_prompt,
    };
}

const char *bcs_context_copy_name(const struct bcs_context *context)
{
    return context->engine->is_direct ? "direct" : "pooled";
}

int bcs_group_open(struct bcs_context *context, struct bcs_group *group, uint64_t base)
{
    const struct nic_layout *layout = &context->engine->layout;
    struct nic_group_members members = {.base = base,
                                        .n_members = (uint32_t)group->size};
    struct bcs_descriptor *entry;

    for (int32_t i = 0; i < group->size; i++) {
        uint32_t node = nic_layout_node(layout, group->ports[i]);
        bcs_node_set_add(&members.nodes, node);
        members.n_local += node == context->engine->home;
    }
    group->n_local = members.n_local;
    entry = bcs_post_begin(context, BCS_GROUP_OPEN);
    entry->port = group->slot;
    memcpy(entry->payload, &members, sizeof(members));
    bcs_post_end(context, entry);
    return 0;
}
