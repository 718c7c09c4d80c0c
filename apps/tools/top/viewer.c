/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at jobs once a second; see viewer.h. Looks take time of the machine's cores,
 * glances some too: with very many ranks there are fewer of them. Between looks it sees
 * by glances which ranks are in calls that wait.
 */
#include "viewer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/clock.h"
#include "process_text.h"

#define LOOK_NS UINT64_C(1000000000)
#define GLANCE_NS UINT64_C(50000000)
#define BRIEF_LOOK_NS UINT64_C(250000000) /* of one look, for JSON */
#define FIND_NS UINT64_C(5000000000)
#define FIND_SOON_NS UINT64_C(1000000000) /* while there is no job to look at */

enum {
    GLANCE_RANKS = 1280, /* so many ranks are glanced at at that rate */
    LOOK_SHARE = 50,     /* a look takes one in so many parts of the time at most */
    GROUPS_FROM = 33, /* ranks, that are shown in groups unless the user wants each */
};

int viewer_init(struct viewer *viewer)
{
    *viewer = (struct viewer){.places = place_open(PLACE_HASTY_NS),
                              .look_each_ns = LOOK_NS,
                              .glance_each_ns = GLANCE_NS};
    return viewer->places == NULL ? -ENOMEM : 0;
}

static void forget_places(struct viewer *viewer)
{
    for (int i = 0; i < VIEWER_PLACES; i++) {
        where_fini(&viewer->known[i].where);
        viewer->known[i] = (struct viewer_place){0};
    }
}

/** Forget the job that was looked at. */
static void forget_job(struct viewer *viewer)
{
    bcs_look_close(viewer->look);
    viewer->look = NULL;
    bcs_traffic_fini(&viewer->traffic);
    job_look_fini(&viewer->before);
    job_look_fini(&viewer->now);
    rows_fini(&viewer->rows);
    forget_places(viewer);
    viewer->has_job = viewer->has_before = viewer->has_now = false;
    viewer->has_ended = viewer->has_sum = viewer->has_chosen_job = false;
    viewer->problem[0] = '\0';
}

void viewer_fini(struct viewer *viewer)
{
    forget_job(viewer);
    free(viewer->found);
    place_close(viewer->places);
}

/** Say why a job cannot be looked at. @return whether there is anything to say */
static bool tell_problem(struct viewer *viewer, int rc, const char *version)
{
    if (rc == -EPROTO) {
        snprintf(viewer->problem, sizeof(viewer->problem),
                 "the job of process %" PRId64
                 " is of bcs %s built otherwise: use the bcs-top of that",
                 viewer->job.handle.pid, version);
    } else {
        snprintf(viewer->problem, sizeof(viewer->problem),
                 "cannot look at the job of process %" PRId64 ": %s",
                 viewer->job.handle.pid, strerror(-rc));
    }
    return rc != -ENOENT && rc != -EAGAIN; /* it has ended, or only begins */
}

/** Take a look at a job for the viewer's. */
static void take_job(struct viewer *viewer, struct bcs_look *look)
{
    const struct bcs_board *board = bcs_look_board(look);

    viewer->look = look;
    viewer->has_job = true;
    viewer->n_nodes = board->n_nodes;
    viewer->began_ns = board->began_ns;
    memcpy(viewer->driver, board->driver, sizeof(viewer->driver) - 1);
    memcpy(viewer->strobe, board->strobe, sizeof(viewer->strobe) - 1);
    process_text_command(bcs_look_is_near(look, 0) ? bcs_look_pid(look, 0)
                                                   : viewer->job.handle.pid,
                         viewer->program, sizeof(viewer->program));
    viewer->moved_ns = bcs_clock_now_ns();
    viewer->look_ns = viewer->glance_ns = 0;
    if (!viewer->has_chosen_groups) {
        viewer->is_grouped = board->n_ranks >= GROUPS_FROM;
    }
}

void viewer_init_brief(struct viewer *viewer, const struct bcs_look_found *found,
                       struct bcs_look *look)
{
    *viewer = (struct viewer){
        .job = *found,
        .find_ns = UINT64_MAX,
        .is_brief = true,
        .has_chosen_groups = true, /* a row for each rank */
        .look_each_ns = BRIEF_LOOK_NS,
        .glance_each_ns = BRIEF_LOOK_NS / (LOOK_NS / GLANCE_NS),
    };
    take_job(viewer, look);
}

static void open_job(struct viewer *viewer, const struct bcs_look_found *found)
{
    char version[BCS_SIGN_VERSION_BYTES] = "";
    struct bcs_look *look;
    int rc;

    forget_job(viewer);
    viewer->job = *found;
    rc = bcs_look_open(found, &look, version);
    if (rc < 0) {
        viewer->has_job = tell_problem(viewer, rc, version);
    } else {
        take_job(viewer, look);
    }
}

static bool is_same(const struct bcs_look_found *a, const struct bcs_look_found *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/** The place of the job among those that there are. @return n_found: it is none of
 *  them */
static uint32_t place_of_job(const struct viewer *viewer)
{
    uint32_t i = 0;

    while (i < viewer->n_found &&
           !(viewer->has_job && is_same(&viewer->found[i], &viewer->job))) {
        i++;
    }
    return i;
}

static void find_jobs(struct viewer *viewer)
{
    struct bcs_look_found *found = NULL;
    int n = bcs_look_find(&found);

    if (n >= 0) {
        free(viewer->found);
        viewer->found = found;
        viewer->n_found = (uint32_t)n;
    }
    /* The first one that can be looked at; if none can, the last one tells why. */
    for (uint32_t i = 0; i < viewer->n_found && viewer->look == NULL &&
                         !viewer->has_ended && !viewer->has_chosen_job;
         i++) {
        open_job(viewer, &viewer->found[i]);
    }
}

/** Note whether anything has moved since the look before. */
static void note_moves(struct viewer *viewer)
{
    uint64_t sum;

    if (viewer->now.has_moved || !viewer->has_before) {
        viewer->moved_ns = viewer->now.now_ns;
        viewer->has_sum = false;
        return;
    }
    /* What is counted may miss something; the sum does not. */
    if (bcs_look_sum(viewer->look, &sum) == 0) {
        if (viewer->has_sum && sum != viewer->sum) {
            viewer->moved_ns = viewer->now.now_ns;
        }
        viewer->sum = sum;
        viewer->has_sum = true;
    }
}

static void end_job(struct viewer *viewer)
{
    bcs_look_close(viewer->look);
    viewer->look = NULL;
    viewer->has_ended = true;
    viewer->find_ns = viewer->is_brief ? UINT64_MAX : 0;
    if (!viewer->has_now) {
        forget_job(viewer); /* there is nothing of it to show */
    }
}

/** Look at the job. */
static void look(struct viewer *viewer)
{
    uint64_t begin_ns = bcs_clock_now_ns(), cost_ns;
    struct job_look now;

    if (!bcs_look_is_there(&viewer->job) ||
        job_look_take(viewer->look, &viewer->traffic, &now) < 0) {
        end_job(viewer);
        return;
    }
    job_look_fini(&viewer->before);
    viewer->before = viewer->now;
    viewer->has_before = viewer->has_now;
    viewer->now = now;
    viewer->has_now = true;
    viewer->machine_before = viewer->machine_now;
    viewer->machine_now = machine_look();
    note_moves(viewer);
    viewer_arrange(viewer);
    place_renew(viewer->places);
    cost_ns = viewer->is_brief ? 0 : LOOK_SHARE * (bcs_clock_now_ns() - begin_ns);
    viewer->look_ns =
        begin_ns + (cost_ns > viewer->look_each_ns ? cost_ns : viewer->look_each_ns);
}

static void glance(struct viewer *viewer, uint64_t now_ns)
{
    uint64_t n_ranks = viewer->now.n_ranks, each_ns = viewer->glance_each_ns;

    job_look_glance(viewer->look, &viewer->now);
    viewer->glance_ns =
        now_ns + (n_ranks > GLANCE_RANKS ? each_ns * n_ranks / GLANCE_RANKS : each_ns);
}

bool viewer_step(struct viewer *viewer, uint64_t *next_ns_out)
{
    uint64_t now_ns = bcs_clock_now_ns();
    bool is_new = false;

    if (now_ns >= viewer->find_ns) {
        find_jobs(viewer);
        viewer->find_ns = now_ns + (viewer->look == NULL ? FIND_SOON_NS : FIND_NS);
        is_new = viewer->look == NULL;
    }
    *next_ns_out = viewer->find_ns;
    if (viewer->look == NULL || viewer->is_paused) {
        return is_new;
    }
    if (now_ns >= viewer->look_ns) {
        look(viewer);
        is_new = true;
    } else if (now_ns >= viewer->glance_ns) {
        glance(viewer, now_ns);
    }
    if (viewer->look != NULL) {
        uint64_t due_ns =
            viewer->look_ns < viewer->glance_ns ? viewer->look_ns : viewer->glance_ns;

        *next_ns_out = due_ns < *next_ns_out ? due_ns : *next_ns_out;
    }
    return is_new;
}

void viewer_turn(struct viewer *viewer, int steps)
{
    uint32_t at;

    find_jobs(viewer);
    if (viewer->n_found == 0) {
        return;
    }
    at = place_of_job(viewer);
    if (at == viewer->n_found) { /* it has ended: from where it would be */
        at = steps > 0 ? viewer->n_found - 1 : 0;
    }
    at = (at + viewer->n_found + (uint32_t)steps) % viewer->n_found;
    if (viewer->look == NULL || !is_same(&viewer->found[at], &viewer->job)) {
        open_job(viewer, &viewer->found[at]);
        viewer->has_chosen_job = viewer->has_job;
        viewer->is_paused = false;
    }
}

void viewer_arrange(struct viewer *viewer)
{
    struct rows rows;

    if (viewer->has_now &&
        rows_make(viewer->has_before ? &viewer->before : NULL, &viewer->now,
                  viewer->is_grouped, viewer->order, &rows) == 0) {
        rows_fini(&viewer->rows);
        viewer->rows = rows;
    }
}

void viewer_pause(struct viewer *viewer)
{
    viewer->is_paused = !viewer->is_paused;
}

struct picture viewer_picture(const struct viewer *viewer)
{
    uint32_t at = place_of_job(viewer);
    uint64_t now_ns = viewer->now.now_ns;

    return (struct picture){
        .number = at < viewer->n_found ? at + 1 : 0,
        .n_jobs = viewer->n_found,
        .pid = viewer->job.handle.pid,
        .n_ranks = viewer->now.n_ranks,
        .n_nodes = viewer->n_nodes,
        .program = viewer->program,
        .driver = viewer->driver,
        .strobe = viewer->strobe,
        .age_s = (double)(now_ns - viewer->began_ns) / 1e9,
        .still_s = (double)(now_ns - viewer->moved_ns) / 1e9,
        .has_ended = viewer->has_ended,
        .is_paused = viewer->is_paused,
        .is_grouped = viewer->is_grouped,
        .order = viewer->order,
        .before = viewer->has_before ? &viewer->before : NULL,
        .now = &viewer->now,
        .rows = &viewer->rows,
        .machine_before = &viewer->machine_before,
        .machine_now = &viewer->machine_now,
    };
}

const char *viewer_place(struct viewer *viewer, const struct row *row)
{
    const struct job_wait *wait;
    const struct bcs_stand *stand;
    struct viewer_place *place;
    uint64_t address;
    int64_t pid;

    if (row->wait == ROWS_NO_WAIT) {
        return NULL;
    }
    wait = &viewer->now.waits[row->wait];
    stand = &wait->stand;
    address = stand->frames[0].address;
    pid = viewer->now.ranks[row->ranks[0]].pid;
    place = &viewer->known[(address ^ (uint64_t)pid * 31) % VIEWER_PLACES];
    /* Without an address it is a line of Python, which costs nothing to find. */
    if (address == 0 || place->pid != pid || place->address != address) {
        where_fini(&place->where);
        *place = (struct viewer_place){
            .pid = pid,
            .address = address,
            .where = where_find(viewer->places, job_wait_files(wait), pid, stand, 1),
        };
    }
    return place->where.n == 0 ? NULL : place->where.words[0];
}
