/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the folder of a run while its ranks begin, record and end.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mds/dump_process.h"
#include "mds/live.h"
#include "mds/mmds.h"
#include "mds/tool/read/run_read.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 4, RANK = 2 };

static char folder[64], live[128], written[128], manifest[128];
static struct run run;

static void make_folder(void)
{
    strcpy(folder, "/tmp/bcs-run-read-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(live, sizeof(live), "%s/process.00002.live", folder);
    snprintf(written, sizeof(written), "%s/process.00002.mds", folder);
    snprintf(manifest, sizeof(manifest), "%s/manifest.txt", folder);
    run = (struct run){
        .folder = folder,
        .files = calloc(N_RANKS, sizeof(*run.files)),
        .nodes = calloc(N_RANKS, sizeof(*run.nodes)),
    };
}

static void remove_folder(void)
{
    run_fini(&run);
    unlink(live);
    unlink(written);
    unlink(manifest);
    ck_assert_int_eq(rmdir(folder), 0);
}

static struct mds_collect *start(void)
{
    static const char *const names[] = {"MPI_Send"};
    static const enum mds_timing timings[] = {MDS_BLOCKING};
    const struct mmds_plan plan = {
        .shape = {.n_ranks = N_RANKS, .bits = 1},
        .rank = RANK,
        .names = names,
        .timings = timings,
        .n_primitives = 1,
        .path = live,
    };
    struct mds_collect *collect;

    ck_assert_int_eq(mmds_start(&plan, &collect), 0);
    return collect;
}

/** End as MPI_Finalize does. */
static void end(struct mds_collect *collect)
{
    const struct mds_process process = {.collect = collect,
                                        .end = MDS_DUMP_END_FINALIZE};

    mmds_stop(collect);
    ck_assert_int_eq(mds_dump_process_write(&process, written), 0);
    mds_live_drop(collect, live);
}

static void make_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(a_rank_that_ends_meanwhile_is_read_as_it_has_ended)
{
    struct mds_collect *collect = start();
    char error[DUMP_ERROR_BYTES] = "";

    ck_assert_int_eq(run_read_file(&run, "process.00002.live", error), 0);
    ck_assert_uint_eq(run.files[0].process.end, MDS_DUMP_END_UNKNOWN);
    end(collect);
    ck_assert_int_eq(run_read_file(&run, "process.00002.live", error), 0);
    ck_assert_uint_eq(run.n_files, 2);
    ck_assert_uint_eq(run.files[1].process.rank, RANK);
    ck_assert_uint_eq(run.files[1].process.end, MDS_DUMP_END_FINALIZE);
    ck_assert_uint_eq(run.n_beginning, 0);
}
END_TEST

START_TEST(a_file_that_is_nowhere_is_told_of)
{
    char error[DUMP_ERROR_BYTES] = "";

    ck_assert_int_lt(run_read_file(&run, "process.00002.live", error), 0);
    ck_assert_ptr_nonnull(strstr(error, written));
}
END_TEST

START_TEST(a_rank_that_has_not_begun_is_told_of)
{
    char error[DUMP_ERROR_BYTES] = "";
    struct run whole;

    make_file(manifest, "format: bcs-mds 1\n");
    make_file(live, "");
    ck_assert_int_eq(run_read_file(&run, "process.00002.live", error), 0);
    ck_assert_uint_eq(run.n_files, 0);
    ck_assert_uint_eq(run.n_beginning, 1);
    ck_assert_int_lt(run_read(folder, &whole, error), 0);
    ck_assert_ptr_nonnull(strstr(error, "has begun to record yet"));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("run_read");

    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, a_rank_that_ends_meanwhile_is_read_as_it_has_ended);
    tcase_add_test(tcase, a_file_that_is_nowhere_is_told_of);
    tcase_add_test(tcase, a_rank_that_has_not_begun_is_told_of);
    return run_tcase("run_read", tcase);
}
