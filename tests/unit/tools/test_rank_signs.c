/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the maps and the environment of a process tell of BCS in it.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apps/tools/launch/absence.h"
#include "tests/unit/caught_stderr.h"
#include "tests/unit/run_suite.h"

#define LINE "7f00000-7f00001 r--p 00000000 00:1f 1 "
#define LINKER LINE "/lib64/ld-linux-x86-64.so.2\n"
#define MPI LINE "/usr/lib/libmpi.so.40.30.4\n"
#define PRELOAD LINE "/opt/bcs/lib/libbcs_mpi.so\n"
#define BEGUN LINE "/dev/shm/a/vader_segment.host.0.1 (deleted)\n"
#define CALLED LINE "/memfd:bcs-called (deleted)\n"

/* The bytes as a file. */
static FILE *file_of(const char *bytes, size_t n_bytes)
{
    FILE *file = tmpfile();

    fwrite(bytes, 1, n_bytes, file);
    rewind(file);
    return file;
}

static struct rank_signs signs_of(const char *maps)
{
    FILE *file = file_of(maps, strlen(maps));
    struct rank_signs signs;

    rank_signs_read(file, &signs);
    fclose(file);
    return signs;
}

static void is(const char *maps, bool is_named, enum rank_absence expected)
{
    struct rank_signs signs = signs_of(maps);

    ck_assert_int_eq(rank_absence_of(&signs, is_named), expected);
}

START_TEST(each_file_is_known_by_its_name)
{
    struct rank_signs signs = signs_of(LINE "[heap]\n" LINKER MPI);

    ck_assert(signs.has_linker && signs.has_mpi);
    ck_assert(!signs.has_preload && !signs.has_begun && !signs.has_called);
    signs = signs_of(PRELOAD BEGUN CALLED);
    ck_assert(!signs.has_linker && !signs.has_mpi);
    ck_assert(signs.has_preload && signs.has_begun && signs.has_called);
    signs = signs_of(LINE "/opt/libmpi.so/libx.so\n" LINE "/memfd:other (deleted)\n");
    ck_assert(!signs.has_mpi && !signs.has_called);
}
END_TEST

START_TEST(who_may_still_call_is_not_absent)
{
    is(LINKER PRELOAD MPI, true, RANK_NOT_ABSENT);
    is(LINKER PRELOAD MPI CALLED, true, RANK_NOT_ABSENT);
    is(LINKER PRELOAD MPI BEGUN CALLED, true, RANK_NOT_ABSENT);
    is(LINKER CALLED, false, RANK_NOT_ABSENT); /* a program of libbcs.so */
}
END_TEST

START_TEST(each_reason_is_told_from_the_others)
{
    is(LINKER MPI, false, RANK_NOT_PRELOADED);
    is(LINKER MPI BEGUN, false, RANK_NOT_PRELOADED);
    is(LINKER MPI, true, RANK_NOT_LOADED);
    is(LINKER PRELOAD MPI BEGUN, true, RANK_PASSED_BY);
    is(BEGUN, true, RANK_STATIC);
    is(LINE "/bin/static\n", false, RANK_NOT_ABSENT);
}
END_TEST

/* @return whether ours is in it */
static bool preload_of(const char *environment, size_t n_bytes,
                       char preload_out[RANK_PRELOAD_BYTES])
{
    FILE *file = file_of(environment, n_bytes);
    bool is_named = rank_preload_read(file, preload_out);

    fclose(file);
    return is_named;
}

START_TEST(what_is_preloaded_is_read_whole_and_made_printable)
{
    static const char others[] = "A=1\0MY_LD_PRELOAD=x\0LD_PRELOAD=a.so\033:b.so\0Z=2";
    static const char ours[] = "LD_PRELOAD=a.so:/x/libbcs_mpi.so";
    char preload[RANK_PRELOAD_BYTES];

    ck_assert(!preload_of(others, sizeof(others), preload));
    ck_assert_str_eq(preload, "a.so?:b.so");
    ck_assert(preload_of(ours, sizeof(ours), preload));
    ck_assert_str_eq(preload, "a.so:/x/libbcs_mpi.so");
    ck_assert(!preload_of("A=1", 4, preload));
    ck_assert_str_eq(preload, "");
}
END_TEST

START_TEST(a_long_preload_is_cut_off)
{
    char preload[RANK_PRELOAD_BYTES], long_one[1000];

    memset(long_one, 'a', sizeof(long_one));
    memcpy(long_one, "LD_PRELOAD=", strlen("LD_PRELOAD="));
    memcpy(long_one + 950, "libbcs_mpi.so", sizeof("libbcs_mpi.so"));
    ck_assert(preload_of(long_one, sizeof(long_one), preload));
    ck_assert_uint_eq(strlen(preload), RANK_PRELOAD_BYTES - 1);
}
END_TEST

START_TEST(all_mpi_processes_must_be_without_it)
{
    ck_assert(absence_is_sure(&(struct absence_found){.n_absent = 2}));
    ck_assert(!absence_is_sure(&(struct absence_found){.n_absent = 2, .n_open = 1}));
    ck_assert(
        !absence_is_sure(&(struct absence_found){.n_absent = 2, .has_met = true}));
    ck_assert(!absence_is_sure(&(struct absence_found){0}));
}
END_TEST

/* This process has no MPI library mapped. */
START_TEST(a_process_without_mpi_does_not_count)
{
    struct absence_found found = {0};

    absence_add(&found, getpid());
    ck_assert_int_eq(found.n_absent + found.n_open, 0);
    ck_assert(!found.has_met);
}
END_TEST

/* End a job. @return what is said, valid until the next call */
static const char *said_at_end(struct absence *absence)
{
    static char text[2048];
    const char *part;

    text[0] = '\0';
    caught_stderr_begin();
    absence_end(absence);
    while (*(part = caught_stderr_next()) != '\0') {
        strcat(text, part);
    }
    caught_stderr_end();
    return text;
}

START_TEST(the_end_tells_what_the_last_look_has_found)
{
    struct absence absence;
    const char *text;

    absence_begin(&absence, 0);
    ck_assert_str_eq(said_at_end(&absence), "");

    absence.found = (struct absence_found){
        .n_absent = 1, .pid = 4711, .reason = RANK_NOT_PRELOADED, .preload = "x.so"};
    text = said_at_end(&absence);
    ck_assert_ptr_nonnull(strstr(text, "none of 1 MPI process\n"));
    ck_assert_ptr_nonnull(strstr(text, "LD_PRELOAD of process 4711 is \"x.so\""));
    ck_assert_str_eq(said_at_end(&absence), ""); /* once is enough */
}
END_TEST

START_TEST(a_job_that_is_carried_is_not_looked_at_again)
{
    struct absence absence;

    absence_begin(&absence, 1);
    ck_assert_uint_gt(absence_look(&absence), 0); /* nothing has been started */
    absence.is_over = true;
    ck_assert_uint_eq(absence_look(&absence), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("rank_signs");

    tcase_add_test(tests, each_file_is_known_by_its_name);
    tcase_add_test(tests, who_may_still_call_is_not_absent);
    tcase_add_test(tests, each_reason_is_told_from_the_others);
    tcase_add_test(tests, what_is_preloaded_is_read_whole_and_made_printable);
    tcase_add_test(tests, a_long_preload_is_cut_off);
    tcase_add_test(tests, all_mpi_processes_must_be_without_it);
    tcase_add_test(tests, a_process_without_mpi_does_not_count);
    tcase_add_test(tests, the_end_tells_what_the_last_look_has_found);
    tcase_add_test(tests, a_job_that_is_carried_is_not_looked_at_again);
    return run_tcase("rank_signs", tests);
}
