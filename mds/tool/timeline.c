/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts the events of all ranks in order; see timeline.h.
 */
#include "mds/tool/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "mds/tool/site.h"

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

static bool is_wanted(const struct dump_file *file, int64_t rank)
{
    return file->events.n > 0 && (rank < 0 || rank == file->process.rank);
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
    return 0;
}

void timeline_fini(struct timeline *timeline)
{
    free(timeline->moments);
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

char *moment_place(const struct moment *moment, struct places *places)
{
    struct site site = site_of(moment->file, moment->event.site);

    return site_place(&site, places);
}
