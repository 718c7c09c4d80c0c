/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds events: the last calls of a run, one by one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/timeline.h"
#include "mds/tool/read/manifest.h"
#include "mds/tool/verbs/verbs.h"

enum { LINES = 50 }; /* if not told */

static void print_text(const char *text)
{
    manifest_print(stdout, text, strlen(text));
}

/** What the call has sent or got. */
static void print_messages(const struct mds_dump_event *event)
{
    if (event->n_messages == 1) {
        printf("%8" PRId32 " %11" PRId32, event->peer, event->tag);
    } else if (event->n_messages > 1) {
        printf("%8s %11" PRIu32, "several", event->n_messages);
    } else {
        printf("%8s %11s", "-", "-");
    }
}

/** The slices from the begin of a call to its end. */
static void print_slices(const struct mds_dump_event *event)
{
    char text[2 * 20 + 2];

    if (event->slice == 0) {
        snprintf(text, sizeof(text), "-");
    } else if (event->n_slices == 0) {
        snprintf(text, sizeof(text), "%" PRIu64, event->slice);
    } else {
        snprintf(text, sizeof(text), "%" PRIu64 "-%" PRIu64,
                 event->slice - event->n_slices, event->slice);
    }
    printf(" %15s  ", text);
}

/** @return false: no memory */
static bool print_moment(const struct moment *moment, struct places *places)
{
    const struct mds_dump_event *event = &moment->event;
    const char *comm = moment_comm(moment);
    char *place = moment_place(moment, places);

    if (place == NULL) {
        return false;
    }
    printf("%14.6f %12.3f %8u  %-20s ", (double)moment->begin_ns / 1e9,
           (double)(event->end - event->begin) / 1e3, moment->file->process.rank,
           moment_call(moment));
    print_messages(event);
    printf(" %12" PRIu64, event->n_bytes);
    print_slices(event);
    print_text(comm == NULL ? "-" : comm[0] == '\0' ? "(no name)" : comm);
    printf("  ");
    print_text(place);
    printf("\n");
    free(place);
    return true;
}

/** Events that the run has, of that rank only if it is not -1. */
static uint64_t n_events(const struct run *run, int64_t rank)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        bool is_wanted = rank < 0 || rank == run->files[i].process.rank;

        n += is_wanted ? run->files[i].events.n : 0;
    }
    return n;
}

/** @param n  events that there are, with those that are not shown */
static int print(const struct timeline *timeline, uint64_t n)
{
    struct places *places = place_open(PLACE_PATIENT_NS);
    bool is_done = places != NULL;

    printf("%14s %12s %8s  %-20s %8s %11s %12s %15s  %s\n", "Begin(s)", "Time(us)",
           "Rank", "Call", "With", "Tag", "Bytes", "Slices", "Communicator, place");
    for (size_t i = 0; i < timeline->n && is_done; i++) {
        is_done = print_moment(&timeline->moments[i], places);
    }
    printf("%zu of %" PRIu64 " events; %" PRIu64
           " calls before them were not kept.%s\n",
           timeline->n, n, timeline->n_lost, PLACE_NOTE);
    place_close(places);
    if (!is_done) {
        fprintf(stderr, "bcs-mds: no memory for the events\n");
    }
    return is_done ? 0 : 1;
}

int verb_events(const struct run *run, const struct verb_options *options)
{
    size_t n_most = options->n_most < 0 ? LINES : (size_t)options->n_most;
    uint64_t n = n_events(run, options->rank);
    char error[DUMP_ERROR_BYTES];
    struct timeline timeline;
    int status = 1;

    if (n == 0) {
        fprintf(stderr, "bcs-mds: %s " TIMELINE_NONE "\n", run->folder);
        return status;
    }
    if (timeline_last(run, options->rank, n_most, &timeline, error) < 0) {
        fprintf(stderr, "bcs-mds: %s\n", error);
    } else {
        status = print(&timeline, n);
    }
    timeline_fini(&timeline);
    return status;
}
