/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds who waits for whom; see waits.h. Messages and collectives are sorted so that
 * those that belong together follow each other; what each call has waited for most is
 * kept with it, and these become lines by place and late rank.
 */
#include "mds/tool/analysis/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mds/events.h"
#include "mds/tool/analysis/delay.h"
#include "mds/tool/read/dump_later.h"

#define NONE SIZE_MAX

const char *const wait_names[WAIT_KINDS] = {
    [WAIT_SENDER] = "late sender",
    [WAIT_RECEIVER] = "late receiver",
    [WAIT_COLLECTIVE] = "late in collective",
};

/** What a call has waited for most. */
struct cause {
    uint64_t wait_ns;
    uint64_t root_ns; /* see delay.h */
    size_t late;      /* moment; NONE: nothing */
    enum wait_kind kind;
};

/** One end of a message, or a rank's part of a collective. */
struct end {
    uint64_t comm; /* id */
    uint32_t from, to;
    int32_t tag; /* of a collective its number */
    bool is_receive;
    size_t moment;  /* whose call it is of; of a rank in their order */
    uint32_t place; /* in the call */
};

/** What is worked on. */
struct work {
    const struct timeline *timeline;
    struct cause *causes;    /* [timeline->n] */
    const bool *is_left_out; /* [n_files of the run] */
    struct end *ends;
    size_t n, room;
};

static bool is_blocking(const struct moment *moment)
{
    return dump_call(moment->file, moment->event.call).timing == (uint32_t)MDS_BLOCKING;
}

/** @return 0 or -ENOMEM */
static int add(struct work *work, const struct end *end)
{
    if (work->n == work->room) {
        size_t room = 2 * work->room + 1024;
        struct end *ends = realloc(work->ends, room * sizeof(*ends));

        if (ends == NULL) {
            return -ENOMEM;
        }
        work->ends = ends;
        work->room = room;
    }
    work->ends[work->n++] = *end;
    return 0;
}

/** A call may have waited so long for another one. */
static void blame(struct work *work, size_t waiting, size_t late, uint64_t until_ns,
                  enum wait_kind kind)
{
    const struct moment *moment = &work->timeline->moments[waiting];
    uint64_t end = moment_end_ns(moment), wait;

    until_ns = until_ns < end ? until_ns : end;
    wait = until_ns > moment->begin_ns ? until_ns - moment->begin_ns : 0;
    if (wait > work->causes[waiting].wait_ns) {
        work->causes[waiting] =
            (struct cause){.wait_ns = wait, .late = late, .kind = kind};
    }
}

static int compare_ends(const void *left, const void *right)
{
    const struct end *a = left, *b = right;

    return a->comm != b->comm               ? (a->comm < b->comm ? -1 : 1)
           : a->from != b->from             ? (a->from < b->from ? -1 : 1)
           : a->to != b->to                 ? (a->to < b->to ? -1 : 1)
           : a->tag != b->tag               ? (a->tag < b->tag ? -1 : 1)
           : a->is_receive != b->is_receive ? (int)a->is_receive - (int)b->is_receive
           : a->moment != b->moment         ? (a->moment < b->moment ? -1 : 1)
           : a->place < b->place            ? -1
                                            : a->place > b->place;
}

/** Whether two ends are of messages with the same communicator, ranks and tag. */
static bool go_together(const struct end *a, const struct end *b)
{
    return a->comm == b->comm && a->from == b->from && a->to == b->to &&
           a->tag == b->tag;
}

static void sort_ends(struct work *work)
{
    if (work->n > 0) {
        qsort(work->ends, work->n, sizeof(*work->ends), compare_ends);
    }
}

/** A send and the receive of its message. */
static void judge_message(struct work *work, size_t sent, size_t received)
{
    const struct moment *send = &work->timeline->moments[sent];
    const struct moment *receive = &work->timeline->moments[received];
    const char *call = moment_call(receive);

    if (is_blocking(receive)) {
        blame(work, received, sent, send->begin_ns, WAIT_SENDER);
    }
    /* When the receive of another call was posted is not known. */
    if (is_blocking(send) &&
        (strcmp(call, "MPI_Recv") == 0 || strcmp(call, "MPI_Sendrecv") == 0)) {
        blame(work, sent, received, receive->begin_ns, WAIT_RECEIVER);
    }
}

static void judge_messages(struct work *work)
{
    size_t n_sent, n_received;

    sort_ends(work);
    for (size_t i = 0; i < work->n; i += n_sent + n_received) {
        const struct end *first = &work->ends[i];

        n_sent = 0;
        while (i + n_sent < work->n && go_together(first, &first[n_sent]) &&
               !first[n_sent].is_receive) {
            n_sent++;
        }
        n_received = 0;
        while (i + n_sent + n_received < work->n &&
               go_together(first, &first[n_sent + n_received])) {
            n_received++;
        }
        for (size_t j = 0; j < n_sent && j < n_received; j++) {
            judge_message(work, first[j].moment, first[n_sent + j].moment);
        }
    }
}

/** The last part of a collective that begins when a time has not passed; none is NONE.
 *  The parts are in the order in which they have begun. */
static size_t last_until(const struct work *work, const struct end *ends, size_t n,
                         uint64_t until_ns)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (work->timeline->moments[ends[middle].moment].begin_ns <= until_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? ends[low - 1].moment : NONE;
}

/** Ranks of one collective: each waits for the last one that has come before it has
 *  left. */
static void judge_group(struct work *work, const struct end *ends, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t end = moment_end_ns(&work->timeline->moments[ends[i].moment]);
        size_t late = last_until(work, ends, n, end);

        if (late != NONE) { /* who is the last one waits for nobody: not for himself */
            blame(work, ends[i].moment, late, work->timeline->moments[late].begin_ns,
                  WAIT_COLLECTIVE);
        }
    }
}

static void judge_collectives(struct work *work)
{
    size_t n;

    sort_ends(work);
    for (size_t i = 0; i < work->n; i += n) {
        n = 1;
        while (i + n < work->n && go_together(&work->ends[i], &work->ends[i + n])) {
            n++;
        }
        judge_group(work, &work->ends[i], n);
    }
}

/** The ends of all messages of an event, but on communicators that are not known from
 *  one another.
 *  @return 0 or -ENOMEM */
static int add_ends(struct work *work, size_t number)
{
    const struct moment *moment = &work->timeline->moments[number];
    struct moment_messages at = {.moment = moment};
    struct mds_dump_message message;
    int rc = 0;

    while (rc == 0 && moment_next_message(&at, &message)) {
        bool is_receive = (message.kind & MDS_EVENT_RECEIVED) != 0;
        uint32_t mine = moment->file->process.rank, peer = (uint32_t)message.peer;
        const struct end end = {
            .comm = moment_comm_id(moment, message.comm),
            .from = is_receive ? peer : mine,
            .to = is_receive ? mine : peer,
            .tag = message.tag,
            .is_receive = is_receive,
            .moment = number,
            .place = at.n,
        };

        rc = end.comm != 0 ? add(work, &end) : 0;
    }
    return rc;
}

/** The ends of all messages of ranks that have lost nothing. */
static int add_messages(const struct run *run, struct work *work)
{
    const struct timeline *timeline = work->timeline;
    int rc = 0;

    for (size_t i = 0; i < timeline->n && rc == 0; i++) {
        if (!work->is_left_out[run_file_number(run, timeline->moments[i].file)]) {
            rc = add_ends(work, i);
        }
    }
    return rc;
}

/** The parts of all collectives that block; those that only few members have told of,
 *  too. */
static int add_collectives(struct work *work)
{
    const struct timeline *timeline = work->timeline;
    int rc = 0;

    work->n = 0;
    for (size_t i = 0; i < timeline->n && rc == 0; i++) {
        const struct moment *moment = &timeline->moments[i];
        const struct end end = {
            .comm = moment_comm_id(moment, moment->event.comm),
            .tag = moment->event.tag,
            .moment = i,
        };

        if ((moment->event.kind & MDS_EVENT_COLLECTIVE) != 0 && end.comm != 0 &&
            is_blocking(moment)) {
            rc = add(work, &end);
        }
    }
    return rc;
}

static int compare_lines(const void *left, const void *right)
{
    const struct wait *a = left, *b = right;
    int order = (int)a->kind - (int)b->kind;

    if (order == 0) {
        order = site_compare(&a->waiting, &b->waiting);
    }
    if (order == 0) {
        order = site_compare(&a->late, &b->late);
    }
    return order != 0                    ? order
           : a->late_rank < b->late_rank ? -1
                                         : a->late_rank > b->late_rank;
}

static int compare_totals(const void *left, const void *right)
{
    const struct wait *a = left, *b = right;

    return a->total_ns != b->total_ns ? (a->total_ns > b->total_ns ? -1 : 1)
                                      : compare_lines(left, right);
}

/** A line for each wait. @return how many */
static size_t put_lines(const struct run *run, const struct work *work,
                        struct waits *waits)
{
    size_t n = 0;

    for (size_t i = 0; i < work->timeline->n; i++) {
        const struct cause *cause = &work->causes[i];
        const struct moment *waiting = &work->timeline->moments[i], *late;

        if (cause->wait_ns == 0) {
            continue;
        }
        late = &work->timeline->moments[cause->late];
        waits->waits[n++] = (struct wait){
            .kind = cause->kind,
            .waiting = site_of(waiting->file, waiting->event.site),
            .late = site_of(late->file, late->event.site),
            .late_rank = late->file->process.rank,
            .n = 1,
            .total_ns = cause->wait_ns,
            .most_ns = cause->wait_ns,
            .root_ns = cause->root_ns,
        };
        waits->waited_ns[run_file_number(run, waiting->file)] += cause->wait_ns;
        waits->caused_ns[run_file_number(run, late->file)] += cause->wait_ns;
        waits->root_ns[run_file_number(run, late->file)] += cause->root_ns;
    }
    return n;
}

/** Lines that are alike become one. @return how many are left */
static size_t merge_lines(struct wait *waits, size_t n)
{
    size_t n_kept = 0;

    qsort(waits, n, sizeof(*waits), compare_lines);
    for (size_t i = 0; i < n; i++) {
        struct wait *last = n_kept > 0 ? &waits[n_kept - 1] : NULL;

        if (last != NULL && compare_lines(last, &waits[i]) == 0) {
            last->n++;
            last->total_ns += waits[i].total_ns;
            last->root_ns += waits[i].root_ns;
            last->most_ns =
                waits[i].most_ns > last->most_ns ? waits[i].most_ns : last->most_ns;
        } else {
            waits[n_kept++] = waits[i];
        }
    }
    qsort(waits, n_kept, sizeof(*waits), compare_totals);
    return n_kept;
}

static int find(const struct run *run, struct work *work)
{
    int rc = add_messages(run, work);

    if (rc == 0) {
        judge_messages(work);
        rc = add_collectives(work);
    }
    if (rc == 0) {
        judge_collectives(work);
    }
    return rc;
}

/** How many calls have waited: few of the events, as a rule. */
static size_t count_causes(const struct work *work)
{
    size_t n = 0;

    for (size_t i = 0; i < work->timeline->n; i++) {
        n += work->causes[i].wait_ns > 0;
    }
    return n;
}

/** All waits, one by one. @return [*n_out] for free; NULL: no memory */
static struct delay *delays_of(const struct run *run, const struct work *work,
                               size_t *n_out)
{
    const struct timeline *timeline = work->timeline;
    struct delay *delays = calloc(count_causes(work) + 1, sizeof(*delays));

    for (size_t i = 0; delays != NULL && i < timeline->n; i++) {
        const struct moment *moment = &timeline->moments[i];
        const struct cause *cause = &work->causes[i];

        if (cause->wait_ns > 0) {
            delays[(*n_out)++] = (struct delay){
                .waiting = run_file_number(run, moment->file),
                .late = run_file_number(run, timeline->moments[cause->late].file),
                .begin_ns = moment->begin_ns,
                .end_ns = moment->begin_ns + cause->wait_ns,
                .id = i,
            };
        }
    }
    return delays;
}

/** Which waits were at the root of others. @return 0 or -ENOMEM */
static int find_roots(const struct run *run, struct work *work)
{
    size_t n = 0;
    struct delay *delays = delays_of(run, work, &n);
    int rc = delays == NULL ? -ENOMEM : delays_find_roots(delays, n, run->n_files);

    for (size_t i = 0; i < n && rc == 0; i++) {
        work->causes[delays[i].id].root_ns = delays[i].root_ns;
    }
    free(delays);
    return rc;
}

static int waits_in(const struct run *run, const struct timeline *timeline,
                    const bool *is_left_out, struct waits *waits)
{
    struct work work = {.timeline = timeline, .is_left_out = is_left_out};
    int rc = -ENOMEM;

    work.causes = calloc(timeline->n + 1, sizeof(*work.causes));
    waits->waited_ns = calloc((size_t)run->n_files + 1, sizeof(*waits->waited_ns));
    waits->caused_ns = calloc((size_t)run->n_files + 1, sizeof(*waits->caused_ns));
    waits->root_ns = calloc((size_t)run->n_files + 1, sizeof(*waits->root_ns));
    if (work.causes != NULL && waits->waited_ns != NULL && waits->caused_ns != NULL &&
        waits->root_ns != NULL) {
        rc = find(run, &work);
    }
    free(work.ends);
    work.ends = NULL; /* the longest of all, not needed any more */
    if (rc == 0) {
        rc = find_roots(run, &work);
    }
    if (rc == 0) {
        waits->waits = calloc(count_causes(&work) + 1, sizeof(*waits->waits));
        rc = waits->waits == NULL ? -ENOMEM : 0;
    }
    if (rc == 0) {
        waits->n = merge_lines(waits->waits, put_lines(run, &work, waits));
    }
    free(work.causes);
    return rc;
}

/** Which ranks' messages are left out. @param is_left_out  [n_files] */
static void leave_out(const struct run *run, bool *is_left_out, struct waits *waits)
{
    for (uint32_t i = 0; i < run->n_files; i++) {
        bool has_lost = timeline_lost(&run->files[i]) > 0;
        bool is_unpaired = !has_lost && !timeline_has_messages(&run->files[i]);

        is_left_out[i] = has_lost || is_unpaired;
        waits->n_left_out += is_left_out[i];
        waits->n_unpaired += is_unpaired;
    }
}

/** Events of ranks whose events are not held. */
static uint64_t n_unread(const struct run *run)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        n += dump_events_are_held(&run->files[i]) ? 0 : run->files[i].events.n;
    }
    return n;
}

/** Find waits in events that are held. */
static int find_waits(const struct run *run, struct waits *waits_out)
{
    bool *is_left_out = calloc((size_t)run->n_files + 1, sizeof(*is_left_out));
    struct timeline timeline;
    int rc = timeline_of(run, -1, &timeline);

    waits_out->n_events = timeline.n;
    rc = is_left_out == NULL ? -ENOMEM : rc;
    if (rc == 0) {
        leave_out(run, is_left_out, waits_out);
    }
    if (rc == 0 && timeline.n > 0) {
        rc = waits_in(run, &timeline, is_left_out, waits_out);
    }
    timeline_fini(&timeline);
    free(is_left_out);
    return rc;
}

int waits_of(const struct run *run, struct waits *waits_out)
{
    *waits_out = (struct waits){.n_unread = n_unread(run)};
    return waits_out->n_unread > 0 ? 0 : find_waits(run, waits_out);
}

void waits_fini(struct waits *waits)
{
    free(waits->waits);
    free(waits->waited_ns);
    free(waits->caused_ns);
    free(waits->root_ns);
}
