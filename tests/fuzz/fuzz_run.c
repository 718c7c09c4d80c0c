/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a fuzzer calls with bytes of its own: they are taken for a run, and if bcs-mds
 * can read it one verb is carried out. It is wrong if that crashes, or a sanitizer
 * finds something; built with FUZZ_SECONDS, also if it takes more time of the processor
 * than that.
 *
 * The first byte says whether lengths and digests are put right first, without which
 * hardly any bytes would get further, and whether the files are those that slices are
 * recorded in, the second one which verb; two lengths of 16 bits follow, of the
 * manifest and of the first file, then these two and the second file, if anything is
 * left.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef FUZZ_SECONDS
#include <signal.h>
#include <sys/time.h>
#endif

#include "mds/live_slices.h"
#include "mds/tool/diff/diff.h"
#include "mds/tool/export/export.h"
#include "mds/tool/verbs/verbs.h"
#include "tests/fuzz/fuzz_input.h"

enum { HEAD_BYTES = 6, N_FILES = 2, IS_REPAIRED = 1, IS_LIVE = 2 };

/* Beside it, in the folder that the process runs in, the archive is until it is taken
 * away. */
#define FUZZ_ARCHIVE "fuzzed-archive"

/** Put right what a file says of its length, and the digests of sections that are
 *  within it. */
static void repair(char *data, size_t n_bytes)
{
    struct mds_dump_header header;
    struct mds_dump_section section;

    if (n_bytes < sizeof(header)) {
        return;
    }
    memcpy(&header, data, sizeof(header));
    header.n_bytes = n_bytes;
    memcpy(data, &header, sizeof(header));
    for (size_t i = 0; i < header.n_sections; i++) {
        char *entry = data + sizeof(header) + i * sizeof(section);

        if (sizeof(header) + (i + 1) * sizeof(section) > n_bytes) {
            return;
        }
        memcpy(&section, entry, sizeof(section));
        if (section.offset <= n_bytes && section.n_bytes <= n_bytes - section.offset) {
            section.digest = bcs_digest_add(BCS_DIGEST_OF_NOTHING,
                                            data + section.offset, section.n_bytes);
            memcpy(entry, &section, sizeof(section));
        }
    }
}

/** Put right what a file that slices are recorded in says of itself, of whose version,
 *  and where and when it was made. */
static void repair_live(char *data, size_t n_bytes)
{
    struct mds_live_slices head;

    if (n_bytes < sizeof(head)) {
        return;
    }
    memcpy(&head, data, sizeof(head));
    memcpy(head.magic, MDS_LIVE_SLICES_MAGIC, sizeof(head.magic));
    head.layout = mds_live_slices_layout();
    head.n_bytes = n_bytes;
    head.began.ns %= 1000;
    head.began.ticks %= 1000;
    gethostname(head.facts.host, sizeof(head.facts.host) - 1);
    memcpy(data, &head, sizeof(head));
}

/** Take bytes as a file that slices are recorded in. */
static int add_live_file(struct run *run, const uint8_t *bytes, size_t n_bytes,
                         bool is_repaired)
{
    static const char *const names[N_FILES] = {"node.00000.live", "global.live"};
    char error[DUMP_ERROR_BYTES];
    char *data = malloc(n_bytes + 1);
    FILE *file = fopen(names[run->n_nodes], "w");
    int rc;

    if (data == NULL || file == NULL) {
        abort(); /* nothing would be tried */
    }
    memcpy(data, bytes, n_bytes);
    if (is_repaired) {
        repair_live(data, n_bytes);
    }
    fwrite(data, 1, n_bytes, file);
    fclose(file);
    free(data);
    rc = run_read_file(run, names[run->n_nodes], error);
    unlink(names[0]);
    unlink(names[1]);
    return rc;
}

/** Take bytes as a file of the run. */
static int add_file(struct run *run, const uint8_t *bytes, size_t n_bytes, uint8_t how)
{
    bool is_repaired = (how & IS_REPAIRED) != 0;
    char error[DUMP_ERROR_BYTES];
    char *data;

    if ((how & IS_LIVE) != 0) {
        return add_live_file(run, bytes, n_bytes, is_repaired);
    }
    data = malloc(n_bytes + 1);

    memcpy(data, bytes, n_bytes);
    data[n_bytes] = '\0';
    if (is_repaired) {
        repair(data, n_bytes);
    }
    return run_take(run, "a file", data, n_bytes, error);
}

/** Compare a run with itself. */
static void differ(const struct run *run)
{
    struct run copies[2] = {*run, *run};
    struct spreads spreads[2] = {0};
    char *folders[2] = {"a", "b"};
    struct diff diff = {.n_most = 20};

    for (int i = 0; i < 2; i++) {
        diff.sides[i] = (struct runs_compared){.path = "a folder",
                                               .n_runs = 1,
                                               .runs = &copies[i],
                                               .spreads = &spreads[i],
                                               .folders = &folders[i]};
    }
    diff_print(&diff);
    free(diff.names);
    spreads_fini(&spreads[0]);
    spreads_fini(&spreads[1]);
}

/** Write an archive, and take it away. Without the library there is none. */
static void archive(const struct run *run)
{
#ifdef MDS_HAS_OTF2
    char error[DUMP_ERROR_BYTES];
    struct output output;

    if (output_begin_folder(FUZZ_ARCHIVE, &output, error) < 0) {
        fprintf(stderr, "%s\n", error);
        abort(); /* nothing would be tried */
    }
    export_otf2(run, &output, error);
    output_abandon(&output);
#else
    (void)run;
#endif
}

static void show(const struct run *run, uint8_t verb)
{
    static const char *const formats[] = {"csv", "json", "sqlite", "chrome"};
    struct verb_options options = {
        .of = run->n_names > 0 ? run->names[0] : "computation",
        .is_of_sizes = verb / 16 % 2 == 1,
        .rank = verb / 32 % 2 == 1 ? (int64_t)run->files[0].process.rank : -1,
        .n_most = 5,
        .has_ranks = true,
        .format = formats[verb / 64 % 4],
        .output = "/dev/null",
    };

    switch (verb % 16) {
    case 0:
        verb_summary(run, &options);
        break;
    case 1:
        options.output = NULL; /* pictures are gnuplot's */
        verb_dist(run, &options);
        break;
    case 2:
        verb_matrix(run, &options);
        break;
    case 3:
        verb_check(run, &options);
        break;
    case 4:
        verb_report(run, &options);
        break;
    case 5:
        differ(run);
        break;
    case 6:
        verb_events(run, &options);
        break;
    case 8:
        verb_waits(run, &options);
        break;
    case 9:
        archive(run);
        break;
    default:
        verb_export(run, &options);
        break;
    }
}

/** Those that look at files about slices, too. */
static void show_slices(const struct run *run, uint8_t verb)
{
    struct verb_options options = {
        .rank = -1,
        .node = verb / 16 % 2 == 1 ? 0 : -1,
        .n_most = verb / 32 % 2 == 1 ? 3 : -1,
        .metric =
            run->nodes[0].metrics.n > 0 ? node_metric_name(&run->nodes[0], 0) : "LTTS",
        .format = "csv",
        .output = "/dev/null",
    };

    if (run->n_files == 0) {
        verb_summary(run, &options);
        verb_export(run, &options);
    }
    verb_check(run, &options);
    options.output = NULL;
    verb_slices(run, &options);
}

#ifdef FUZZ_SECONDS
static void give_up(int signal)
{
    (void)signal;
    abort(); /* which the fuzzer tells, with what it has given us */
}

/** From now on the process has so many seconds of the processor's time: one that was
 *  stopped for long has not run for long. */
static void limit_time(void)
{
    const struct itimerval limit = {.it_value.tv_sec = FUZZ_SECONDS};

    signal(SIGPROF, give_up);
    setitimer(ITIMER_PROF, &limit, NULL);
}
#else
static void limit_time(void)
{
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    struct run run = {.folder = "."};
    char error[DUMP_ERROR_BYTES];
    size_t n_manifest, n_first, n_rest;
    int rc;

    if (n_bytes < HEAD_BYTES) {
        return 0;
    }
    limit_time();
    n_rest = n_bytes - HEAD_BYTES;
    n_manifest = (size_t)data[2] | (size_t)data[3] << 8;
    n_manifest = n_manifest < n_rest ? n_manifest : n_rest;
    n_rest -= n_manifest;
    n_first = (size_t)data[4] | (size_t)data[5] << 8;
    n_first = n_first < n_rest ? n_first : n_rest;
    n_rest -= n_first;

    run.manifest = strndup((const char *)data + HEAD_BYTES, n_manifest);
    run.files = calloc(N_FILES, sizeof(*run.files));
    run.nodes = calloc(N_FILES, sizeof(*run.nodes));
    rc = add_file(&run, data + HEAD_BYTES + n_manifest, n_first, data[0]);
    if (rc == 0 && n_rest > 0) {
        rc = add_file(&run, data + HEAD_BYTES + n_manifest + n_first, n_rest, data[0]);
    }
    if (rc == 0 && run_complete(&run, error) == 0) {
        if (run.n_nodes > 0) {
            show_slices(&run, data[1]);
        }
        if (run.n_files > 0) {
            show(&run, data[1]);
        }
    }
    run_fini(&run);
    return 0;
}
