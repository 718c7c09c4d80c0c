/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joining and leaving a job. Each process is a node of its own to the transport, so
 * that BCS_NODE_RANKS changes nothing. The heaps go with the last process, however it
 * ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "libbcs/channel/channel_record.h"
#include "libbcs/channel/channel_state.h"
#include "libbcs/channel/far_service.h"
#include "libbcs/fabric/base/align.h"
#include "libbcs/fabric/base/barrier.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/log.h"

/* How long a waiting process polls before it sleeps, unless BCS_SPIN says it. */
#define USUAL_SPIN_NS 50000u

/* Some trips of a line between cores that are apart, in which a writer fills ten
 * blocks. */
#define BEHIND_NS 400u

struct channels *channels_self;

static void channels_free(struct channels *channels)
{
    if (channels == NULL) {
        return;
    }
    for (uint32_t i = 0; channels->n_opened != NULL && i < channels->size; i++) {
        free(channels->n_opened[i]);
    }
    free(channels->n_opened);
    remote_service_stop(channels);
    remotes_fini(channels);
    channel_pool_fini(&channels->pool);
    bcs_core_destroy(channels->core);
    bcs_part(&channels->meeting);
    channel_helper_fini(&channels->helper);
    pthread_mutex_destroy(&channels->lock);
    free(channels);
}

/** @param is_apart  the job has several machines */
static void lay_out(struct channel_layout *layout, uint32_t n_procs, bool is_apart)
{
    struct bcs_heap heap;

    bcs_heap_init(&heap, UINT64_MAX / CHANNEL_PROCESSES_MOST);
    layout->bell_gva = bcs_heap_reserve(&heap, 64, 64);
    layout->helper_bell_gva = bcs_heap_reserve(&heap, 64, 64);
    layout->pids_gva = bcs_heap_reserve(&heap, n_procs * sizeof(uint64_t), 64);
    layout->doors_gva =
        bcs_heap_reserve(&heap,
                         (size_t)n_procs * CHANNEL_N_SIDES * BCS_CHANNEL_NUMBERS *
                             sizeof(struct channel_door),
                         64);
    layout->sleeper_gva = bcs_heap_reserve(&heap, sizeof(struct remote_sleeper), 64);
    layout->left_gva = bcs_heap_reserve(&heap, n_procs * sizeof(uint64_t), 64);
    layout->n_written_gva = bcs_heap_reserve(&heap, 64, 64);
    layout->users_gva =
        bcs_heap_reserve(&heap, BCS_REGION_NUMBERS * sizeof(uint64_t), 64);
    layout->exports_gva = bcs_heap_reserve(&heap, bcs_exports_bytes(n_procs), 64);
    layout->stand_gva = bcs_heap_reserve(&heap, sizeof(struct channel_stand), 64);
    layout->service_bell_gva = bcs_heap_reserve(&heap, 64, 64);
    layout->requests_gva = bcs_heap_reserve(
        &heap, (is_apart ? n_procs : 1) * sizeof(struct remote_far_request), 64);
    layout->answer_gva = bcs_heap_reserve(&heap, sizeof(struct remote_far_answer), 64);
    layout->told_gva = bcs_heap_reserve(&heap, 64, 64);
    layout->pool_gva = bcs_heap_reserve(&heap, CHANNEL_POOL_BYTES, BCS_HEAP_ALIGN);
    layout->heap_bytes = bcs_align_up(heap.next, BCS_HEAP_ALIGN);
    if (is_apart) {
        layout->helper_bell_gva = layout->bell_gva; /* see far_end.c */
    }
}

/** What keeps this process from taking part, before it meets others. */
static int find_obstacle(const struct channels *channels)
{
    if (channels->size > CHANNEL_PROCESSES_MOST) {
        bcs_error("bcs_channels_init: %u processes; allowed are up to %d",
                  channels->size, CHANNEL_PROCESSES_MOST);
        return -E2BIG;
    }
    if (bcs_barrier_join() < 0) {
        bcs_error(
            "bcs_channels_init: the kernel has no membarrier between processes, or "
            "forbids it; channels need it (Linux 4.16)");
        return -ENOSYS;
    }
    return 0;
}

/** Map the heaps of this machine's processes, and find a way to those of others. */
static int meet(struct channels *channels)
{
    struct bcs_node_range near = bcs_entry_near(&channels->entry);
    int rc;

    lay_out(&channels->layout, channels->size, near.n < channels->size);
    rc = bcs_meet(&channels->entry.bootstrap,
                  &(struct bcs_meeting_params){
                      .heap_bytes = channels->layout.heap_bytes,
                      .node_ranks = 1,
                      .near = near,
                      .error = find_obstacle(channels),
                      .config = &channels->entry.settings.nic,
                  },
                  &channels->meeting);
    if (rc == 0) {
        channels->bell.meeting = &channels->meeting;
        channels->bell.n_needs = channels->meeting.n_processes;
        bcs_bell_look_around(&channels->bell);
    }
    return rc;
}

/** Set this process up, and tell the others its pid. */
static int set_up(struct channels *channels)
{
    const struct channel_layout *layout = &channels->layout;
    struct bcs_node_set all = bcs_node_set_range(0, channels->size);
    uint64_t pid = (uint64_t)getpid();
    int rc = bcs_core_create(channels->meeting.memory, channels->rank, &channels->core);

    if (rc < 0) {
        return rc;
    }
    channels->n_opened = calloc(channels->size, sizeof(*channels->n_opened));
    if (channels->n_opened == NULL) {
        bcs_error("bcs_channels_init: out of memory");
        return -ENOMEM;
    }
    channels->bell.core = channels->core;
    channels->bell.event = bcs_core_address(channels->core, layout->bell_gva);
    channels->bell.gva = layout->bell_gva;
    channel_pool_init(&channels->pool, layout->pool_gva, CHANNEL_POOL_BYTES);
    rc = remotes_init(channels);
    if (rc < 0) {
        return rc;
    }
    rc = bcs_xfer_and_signal_blocking(
        channels->core, &(struct bcs_xfer){
                            .src = &pid,
                            .n_bytes = sizeof(pid),
                            .dest_gva = layout->pids_gva + channels->rank * sizeof(pid),
                            .dests = &all,
                        });
    /* All have it when they meet again. */
    return rc < 0 ? rc : bcs_core_flush(channels->core);
}

/** The helper thread waits as the others do, but that it is one more for the cores. */
static void set_helper_bell(struct channels *channels)
{
    uint64_t gva = channels->layout.helper_bell_gva;

    channels->helper.bell = (struct bcs_bell){
        .core = channels->core,
        .event = bcs_core_address(channels->core, gva),
        .gva = gva,
        .spin_ticks = channels->bell.spin_ticks,
        .meeting = &channels->meeting,
        .n_needs = 2 * channels->meeting.n_processes,
    };
    bcs_bell_look_around(&channels->helper.bell);
}

/** Serve processes of other machines, waiting as the helper thread does. */
static int start_service(struct channels *channels)
{
    struct bcs_bell bell = channels->helper.bell;

    bell.gva = channels->layout.service_bell_gva;
    bell.event = bcs_core_address(channels->core, bell.gva);
    return remote_service_start(channels, &bell);
}

/** In a forked child: it has not joined. */
static void take_away(void *arg)
{
    struct channels *channels = arg;

    bcs_meeting_take_away(&channels->meeting);
    remotes_take_away(channels);
    if (channels_self == channels) {
        channels_self = NULL;
        channels_collect = NULL;
    }
}

int channels_join(const struct bcs_entry *entry, struct channels **channels_out)
{
    struct bcs_clock_moment start = bcs_clock_moment();
    struct channels *channels = calloc(1, sizeof(*channels));
    int rc;

    if (channels == NULL) {
        bcs_error("bcs_channels_init: out of memory");
        return -ENOMEM;
    }
    pthread_mutex_init(&channels->lock, NULL);
    channel_helper_init(&channels->helper);
    channels->entry = *entry;
    channels->rank = entry->bootstrap.rank;
    channels->size = entry->bootstrap.size;
    rc = meet(channels);
    rc = rc < 0 ? rc : bcs_meet_again(&entry->bootstrap, set_up(channels));
    if (rc < 0) {
        channels_free(channels);
        return rc;
    }
    channels->bell.spin_ticks = bcs_clock_ticks_in(
        bcs_settings_spin_ns(&entry->settings, USUAL_SPIN_NS), start);
    channels->behind_ticks = bcs_clock_ticks_in(BEHIND_NS, start);
    set_helper_bell(channels);
    if (channels_is_apart(channels)) {
        rc = bcs_meet_again(&entry->bootstrap, start_service(channels));
    }
    if (rc < 0) {
        channels_free(channels);
        return rc;
    }
    channels->forked = (struct bcs_forked){.in_child = take_away, .arg = channels};
    bcs_forked_watch(&channels->forked);
    *channels_out = channels;
    return 0;
}

int channels_leave(struct channels *channels)
{
    struct bcs_entry entry = channels->entry;
    int released = remotes_release_all(channels);
    int rc = channels_close_all(channels);
    int flushed = bcs_core_flush(channels->core);

    channels_record_end(channels); /* no thread of the library's calls any more */
    bcs_forked_unwatch(&channels->forked);
    channels_free(channels);
    bcs_entry_fini(&entry);
    rc = released < 0 ? released : rc;
    return rc < 0 ? rc : flushed;
}
