/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts the events of all ranks in order; see timeline.h.
 */
#include "mds/tool/analysis/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/site.h"
#include "mds/tool/read/dump_later.h"

static int compare(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;

    if (a->begin_ns != b->begin_ns) {
        return a->begin_ns < b->begin_ns ? -1 : 1;
    }
    return a->file->process.rank < b->file->process.rank   ? -1
           : a->file->process.rank > b->file->process.rank ? 1
           : a->event.end < b->event.end                   ? -1
                                         : a->event.end > b->event.end;
}

/** When the last call of each lane of a rank has ended. */
struct lanes {
    uint64_t *ends; /* [n] */
    uint32_t n;
};

/** The first lane that is free at a time. @return their n: it is a new one */
static uint32_t find_lane(const struct lanes *lanes, uint64_t begin_ns)
{
    uint32_t i = 0;

    while (i < lanes->n && lanes->ends[i] > begin_ns) {
        i++;
    }
    return i;
}

/** Put calls that a rank made at the same time side by side. @return 0 or -ENOMEM */
static int find_lanes(const struct run *run, struct timeline *timeline)
{
    struct lanes *all = calloc(run->n_files + 1, sizeof(*all));
    int rc = all == NULL ? -ENOMEM : 0;

    for (size_t i = 0; i < timeline->n && rc == 0; i++) {
        struct moment *moment = &timeline->moments[i];
        struct lanes *lanes = &all[run_file_number(run, moment->file)];

        moment->lane = find_lane(lanes, moment->begin_ns);
        if (moment->lane == lanes->n) {
            uint64_t *ends =
                realloc(lanes->ends, (lanes->n + 1) * sizeof(*lanes->ends));

            if (ends == NULL) {
                rc = -ENOMEM;
                break;
            }
            lanes->ends = ends;
            lanes->n++;
            timeline->n_lanes =
                lanes->n > timeline->n_lanes ? lanes->n : timeline->n_lanes;
        }
        lanes->ends[moment->lane] = moment_end_ns(moment);
    }
    for (uint32_t i = 0; all != NULL && i < run->n_files; i++) {
        free(all[i].ends);
    }
    free(all);
    return rc;
}

static bool is_wanted(const struct dump_file *file, int64_t rank)
{
    return file->events.data != NULL && (rank < 0 || rank == file->process.rank);
}

/** When the first rank began to record, on the machine's clock. */
static uint64_t begin_of(const struct run *run)
{
    uint64_t begin = UINT64_MAX;

    for (uint32_t i = 0; i < run->n_files; i++) {
        uint64_t its = run->files[i].process.began_monotonic;

        begin = its < begin ? its : begin;
    }
    return begin;
}

uint64_t timeline_lost(const struct dump_file *file)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < file->calls.n; i++) {
        n += dump_call(file, i).count;
    }
    return n > file->events.n ? n - file->events.n : 0;
}

bool timeline_has_messages(const struct dump_file *file)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < file->events.n; i++) {
        uint32_t n_messages = dump_event(file, i).n_messages;

        n += n_messages > 1 ? n_messages - 1 : 0;
    }
    return n == file->messages.n;
}

int timeline_of(const struct run *run, int64_t rank, struct timeline *timeline_out)
{
    struct timeline timeline = {0};
    uint64_t begin = begin_of(run);
    size_t n = 0;

    *timeline_out = timeline;

    for (uint32_t i = 0; i < run->n_files; i++) {
        n += is_wanted(&run->files[i], rank) ? run->files[i].events.n : 0;
    }
    timeline.moments = calloc(n + 1, sizeof(*timeline.moments));
    if (timeline.moments == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct dump_file *file = &run->files[i];

        if (!is_wanted(file, rank)) {
            continue;
        }
        timeline.n_lost += timeline_lost(file);
        for (uint32_t j = 0; j < file->events.n; j++) {
            struct mds_dump_event event = dump_event(file, j);

            timeline.moments[timeline.n++] = (struct moment){
                .file = file,
                .event = event,
                .number = j,
                .begin_ns = file->process.began_monotonic - begin + event.begin,
            };
        }
    }
    qsort(timeline.moments, timeline.n, sizeof(*timeline.moments), compare);
    *timeline_out = timeline;
    return find_lanes(run, timeline_out);
}

/** Keep the last moments, of a rank, too. */
static void keep_last(struct timeline *timeline, size_t n_most)
{
    size_t n_gone = timeline->n > n_most ? timeline->n - n_most : 0;

    if (timeline->n > 0) {
        qsort(timeline->moments, timeline->n, sizeof(*timeline->moments), compare);
    }
    memmove(timeline->moments, timeline->moments + n_gone,
            (timeline->n - n_gone) * sizeof(*timeline->moments));
    timeline->n -= n_gone;
}

/** Add the moments of a rank, the last ones. @return 0 or -ENOMEM */
static int add_last(const struct run *run, const struct dump_file *file, size_t n_most,
                    struct timeline *timeline)
{
    struct timeline its;
    struct moment *moments;
    int rc = timeline_of(run, file->process.rank, &its);

    if (rc == 0) {
        keep_last(&its, n_most);
        moments = realloc(timeline->moments,
                          (timeline->n + its.n + 1) * sizeof(*timeline->moments));
        rc = moments == NULL ? -ENOMEM : 0;
    }
    if (rc == 0) {
        memcpy(moments + timeline->n, its.moments, its.n * sizeof(*moments));
        timeline->moments = moments;
        timeline->n += its.n;
        timeline->n_lost += its.n_lost;
    }
    timeline_fini(&its);
    return rc;
}

int timeline_last(const struct run *run, int64_t rank, size_t n_most,
                  struct timeline *timeline_out, char error_out[DUMP_ERROR_BYTES])
{
    struct timeline timeline = {0};
    int rc = 0;

    for (uint32_t i = 0; i < run->n_files && rc == 0; i++) {
        struct dump_file *file = &run->files[i];

        if (file->events.n == 0 || (rank >= 0 && rank != file->process.rank)) {
            continue;
        }
        rc = dump_events_hold(file, error_out);
        if (rc == 0 && add_last(run, file, n_most, &timeline) < 0) {
            rc = dump_refuse(error_out, "no memory for the events");
        }
        dump_events_drop(file);
        if (timeline.n / 2 > n_most) {
            keep_last(&timeline, n_most);
        }
    }
    if (rc == 0) {
        keep_last(&timeline, n_most);
    }
    *timeline_out = timeline;
    return rc;
}

void timeline_fini(struct timeline *timeline)
{
    free(timeline->moments);
}

uint64_t moment_end_ns(const struct moment *moment)
{
    return moment->begin_ns + moment->event.end - moment->event.begin;
}

const char *moment_call(const struct moment *moment)
{
    return dump_name(moment->file, dump_call(moment->file, moment->event.call).name);
}

const char *moment_comm(const struct moment *moment)
{
    return moment->event.comm == MDS_DUMP_NONE
               ? NULL
               : dump_name(moment->file,
                           dump_comm(moment->file, moment->event.comm).name);
}

uint64_t moment_comm_id(const struct moment *moment, uint32_t comm)
{
    return comm == MDS_DUMP_NONE ? 0 : dump_comm(moment->file, comm).id;
}

/** The first record of an event in the section that has all messages but the first:
 *  they are in the order of events. */
static uint32_t first_record(const struct moment *moment)
{
    uint32_t low = 0, high = moment->file->messages.n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (dump_message(moment->file, middle).event < moment->number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct mds_dump_message first_message(const struct moment *moment)
{
    const struct mds_dump_event *event = &moment->event;

    return (struct mds_dump_message){
        .n_bytes = event->first_bytes,
        .event = moment->number,
        .comm = event->comm,
        .peer = event->peer,
        .tag = event->tag,
        .kind = event->kind,
    };
}

bool moment_next_message(struct moment_messages *at,
                         struct mds_dump_message *message_out)
{
    const struct moment *moment = at->moment;

    if (at->n == moment->event.n_messages) {
        return false;
    }
    if (at->n++ == 0) {
        at->next = moment->event.n_messages > 1 ? first_record(moment) : 0;
        *message_out = first_message(moment);
        return true;
    }
    if (at->next >= moment->file->messages.n) {
        return false;
    }
    *message_out = dump_message(moment->file, at->next++);
    return message_out->event == moment->number;
}

char *moment_place(const struct moment *moment, struct places *places)
{
    struct site site = site_of(moment->file, moment->event.site);

    return site_place(&site, places, NULL);
}
