/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that slices are recorded in: what is in them is there at any moment, also a
 * moment at which a span is half written; and whatever is done to them, reading one is
 * safe.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mds/live_slices.h"
#include "mds/tool/read/node_read.h"
#include "nic_threads/node/monitor.h"
#include "tests/unit/run_suite.h"

enum {
    N_SPANS = 4,
    N_MONITORS = 2,
    FIRST = 10,
    N_SLICES = 11, /* so that spans are of four */
    LTDEM = NIC_MONITORED_DEM,
    ALL = (1 << BCS_METRICS) - 1,
};

static char folder[64], path[128];
static uint64_t metrics;
static struct mds_live_slices *file;
static struct bcs_machine machine;
static struct nic_recorder recorders[N_MONITORS];

static int make(void)
{
    const struct mds_live_slices slices = {
        .n_spans = N_SPANS,
        .metrics = metrics,
        .n_monitors = N_MONITORS,
        .facts = {.node = 1,
                  .n_nodes = 3,
                  .first_rank = 2,
                  .n_ranks = 2,
                  .slice = 500000,
                  .window_first = FIRST},
    };

    return mds_live_slices_make(&slices, path);
}

/** Make the file, map it, and begin to record. */
static void start(void)
{
    char *place;

    ck_assert_int_eq(make(), 0);
    ck_assert_int_eq(mds_live_slices_map(path, &file), 0);
    machine.began = bcs_clock_moment();
    place = mds_live_slices_place(file);
    for (int i = 0; i < N_MONITORS; i++) {
        struct nic_monitor *monitor =
            (struct nic_monitor *)(place + i * nic_monitor_bytes(N_SPANS));

        nic_monitor_init(monitor, metrics >> BCS_METRICS_LOCAL, FIRST, 0, N_SPANS);
        monitor->n_begun = FIRST - 1;
        recorders[i] = (struct nic_recorder){
            .monitor = monitor,
            .spans = {.whole = nic_monitor_spans(monitor)},
            .machine = &machine,
        };
    }
    mds_live_slices_begin(file, machine.began, 0);
}

static void make_folder(void)
{
    file = NULL;
    metrics = ALL;
    strcpy(folder, "/tmp/bcs-live-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/file", folder);
}

static void remove_folder(void)
{
    mds_live_slices_unmap(file);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

/** A slice begins at a monitor, and has a number of its own. */
static void begin_slice(int number, uint64_t value)
{
    nic_monitor_enter(recorders[number].monitor);
    nic_monitor_begin(&recorders[number]);
    nic_monitor_add(recorders[number].monitor, LTDEM, value);
    nic_monitor_stamp(recorders[number].monitor);
    nic_monitor_end(recorders[number].monitor);
}

static void run_slices(int number, uint64_t n)
{
    for (uint64_t i = 1; i <= n; i++) {
        begin_slice(number, i);
        nic_monitor_close(&recorders[number]);
    }
}

/** Read the file as bcs-mds does. */
static struct node_file read_node(void)
{
    char error[DUMP_ERROR_BYTES] = "";
    struct node_file node_file;
    struct mds_node node;
    size_t n_bytes;
    char *bytes;

    ck_assert_int_eq(mds_live_slices_read(path, &node), 0);
    ck_assert_int_eq(mds_dump_node_bytes(&node, &bytes, &n_bytes), 0);
    free(node.spans);
    ck_assert_int_eq(node_file_take(path, bytes, n_bytes, &node_file, error), 0);
    return node_file;
}

START_TEST(a_copy_has_all_slices_that_are_over)
{
    struct node_file node;
    struct bcs_tally sum;
    uint32_t metric;

    start();
    run_slices(0, N_SLICES);
    run_slices(1, 1);
    begin_slice(1, 1000); /* is not over */
    node = read_node();
    ck_assert_uint_eq(node.node.end, MDS_DUMP_END_UNKNOWN);
    ck_assert(node_is_unended(&node));
    ck_assert_uint_eq(node.node.node, 1);
    ck_assert_uint_eq(node.node.n_ranks, 2);
    ck_assert_uint_eq(node.node.interval, 0);
    ck_assert_uint_eq(node.node.shift, 2);
    ck_assert_uint_eq(node.node.began_monotonic, machine.began.ns);
    ck_assert_uint_gt(node.node.began_unix, 0);
    ck_assert_uint_eq(node_n_slices(&node), N_SLICES + 1);
    ck_assert_uint_eq(node.spans.n, (N_SLICES + 3) / 4);
    ck_assert_uint_eq(node_span(&node, 0).first, FIRST);
    for (uint32_t i = 0; i < node.spans.n; i++) {
        ck_assert_uint_le(node_span(&node, i).began, node.node.run);
    }
    metric = node_find_metric(&node, "BPTS");
    sum = node_sum(&node, metric);
    ck_assert_uint_eq(sum.count, 0);
    metric = node_find_metric(&node, "LTDEM");
    sum = node_sum(&node, metric);
    ck_assert_uint_eq(sum.count, N_SLICES + 1);
    node_file_fini(&node);
}
END_TEST

START_TEST(metrics_that_were_not_asked_for_are_left_out)
{
    struct node_file node;
    uint32_t metric;

    metrics = UINT64_C(1) << (BCS_METRICS_LOCAL + LTDEM);
    start();
    run_slices(0, 2);
    node = read_node();
    ck_assert_uint_eq(node.metrics.n, 1);
    metric = node_find_metric(&node, "LTDEM");
    ck_assert_uint_eq(node_sum(&node, metric).count, 2);
    node_file_fini(&node);
}
END_TEST

START_TEST(what_was_being_written_is_made_sound)
{
    struct bcs_span *span;
    struct node_file node;
    struct bcs_tally tally;

    start();
    run_slices(0, 2);
    span = nic_monitor_spans(recorders[0].monitor);
    /* a value is counted, and nothing else of it is there */
    span[0].tallies[LTDEM].count = 2;
    span[0].tallies[LTDEM].least = 5;
    span[0].tallies[LTDEM].most = 0;
    span[1].tallies[LTDEM] = (struct bcs_tally){.total = 3, .most = 3};
    span[1].n_slices = 0;
    node = read_node();
    ck_assert_uint_eq(node.spans.n, 2);
    ck_assert_uint_eq(node_span(&node, 0).n_slices, 2);
    tally = node_tally(&node, 0, node_find_metric(&node, "LTDEM"));
    ck_assert_uint_eq(tally.count, 2);
    ck_assert_uint_eq(tally.least, tally.most);
    tally = node_tally(&node, 1, node_find_metric(&node, "LTDEM"));
    ck_assert_uint_eq(tally.count, 0);
    ck_assert_uint_eq(tally.total, 0);
    ck_assert_uint_eq(node_span(&node, 1).n_slices, 1); /* of its other metrics */
    node_file_fini(&node);
    span[1].began = bcs_clock_ticks() + 1000000; /* a span that has not begun */
    node = read_node();
    ck_assert_uint_eq(node.spans.n, 1);
    node_file_fini(&node);
}
END_TEST

START_TEST(slices_by_intervals_have_their_length)
{
    struct node_file node;

    start();
    file->interval_ticks = 1000000;
    begin_slice(0, 1);
    recorders[0].monitor->n_quick = 3; /* quick ones that are not added yet */
    recorders[0].monitor->quick[LTDEM] = (struct bcs_tally){3, 6, 1, 3};
    node = read_node();
    ck_assert_uint_gt(node.node.interval, 0);
    ck_assert_uint_eq(node_n_slices(&node), 3);
    node_file_fini(&node);
    recorders[0].monitor->n_quick = NIC_MONITOR_SAMPLE; /* cannot be */
    node = read_node();
    ck_assert_uint_eq(node_n_slices(&node), 0);
    node_file_fini(&node);
}
END_TEST

START_TEST(a_file_is_made_with_room_and_read_once_it_has_begun)
{
    struct mds_live_slices *other;
    struct mds_node node;
    struct stat status;

    ck_assert_int_eq(mds_live_slices_read(path, &node), -ENOENT);
    ck_assert_int_eq(make(), 0);
    ck_assert_int_eq(make(), -EEXIST);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_ge(status.st_blocks * 512, status.st_size);
    ck_assert_int_eq(mds_live_slices_read(path, &node), -EAGAIN);
    ck_assert_int_eq(truncate(path, status.st_size - 4096), 0);
    ck_assert_int_eq(mds_live_slices_map(path, &other), -EINVAL);
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_int_eq(mds_live_slices_read(path, &node), -EAGAIN);
    ck_assert_int_eq(truncate(path, 100), 0);
    ck_assert_int_eq(mds_live_slices_read(path, &node), -EINVAL);
}
END_TEST

START_TEST(a_file_that_may_not_be_so_long_is_not_made)
{
    const struct rlimit little = {.rlim_cur = 5000, .rlim_max = RLIM_INFINITY};
    const struct rlimit all = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
    ck_assert_int_eq(make(), -EFBIG);
    ck_assert_int_eq(access(path, F_OK), -1);
    setrlimit(RLIMIT_FSIZE, &all);
}
END_TEST

START_TEST(the_clocks_of_another_machine_are_not_read)
{
    struct mds_node node;

    start();
    file->facts.host[0]++;
    ck_assert_int_eq(mds_live_slices_read(path, &node), -ESTALE);
    file->facts.host[0]--;
    file->began.ns = bcs_clock_now_ns() + 1000000000; /* started anew since */
    ck_assert_int_eq(mds_live_slices_read(path, &node), -ESTALE);
    file->began = machine.began;
    file->layout++;
    ck_assert_int_eq(mds_live_slices_read(path, &node), -EINVAL);
}
END_TEST

/* Any bytes of a file may be anything: it is refused, or what is made of it is
 * sound. */
START_TEST(a_damaged_file_is_safe)
{
    size_t n_all, n_refused = 0;
    char *whole;

    start();
    run_slices(0, N_SLICES);
    run_slices(1, 2);
    n_all = file->n_bytes;
    whole = malloc(n_all);
    memcpy(whole, file, n_all);
    srand(1);
    for (int i = 0; i < 4000; i++) {
        /* One half in what says what it is of, and one in the monitor behind it. */
        size_t most = i % 2 == 0 ? sizeof(*file) : sizeof(struct nic_monitor) + 1000;
        size_t at =
            (i % 2 == 0 ? 0 : MDS_LIVE_SLICES_HEAD_BYTES) + (size_t)rand() % most;
        char error[DUMP_ERROR_BYTES];
        struct node_file node_file;
        struct mds_node node;
        size_t n_bytes;
        char *bytes;

        ((char *)file)[at] = (char)rand();
        if (mds_live_slices_read(path, &node) == 0) {
            ck_assert_int_eq(mds_dump_node_bytes(&node, &bytes, &n_bytes), 0);
            if (node_file_take(path, bytes, n_bytes, &node_file, error) == 0) {
                node_file_fini(&node_file);
            }
            free(node.spans);
        } else {
            n_refused++;
        }
        ((char *)file)[at] = whole[at];
    }
    ck_assert_uint_gt(n_refused, 300);
    free(whole);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("live_slices");

    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, a_copy_has_all_slices_that_are_over);
    tcase_add_test(tcase, metrics_that_were_not_asked_for_are_left_out);
    tcase_add_test(tcase, what_was_being_written_is_made_sound);
    tcase_add_test(tcase, slices_by_intervals_have_their_length);
    tcase_add_test(tcase, a_file_is_made_with_room_and_read_once_it_has_begun);
    tcase_add_test(tcase, a_file_that_may_not_be_so_long_is_not_made);
    tcase_add_test(tcase, the_clocks_of_another_machine_are_not_read);
    tcase_add_test(tcase, a_damaged_file_is_safe);
    return run_tcase("live_slices", tcase);
}
