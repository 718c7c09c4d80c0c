/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks through a run and hands out its tables row by row; see export.h. One thread.
 */
#include "mds/tool/export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mds/collect.h"
#include "mds/histogram.h"
#include "mds/tool/analysis/site.h"
#include "mds/tool/read/dump_later.h"
#include "mds/tool/read/manifest.h"
#include "mds/tool/read/text.h"

/* Values for the columns of parts; see export_tables.c. */
#define LATE_VALUES(ns)                                                                \
    {.number = (ns)[0]}, {.number = (ns)[1]},                                          \
    {                                                                                  \
        .number = (ns)[2]                                                              \
    }
#define PART_VALUES(ns)                                                                \
    LATE_VALUES(ns), {.number = (ns)[3]}, {.number = (ns)[4]},                         \
    {                                                                                  \
        .number = (ns)[5]                                                              \
    }

static const char *const periods[] = {"computation", "communication"};

/** @param item  which one it is of the lines with its key that follow each other */
static int hand_line(const struct manifest_line *line, uint64_t item,
                     const struct export_sink *sink)
{
    char *key = text_utf8(line->key, line->n_key_bytes);
    char *plain = manifest_unescape(line->value, line->n_value_bytes);
    char *value = plain == NULL ? NULL : text_utf8(plain, strlen(plain));
    int rc = -ENOMEM;

    if (key != NULL && value != NULL) {
        rc = sink->row(sink->state, &export_tables[EXPORT_MANIFEST],
                       (union export_value[]){
                           {.text = key},
                           {.number = item},
                           {.text = value},
                       });
    }
    free(key);
    free(plain);
    free(value);
    return rc;
}

static bool has_key(const struct manifest_line *line, const struct manifest_line *other)
{
    return line->n_key_bytes == other->n_key_bytes &&
           memcmp(line->key, other->key, line->n_key_bytes) == 0;
}

static int hand_manifest(const struct run *run, const struct export_sink *sink)
{
    const char *at = run->manifest;
    struct manifest_line line, before = {.key = ""};
    uint64_t item = 0;
    int rc = 0;

    while (rc == 0 && manifest_line(&at, &line)) {
        item = has_key(&line, &before) ? item + 1 : 0;
        rc = hand_line(&line, item, sink);
        before = line;
    }
    return rc;
}

static int hand_process(const struct dump_file *file, const struct export_sink *sink)
{
    const struct mds_dump_process *process = &file->process;

    return sink->row(sink->state, &export_tables[EXPORT_PROCESSES],
                     (union export_value[]){
                         {.number = process->rank},
                         {.number = process->n_ranks},
                         {.text = process->host},
                         {.number = process->pid},
                         {.number = process->began_unix},
                         {.number = process->began_monotonic},
                         {.number = process->run},
                         {.number = process->run_ticks},
                         {.number = process->instant},
                         {.number = process->peak_bytes},
                         {.number = process->n_slices},
                         {.number = process->end},
                         {.number = process->histogram_bits},
                     });
}

static int hand_periods(const struct dump_file *file, const struct export_sink *sink)
{
    int rc = 0;

    for (uint32_t i = 0; i < 2 && rc == 0; i++) {
        struct mds_dump_call period = dump_period(file, i);

        rc = sink->row(sink->state, &export_tables[EXPORT_PERIODS],
                       (union export_value[]){
                           {.number = file->process.rank},
                           {.text = periods[i]},
                           {.number = period.count},
                           {.number = period.min},
                           {.number = period.max},
                           {.number = period.total},
                       });
    }
    return rc;
}

static int hand_calls(const struct dump_file *file, const struct export_sink *sink)
{
    int rc = 0;

    for (uint32_t i = 0; i < file->calls.n && rc == 0; i++) {
        struct mds_dump_call call = dump_call(file, i);

        rc = sink->row(
            sink->state, &export_tables[EXPORT_CALLS],
            (union export_value[]){
                {.number = file->process.rank},
                {.text = dump_name(file, call.name)},
                {.text = call.timing == MDS_BLOCKING ? "blocking" : "nonblocking"},
                {.number = call.count},
                {.number = call.min},
                {.number = call.max},
                {.number = call.total},
                {.number = call.n_sized},
                {.number = call.n_bytes},
                {.number = call.n_passed},
                PART_VALUES(call.parts),
            });
    }
    return rc;
}

/** A text of others as UTF-8; NULL is "". @return for free; NULL: no memory */
static char *plain_text(const char *text)
{
    return text == NULL ? strdup("") : text_utf8(text, strlen(text));
}

static int hand_site(const struct dump_file *file, uint32_t i, struct places *places,
                     const struct export_sink *sink)
{
    struct site site = site_of(file, i);
    char *words = site_place(&site, places, NULL);
    char *place = words == NULL ? NULL : plain_text(words);
    char *module = plain_text(site.module.path);
    int rc = -ENOMEM;

    if (place != NULL && module != NULL) {
        rc = sink->row(sink->state, &export_tables[EXPORT_SITES],
                       (union export_value[]){
                           {.number = file->process.rank},
                           {.text = site.primitive},
                           {.text = module},
                           {.number = site.address},
                           {.text = place},
                           {.number = site.time.count},
                           {.number = site.time.min_ns},
                           {.number = site.time.max_ns},
                           {.number = site.time.total_ns},
                           {.number = site.n_bytes},
                           PART_VALUES(site.split.ns),
                           {.number = site.fault.rank},
                           {.number = site.fault.ticks},
                       });
    }
    free(words);
    free(place);
    free(module);
    return rc;
}

/** Those of all ranks: the files that they are in are opened once. */
static int hand_sites(const struct run *run, const struct export_sink *sink)
{
    struct places *places = place_open(PLACE_PATIENT_NS);
    int rc = places == NULL ? -ENOMEM : 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        for (uint32_t j = 0; j < run->files[i].sites.n && rc == 0; j++) {
            rc = hand_site(&run->files[i], j, places, sink);
        }
    }
    place_close(places);
    return rc;
}

static int hand_buckets(const struct dump_file *file, const struct export_sink *sink)
{
    uint32_t bits = file->process.histogram_bits;
    int rc = 0;

    for (uint32_t i = 0; i < file->buckets.n && rc == 0; i++) {
        struct mds_dump_bucket bucket = dump_bucket(file, i);
        bool is_size = bucket.of == MDS_DUMP_OF_SIZE;
        bool is_period = bucket.of < MDS_DUMP_OF_LATENCY;
        double unit = is_size ? 1 : run_ns_per_tick(file);

        rc = sink->row(
            sink->state, &export_tables[EXPORT_BUCKETS],
            (union export_value[]){
                {.number = file->process.rank},
                {.text = is_period ? periods[bucket.of] : ""},
                {.text = is_period
                             ? ""
                             : dump_name(file, dump_call(file, bucket.call).name)},
                {.text = is_size ? "bytes" : "ns"},
                {.real = unit * (double)mds_histogram_least(bucket.bucket, bits)},
                {.real = unit * (double)mds_histogram_least(bucket.bucket + 1, bits)},
                {.number = bucket.count},
            });
    }
    return rc;
}

static int hand_peers(const struct dump_file *file, const struct export_sink *sink)
{
    int rc = 0;

    for (uint32_t i = 0; i < file->peers.n && rc == 0; i++) {
        struct mds_dump_peer peer = dump_peer(file, i);

        rc = sink->row(sink->state, &export_tables[EXPORT_PEERS],
                       (union export_value[]){
                           {.number = file->process.rank},
                           {.number = peer.rank},
                           {.number = peer.n_sent},
                           {.number = peer.sent_bytes},
                           {.number = peer.n_received},
                           {.number = peer.received_bytes},
                           LATE_VALUES(peer.late),
                       });
    }
    return rc;
}

static int hand_comms(const struct dump_file *file, const struct export_sink *sink)
{
    int rc = 0;

    for (uint32_t i = 0; i < file->comms.n && rc == 0; i++) {
        struct mds_dump_comm comm = dump_comm(file, i);
        char *name = plain_text(dump_name(file, comm.name));

        rc = name == NULL ? -ENOMEM
                          : sink->row(sink->state, &export_tables[EXPORT_COMMS],
                                      (union export_value[]){
                                          {.number = file->process.rank},
                                          {.number = comm.id},
                                          {.text = name},
                                          {.number = comm.n_ranks},
                                          {.number = comm.n_sent},
                                          {.number = comm.sent_bytes},
                                          {.number = comm.n_received},
                                          {.number = comm.received_bytes},
                                          {.number = comm.n_collectives},
                                          {.number = comm.collective_bytes},
                                      });
        free(name);
    }
    return rc;
}

static const char *scope_of(const struct node_file *file)
{
    return file->is_global ? "global" : "node";
}

static int hand_nodes(const struct run *run, const struct export_sink *sink)
{
    int rc = 0;

    for (uint32_t i = 0; i < run->n_nodes && rc == 0; i++) {
        const struct mds_dump_node *node = &run->nodes[i].node;

        rc = sink->row(
            sink->state, &export_tables[EXPORT_NODES],
            (union export_value[]){
                {.text = scope_of(&run->nodes[i])},
                {.number = node->node},
                {.number = node->n_nodes},
                {.number = node->first_rank},
                {.number = node->n_ranks},
                {.text = node->host},
                {.number = node->began_unix},
                {.number = node->began_monotonic},
                {.number = node->run},
                {.number = node->slice},
                {.number = node->interval},
                {.number = UINT64_C(1) << node->shift},
                {.number = node_is_unended(&run->nodes[i]) ? MDS_DUMP_END_UNKNOWN
                                                           : MDS_DUMP_END_FINALIZE},
            });
    }
    return rc;
}

/** What a span has, metric by metric. */
static int hand_span(const struct node_file *file, uint32_t i,
                     const struct export_sink *sink)
{
    struct mds_dump_span span = node_span(file, i);
    int rc = 0;

    for (uint32_t j = 0; j < file->metrics.n && rc == 0; j++) {
        struct bcs_tally tally = node_tally(file, i, j);

        rc = sink->row(sink->state, &export_tables[EXPORT_SLICES],
                       (union export_value[]){
                           {.text = scope_of(file)},
                           {.number = file->node.node},
                           {.number = span.first},
                           {.number = span.began},
                           {.number = span.n_slices},
                           {.text = node_metric_name(file, j)},
                           {.text = node_metric_is_time(file, j) ? "ns" : "number"},
                           {.number = tally.count},
                           {.number = tally.least},
                           {.number = tally.most},
                           {.number = tally.total},
                       });
    }
    return rc;
}

static int hand_slices(const struct run *run, const struct export_sink *sink)
{
    int rc = 0;

    for (uint32_t i = 0; i < run->n_nodes; i++) {
        for (uint32_t j = 0; j < run->nodes[i].spans.n && rc == 0; j++) {
            rc = hand_span(&run->nodes[i], j, sink);
        }
    }
    return rc;
}

int export_check_events(const struct run *run, char error_out[DUMP_ERROR_BYTES])
{
    return run_n_events(run) > 0
               ? 0
               : dump_refuse(error_out, "%s " TIMELINE_NONE, run->folder);
}

int export_timeline(const struct run *run, uint32_t i, const struct output *output,
                    struct timeline *timeline_out, char error_out[DUMP_ERROR_BYTES])
{
    struct dump_file *file = &run->files[i];
    int rc = dump_events_hold(file, error_out);

    if (rc == 0 && timeline_of(run, file->process.rank, timeline_out) < 0) {
        rc = output_refuse(output, -ENOMEM, error_out);
        timeline_fini(timeline_out);
    }
    if (rc < 0) {
        dump_events_drop(file);
    }
    return rc;
}

void export_timeline_end(const struct run *run, uint32_t i, struct timeline *timeline)
{
    timeline_fini(timeline);
    dump_events_drop(&run->files[i]);
}

int export_run(const struct run *run, const struct export_sink *sink)
{
    static int (*const hand_run[EXPORT_TABLES])(const struct run *,
                                                const struct export_sink *) = {
        [EXPORT_MANIFEST] = hand_manifest,
        [EXPORT_SITES] = hand_sites,
        [EXPORT_NODES] = hand_nodes,
        [EXPORT_SLICES] = hand_slices,
    };
    static int (*const hand_file[EXPORT_TABLES])(const struct dump_file *,
                                                 const struct export_sink *) = {
        [EXPORT_PROCESSES] = hand_process, [EXPORT_PERIODS] = hand_periods,
        [EXPORT_CALLS] = hand_calls,       [EXPORT_BUCKETS] = hand_buckets,
        [EXPORT_PEERS] = hand_peers,       [EXPORT_COMMS] = hand_comms,
    };
    int rc = 0;

    for (uint32_t i = 0; i < EXPORT_TABLES && rc == 0; i++) {
        const struct export_table *table = &export_tables[i];

        rc = sink->begin(sink->state, table);
        if (rc == 0 && hand_run[i] != NULL) {
            rc = hand_run[i](run, sink);
        }
        for (uint32_t j = 0; hand_file[i] != NULL && j < run->n_files && rc == 0; j++) {
            rc = hand_file[i](&run->files[j], sink);
        }
        if (rc == 0) {
            rc = sink->end(sink->state, table);
        }
    }
    return rc;
}
