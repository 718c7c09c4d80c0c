/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joining and leaving a job. The heaps are the transport's and go with the last
 * process, however it ends. [cBSP 4.3, 5.1]
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "libbcs/cbsp/cbsp_calls.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/session/run_recorder.h"

/* How long a waiting process polls before it sleeps, unless BCS_SPIN says it. */
#define USUAL_SPIN_NS 50000u

static void cbsp_free(struct cbsp *cbsp)
{
    if (cbsp == NULL) {
        return;
    }
    cbsp_outbox_fini(cbsp);
    cbsp_inbox_fini(cbsp);
    for (uint32_t i = 0; cbsp->imports != NULL && i < cbsp->n_procs; i++) {
        free(cbsp->imports[i].list);
    }
    free(cbsp->imports);
    bcs_core_destroy(cbsp->core);
    bcs_part(&cbsp->meeting);
    free(cbsp);
}

/** Map the heaps of this machine's processes, and find a way to those of others. */
static int meet(struct cbsp *cbsp)
{
    int error = cbsp_layout_init(&cbsp->layout, cbsp->n_procs,
                                 &cbsp->entry.settings.nic.limits);
    int rc;

    if (error < 0) {
        bcs_error("cBSP_initialize: %u processes; allowed are up to %d", cbsp->n_procs,
                  CBSP_PROCESSES_MOST);
    }
    rc = bcs_meet(&cbsp->entry.bootstrap,
                  &(struct bcs_meeting_params){
                      .heap_bytes = cbsp->layout.heap_bytes,
                      .node_ranks = 1,
                      .near = bcs_entry_near(&cbsp->entry),
                      .error = error,
                      .config = &cbsp->entry.settings.nic,
                  },
                  &cbsp->meeting);
    if (rc == 0) {
        cbsp->is_direct = cbsp->meeting.is_direct;
        cbsp->bell.meeting = &cbsp->meeting;
        cbsp->bell.n_needs = cbsp->meeting.n_processes;
        bcs_bell_look_around(&cbsp->bell);
    }
    return rc;
}

static void find_own_memory(struct cbsp *cbsp)
{
    const struct cbsp_layout *layout = &cbsp->layout;

    cbsp->bell.core = cbsp->core;
    cbsp->bell.event = bcs_core_address(cbsp->core, layout->bell_gva);
    cbsp->bell.gva = layout->bell_gva;
    cbsp->wants = bcs_core_address(cbsp->core, layout->wants_gva);
    cbsp->revocations = bcs_core_address(cbsp->core, layout->revocations_gva);
    cbsp->progress = bcs_core_address(cbsp->core, layout->progress_gva);
    cbsp->verdict = (struct bcs_verdict){
        .core = cbsp->core,
        .all = &cbsp->all,
        .word = bcs_core_address(cbsp->core, layout->verdict_gva),
        .word_gva = layout->verdict_gva,
        .bell_gva = layout->bell_gva,
    };
    cbsp->exports.core = cbsp->core;
    cbsp->exports.all = &cbsp->all;
    cbsp->exports.table_gva = layout->exports_gva;
    cbsp->exports.rank = cbsp->pid;
    cbsp->exports.until = "the next cBSP_gsync";
    cbsp->up = bcs_core_address(cbsp->core, layout->up_gva);
    cbsp->down = bcs_core_address(cbsp->core, layout->down_gva);
    cbsp->from = bcs_core_address(cbsp->core, layout->from_gva);
}

/** The place of this process in the tree. */
static void find_relatives(struct cbsp *cbsp)
{
    uint32_t n_most = cbsp->layout.n_children;
    uint64_t first = (uint64_t)cbsp->pid * n_most + 1;

    if (cbsp->pid > 0) {
        cbsp->parent = (cbsp->pid - 1) / n_most;
        cbsp->sibling = (cbsp->pid - 1) % n_most;
    }
    if (first < cbsp->n_procs) {
        cbsp->n_children = cbsp->n_procs - (uint32_t)first;
        cbsp->n_children = cbsp->n_children < n_most ? cbsp->n_children : n_most;
        cbsp->children = bcs_node_set_range((uint32_t)first, cbsp->n_children);
    }
}

/** Set this process up, and tell the others its pid. */
static int set_up(struct cbsp *cbsp)
{
    uint64_t pid = (uint64_t)getpid();
    int rc = bcs_core_create(cbsp->meeting.memory, cbsp->pid, &cbsp->core);

    if (rc < 0) {
        return rc;
    }
    cbsp->outs = calloc(cbsp->n_procs, sizeof(*cbsp->outs));
    cbsp->ins = calloc(cbsp->n_procs, sizeof(*cbsp->ins));
    cbsp->imports = calloc(cbsp->n_procs, sizeof(*cbsp->imports));
    if (cbsp->outs == NULL || cbsp->ins == NULL || cbsp->imports == NULL) {
        bcs_error("cBSP_initialize: out of memory");
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < cbsp->n_procs; i++) {
        cbsp->outs[i].superstep = UINT64_MAX;
        cbsp->outs[i].node = bcs_node_set_one(i);
        cbsp->outs[i].is_apart = bcs_memory_heap(cbsp->meeting.memory, i) == NULL;
    }
    cbsp->all = bcs_node_set_range(0, cbsp->n_procs);
    find_own_memory(cbsp);
    find_relatives(cbsp);
    rc = bcs_xfer_and_signal(cbsp->core,
                             &(struct bcs_xfer){
                                 .src = &pid,
                                 .n_bytes = sizeof(pid),
                                 .dest_gva = cbsp_from_gva(&cbsp->layout, cbsp->pid) +
                                             offsetof(struct cbsp_from, pid),
                                 .dests = &cbsp->all,
                             });
    /* All have it when they meet again. */
    return rc < 0 ? rc : bcs_core_flush(cbsp->core);
}

/** In a forked child: it has not joined. */
static void take_away(void *arg)
{
    struct cbsp *cbsp = arg;

    bcs_meeting_take_away(&cbsp->meeting);
    cbsp->error = -EPERM;
    if (cbsp_self == cbsp) {
        cbsp_self = NULL;
    }
}

int cbsp_join(const struct bcs_entry *entry, struct cbsp **cbsp_out)
{
    struct bcs_clock_moment start = bcs_clock_moment();
    struct cbsp *cbsp = calloc(1, sizeof(*cbsp));
    int rc;

    if (cbsp == NULL) {
        bcs_error("cBSP_initialize: out of memory");
        return -ENOMEM;
    }
    cbsp->entry = *entry;
    cbsp->pid = entry->bootstrap.rank;
    cbsp->n_procs = entry->bootstrap.size;
    rc = meet(cbsp);
    rc = rc < 0 ? rc : bcs_meet_again(&entry->bootstrap, set_up(cbsp));
    if (rc < 0) {
        cbsp_free(cbsp);
        return rc;
    }
    cbsp->bell.spin_ticks = bcs_clock_ticks_in(
        bcs_settings_spin_ns(&entry->settings, USUAL_SPIN_NS), start);
    cbsp->forked = (struct bcs_forked){.in_child = take_away, .arg = cbsp};
    bcs_forked_watch(&cbsp->forked);
    *cbsp_out = cbsp;
    return 0;
}

int cBSP_initialize(void)
{
    struct bcs_entry entry;
    int rc = bcs_entry_init(&entry, BCS_ENTRY_CBSP);

    if (rc < 0) {
        return rc;
    }
    rc = cbsp_join(&entry, &cbsp_self);
    if (rc < 0) {
        bcs_entry_fini(&entry);
    } else {
        cbsp_calls_record(cbsp_self);
    }
    return rc;
}

/** Tell each process how many messages it was sent in all. */
static int tell_totals(struct cbsp *cbsp)
{
    uint64_t gva =
        cbsp_from_gva(&cbsp->layout, cbsp->pid) + offsetof(struct cbsp_from, n_sent);
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < cbsp->n_procs; i++) {
        const struct cbsp_kept *kept = cbsp->outs[i].queue.first;
        uint64_t n_sent = cbsp->outs[i].n_messages;

        for (; kept != NULL; kept = kept->next) {
            n_sent += !kept->is_announced;
        }
        rc = cbsp_tell(cbsp, i, gva, n_sent);
    }
    return rc;
}

/** Whether all that others have sent was taken. */
static int check_totals(struct cbsp *cbsp)
{
    int rc = 0;

    for (uint32_t i = 0; i < cbsp->n_procs; i++) {
        uint64_t n_sent = __atomic_load_n(&cbsp->from[i].n_sent, __ATOMIC_ACQUIRE);

        if (n_sent != cbsp->ins[i].n_messages) {
            bcs_error("cBSP_finalize: process %" PRIu32 " has sent %" PRIu64
                      " messages that no cBSP_nsync has counted",
                      i, n_sent - cbsp->ins[i].n_messages);
            rc = -EPROTO;
        }
    }
    if (cbsp->n_sent[cbsp->superstep % 2] != 0) {
        bcs_error("cBSP_finalize: handlers have sent %" PRIu64
                  " messages that no superstep follows for",
                  cbsp->n_sent[cbsp->superstep % 2]);
        rc = -EPROTO;
    }
    return rc;
}

int cbsp_leave(struct cbsp *cbsp)
{
    struct bcs_recorder *recorder = cbsp->recorder;
    struct bcs_entry entry = cbsp->entry;
    struct bcs_recorder_end end = {0};
    uint8_t no_bits;
    int rc = cbsp->error;

    cbsp_calls_stop(cbsp);

    rc = rc < 0 ? rc : tell_totals(cbsp);
    rc = rc < 0 ? rc : cbsp_gsync(cbsp, CBSP_IN_FINALIZE, 0, &no_bits);
    end.is_alone = rc < 0;
    rc = rc < 0 ? rc : check_totals(cbsp);
    bcs_forked_unwatch(&cbsp->forked);
    cbsp_free(cbsp);
    bcs_recorder_end(recorder, &end);
    bcs_entry_fini(&entry);
    return rc;
}

int cBSP_finalize(void)
{
    struct cbsp *cbsp = cbsp_self;
    int rc = cbsp_check(cbsp, "cBSP_finalize");

    if (cbsp == NULL) {
        return rc;
    }
    if (cbsp->doing == CBSP_HANDLING) {
        bcs_error("cBSP_finalize: called in a handler");
        return -EPERM;
    }
    rc = cbsp_leave(cbsp); /* in which handlers run, and may ask who they are */
    cbsp_self = NULL;
    return rc;
}

int cBSP_nprocs(void)
{
    return cbsp_self == NULL ? 0 : (int)cbsp_self->n_procs;
}

int cBSP_pid(void)
{
    return cbsp_self == NULL ? -1 : (int)cbsp_self->pid;
}

int cBSP_counts(struct cBSP_counts *counts_out)
{
    if (cbsp_self == NULL) {
        return cbsp_check(NULL, "cBSP_counts");
    }
    *counts_out = cbsp_self->counts;
    return 0;
}
