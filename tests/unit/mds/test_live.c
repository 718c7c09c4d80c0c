/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that processes record in: what is in them is there at any moment, and whatever
 * is done to them, reading one is safe.
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

#include "mds/dump_process.h"
#include "mds/live.h"
#include "mds/mmds.h"
#include "mds/recorder.h"
#include "tests/unit/run_suite.h"

enum { SEND, BARRIER, N_PRIMITIVES };

static const char *const names[N_PRIMITIVES] = {"MPI_Send", "MPI_Barrier"};
static const enum mds_timing timings[N_PRIMITIVES] = {MDS_BLOCKING, MDS_BLOCKING};

static char folder[64], path[128];
static struct mds_collect *collect;

static int start(const char *where)
{
    const struct mmds_plan plan = {
        .shape = {.n_ranks = 4, .bits = 1, .n_events = 5},
        .rank = 2,
        .names = names,
        .timings = timings,
        .n_primitives = N_PRIMITIVES,
        .path = where,
    };

    return mmds_start(&plan, &collect);
}

static void make_folder(void)
{
    mds_call = (struct mds_call){0}; /* tests leave calls unfinished */
    strcpy(folder, "/tmp/bcs-live-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/file", folder);
}

static void remove_folder(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void call_from(uintptr_t address, uint32_t primitive)
{
    uint64_t began;

    mds_call_from((const void *)address);
    began = mds_begin(collect, primitive, MDS_BLOCKING);
    mds_end(collect, primitive, MDS_BLOCKING, began);
}

START_TEST(a_copy_has_all_until_now)
{
    struct mds_collect *copy;
    struct mmds_summary summary;

    ck_assert_int_eq(start(path), 0);
    for (int i = 0; i < 5; i++) {
        call_from(1000, SEND);
    }
    mds_sent(collect, &(struct mds_message){3, 7, mds_comm_number(collect, 77, 4), 10});
    mds_call_from((const void *)2000);
    mds_begin(collect, BARRIER, MDS_BLOCKING);
    mds_call_with(collect, 3, -1, 0);
    ck_assert_int_eq(mds_live_read(path, &copy), 0);
    copy->now.since_ticks = copy->since_ticks + 1; /* the later one counts */
    ck_assert_int_eq(mmds_cut(copy), 0);
    ck_assert_uint_eq(copy->stop_ticks, copy->now.since_ticks);
    mmds_summarize(copy, &summary);
    ck_assert_uint_eq(summary.primitives[SEND].count, 5);
    ck_assert_uint_eq(summary.primitives[BARRIER].count, 0);
    ck_assert_uint_le(summary.gap_ns, 1);
    ck_assert_uint_eq(mds_peers(copy)[3].n_sent, 1);
    ck_assert_uint_eq(copy->comms.table[0].id, 77);
    ck_assert(copy->now.is_inside);
    ck_assert_uint_eq(copy->sites.table[copy->now.site].address, 2000);
    ck_assert_int_eq(copy->now.peer, 3);
    ck_assert_int_eq(copy->now.tag, -1);
    ck_assert_uint_eq(copy->origin.rank, 2);
    ck_assert_str_eq(copy->origin.kinds[BARRIER].name, "MPI_Barrier");
    free(copy);
    mds_live_drop(collect, path);
    ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

START_TEST(a_copy_has_nothing_of_its_process_alone)
{
    struct mds_collect *copy;
    uint64_t slice = 0;

    ck_assert_int_eq(start(path), 0);
    collect->slice = &slice;
    collect->stamps = (void *)&slice;
    collect->begins = (void *)&slice;
    *(volatile uint8_t *)&collect->is_shared = 7;
    ck_assert_int_eq(mds_live_read(path, &copy), 0);
    *(volatile uint8_t *)&collect->is_shared = 0;
    ck_assert_ptr_null(copy->slice);
    ck_assert_ptr_null(copy->stamps);
    ck_assert_ptr_null(copy->begins);
    ck_assert(!copy->is_shared);
    free(copy);
    mds_live_drop(collect, path);
}
END_TEST

START_TEST(a_file_is_written_of_a_copy)
{
    struct mds_process process = {.end = MDS_DUMP_END_UNKNOWN};
    struct mds_dump_header header;
    size_t n_bytes;
    char *bytes;

    ck_assert_int_eq(start(path), 0);
    mds_call_from((const void *)2000);
    mds_begin(collect, BARRIER, MDS_BLOCKING); /* of which nothing has ended yet */
    ck_assert_int_eq(mds_live_read(path, &process.collect), 0);
    ck_assert_int_eq(mmds_cut(process.collect), 0);
    ck_assert_int_eq(mds_dump_process_bytes(&process, &bytes, &n_bytes), 0);
    memcpy(&header, bytes, sizeof(header));
    ck_assert_uint_eq(header.n_bytes, n_bytes);
    ck_assert_ptr_nonnull(memmem(bytes, n_bytes, "MPI_Barrier", 12));
    ck_assert_ptr_null(memmem(bytes, n_bytes, "MPI_Send", 9));
    free(bytes);
    free(process.collect);
    mds_live_drop(collect, path);
}
END_TEST

START_TEST(the_clocks_of_another_machine_are_not_read)
{
    struct mds_collect *copy;

    ck_assert_int_eq(start(path), 0);
    ck_assert_int_eq(mds_live_read(path, &copy), 0);
    copy->origin.host[0]++;
    ck_assert_int_eq(mmds_cut(copy), -ESTALE);
    copy->origin.host[0]--;
    copy->now.since_ticks = bcs_clock_ticks() + 1000000000; /* of another start, too */
    ck_assert_int_eq(mmds_cut(copy), -ESTALE);
    copy->now.since_ticks = copy->start_ticks;
    copy->start_ns = bcs_clock_now_ns() + 1000000000; /* started anew since */
    ck_assert_int_eq(mmds_cut(copy), -ESTALE);
    free(copy);
    mds_live_drop(collect, path);
}
END_TEST

START_TEST(there_is_no_second_file_of_a_name)
{
    struct mds_collect *first;

    ck_assert_int_eq(start(path), 0);
    first = collect;
    ck_assert_int_eq(start(path), -EEXIST);
    mds_live_drop(first, path);
    ck_assert_int_eq(start("/nowhere/file"), -ENOENT);
}
END_TEST

START_TEST(room_is_taken_at_the_begin)
{
    struct stat status;

    ck_assert_int_eq(start(path), 0);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_ge(status.st_blocks * 512, status.st_size);
    mds_live_drop(collect, NULL); /* stays */
    ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_file_that_may_not_be_so_long_is_not_made)
{
    const struct rlimit little = {.rlim_cur = 100000, .rlim_max = RLIM_INFINITY};
    const struct rlimit all = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
    ck_assert_int_eq(start(path), -EFBIG); /* and the process lives */
    ck_assert_int_eq(access(path, F_OK), -1);
    setrlimit(RLIMIT_FSIZE, &all);
}
END_TEST

START_TEST(what_is_no_such_file_is_refused)
{
    struct mds_collect *copy;
    int fd;

    ck_assert_int_eq(mds_live_read(path, &copy), -ENOENT);
    ck_assert_int_eq(mds_live_read(folder, &copy), -EINVAL);
    fd = open(path, O_WRONLY | O_CREAT, 0666);
    ck_assert_int_eq(mds_live_read(path, &copy), -EAGAIN);
    ck_assert_int_eq(ftruncate(fd, 1), 0);
    ck_assert_int_eq(mds_live_read(path, &copy), -EINVAL);
    ck_assert_int_eq(ftruncate(fd, sizeof(struct mds_collect)), 0);
    ck_assert_int_eq(mds_live_read(path, &copy), -EAGAIN);
    ck_assert_int_eq(pwrite(fd, "BCS-LIVE", 8, 0), 8);
    ck_assert_int_eq(mds_live_read(path, &copy), -EINVAL);
    close(fd);
}
END_TEST

/* Any byte of a file may be anything: it is refused, or what is made of it is sound. */
START_TEST(a_damaged_file_is_safe)
{
    struct mds_collect *whole;
    size_t n_refused = 0, n_all;
    int fd;

    ck_assert_int_eq(start(path), 0);
    call_from((uintptr_t)&start, SEND);
    mds_sent(collect, &(struct mds_message){3, 7, mds_comm_number(collect, 77, 4), 10});
    mds_call_from((const void *)2000);
    mds_begin(collect, BARRIER, MDS_BLOCKING);
    n_all = collect->origin.n_bytes;
    whole = malloc(n_all);
    memcpy(whole, collect, n_all);
    fd = open(path, O_WRONLY);
    srand(1);
    for (int i = 0; i < 3000; i++) {
        struct mds_process process = {.end = MDS_DUMP_END_UNKNOWN};
        /* One quarter each in what says whose it is, in what stands behind the tables
         * of primitives, in the events, and anywhere. */
        size_t most = i % 4 == 0 ? offsetof(struct mds_origin, kinds) : n_all;
        size_t least = i % 4 == 1   ? offsetof(struct mds_collect, computation)
                       : i % 4 == 2 ? n_all - 5 * sizeof(struct mds_event)
                                    : 0;
        size_t at = least + (size_t)rand() % (most - least);
        uint8_t byte = (uint8_t)rand();
        size_t n_bytes;
        char *bytes;

        ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
        if (mds_live_read(path, &process.collect) == 0) {
            if (mmds_cut(process.collect) == 0) {
                ck_assert_int_eq(mds_dump_process_bytes(&process, &bytes, &n_bytes), 0);
                free(bytes);
            }
            free(process.collect);
        } else {
            n_refused++;
        }
        ck_assert_int_eq(pwrite(fd, (char *)whole + at, 1, (off_t)at), 1);
    }
    ck_assert_uint_gt(n_refused, 200);
    free(whole);
    close(fd);
    mds_live_drop(collect, path);
}
END_TEST

START_TEST(there_is_no_folder_where_none_can_be_made)
{
    struct mds_recorder recorder = {.manifest = {.n_ranks = 4}};

    ck_assert_int_lt(mds_recorder_make_folder(&recorder, "/nowhere/runs"), 0);
    ck_assert_str_eq(recorder.folder, "");
}
END_TEST

/** Start to record as the settings say, in the folder of the test. */
static void start_recorder(struct mds_recorder *recorder, enum mds_mode mode)
{
    struct mds_config config = {
        .mode = mode, .n_events = 5, .bits = 1, .primitives = "*"};
    struct mmds_plan plan = {
        .rank = 2,
        .names = names,
        .timings = timings,
        .n_primitives = N_PRIMITIVES,
    };

    mds_recorder_start(recorder, &plan, &config);
    ck_assert_ptr_nonnull(recorder->collect);
    ck_assert_uint_eq(recorder->collect->shape.n_events,
                      mode == MDS_MODE_TRACE ? 5 : 0);
}

START_TEST(what_cannot_be_written_stays_where_it_was_recorded)
{
    struct mds_recorder recorder = {.manifest = {.n_ranks = 4}};
    struct mds_process process = {.end = MDS_DUMP_END_FINALIZE};

    strcpy(recorder.folder, folder);
    start_recorder(&recorder, MDS_MODE_ALL);
    strcpy(path, recorder.live);
    ck_assert_int_eq(access(path, F_OK), 0);
    mmds_stop(recorder.collect);
    strcpy(recorder.folder, "/nowhere");
    mds_recorder_write(&recorder, 2, &process);
    mds_recorder_drop(&recorder);
    ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

START_TEST(without_a_folder_it_is_recorded_in_memory)
{
    struct mds_recorder recorder = {.folder = "/nowhere", .manifest = {.n_ranks = 4}};

    start_recorder(&recorder, MDS_MODE_TRACE);
    ck_assert_str_eq(recorder.live, "");
    mds_recorder_drop(&recorder);
    ck_assert_str_eq(recorder.folder, "");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("live");

    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, a_copy_has_all_until_now);
    tcase_add_test(tcase, a_copy_has_nothing_of_its_process_alone);
    tcase_add_test(tcase, a_file_is_written_of_a_copy);
    tcase_add_test(tcase, the_clocks_of_another_machine_are_not_read);
    tcase_add_test(tcase, there_is_no_second_file_of_a_name);
    tcase_add_test(tcase, room_is_taken_at_the_begin);
    tcase_add_test(tcase, a_file_that_may_not_be_so_long_is_not_made);
    tcase_add_test(tcase, what_is_no_such_file_is_refused);
    tcase_add_test(tcase, there_is_no_folder_where_none_can_be_made);
    tcase_add_test(tcase, what_cannot_be_written_stays_where_it_was_recorded);
    tcase_add_test(tcase, without_a_folder_it_is_recorded_in_memory);
    tcase_add_test(tcase, a_damaged_file_is_safe);
    return run_tcase("live", tcase);
}
