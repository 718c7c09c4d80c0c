/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processes share a cache: folders like the kernel's, with machines of several
 * kinds.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libbcs/session/caches.h"
#include "tests/unit/run_suite.h"

enum { N_PATH_BYTES = 300, MOST_CPUS = 64 };

static char folder[64];

static void setup(void)
{
    strcpy(folder, "/tmp/bcs-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    char command[N_PATH_BYTES];

    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void put_line(int cpu, int index, const char *name, const char *line)
{
    char path[N_PATH_BYTES];
    FILE *file;

    snprintf(path, sizeof(path), "%s/cpu%d", folder, cpu);
    mkdir(path, 0700);
    strcat(path, "/cache");
    mkdir(path, 0700);
    snprintf(strchr(path, 0), 20, "/index%d", index);
    mkdir(path, 0700);
    snprintf(strchr(path, 0), 40, "/%s", name);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s\n", line);
    fclose(file);
}

/** A processor with a cache for itself, of level 1, and one that others share. */
static void put_cpu(int cpu, int level, const char *sharing)
{
    char own[20], level_text[20];

    snprintf(own, sizeof(own), "%d", cpu);
    snprintf(level_text, sizeof(level_text), "%d", level);
    put_line(cpu, 0, "level", "1");
    put_line(cpu, 0, "shared_cpu_list", own);
    put_line(cpu, 1, "level", level_text);
    put_line(cpu, 1, "shared_cpu_list", sharing);
}

/** The last-level cache of processors in a list of bits. */
static uint32_t cache_of(uint64_t bits)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    for (int i = 0; i < MOST_CPUS; i++) {
        if (bits >> i & 1) {
            CPU_SET(i, &cpus);
        }
    }
    return bcs_caches_find(folder, &cpus);
}

START_TEST(a_cache_is_named_by_its_lowest_processor)
{
    put_cpu(2, 3, "2-5,10-13");
    put_cpu(11, 3, "2-5,10-13");
    put_cpu(6, 3, "6,8");
    ck_assert_uint_eq(cache_of(UINT64_C(1) << 11), 2);
    ck_assert_uint_eq(cache_of(UINT64_C(1) << 2 | UINT64_C(1) << 13), 2);
    ck_assert_uint_eq(cache_of(UINT64_C(1) << 6), 6);
    ck_assert_uint_eq(cache_of(UINT64_C(1) << 6 | UINT64_C(1) << 8), 6);
}
END_TEST

START_TEST(processors_with_several_caches_have_none_together)
{
    put_cpu(0, 2, "0-1");
    put_cpu(2, 2, "2-3");
    ck_assert_uint_eq(cache_of(5), BCS_CACHES_UNKNOWN);
    ck_assert_uint_eq(cache_of(3), 0);
}
END_TEST

START_TEST(what_the_kernel_does_not_say_is_unknown)
{
    ck_assert_uint_eq(cache_of(0), BCS_CACHES_UNKNOWN);
    ck_assert_uint_eq(cache_of(1), BCS_CACHES_UNKNOWN);
    put_cpu(0, 3, "nothing");
    ck_assert_uint_eq(cache_of(1), BCS_CACHES_UNKNOWN);
    put_cpu(0, 3, "");
    ck_assert_uint_eq(cache_of(1), BCS_CACHES_UNKNOWN);
}
END_TEST

#define UNKNOWN BCS_CACHES_UNKNOWN

static const struct {
    uint32_t caches[8], n, n_sharing;
} jobs[] = {
    {{0}, 1, 1},
    {{0, 0, 0, 0, 0, 0, 0, 0}, 8, 8},
    {{0, 0, 0, 0, 0}, 5, 8},
    {{0, 0, 0, 0, 4, 4, 4, 4}, 8, 4},
    {{0, 0, 4, 4, 0, 0, 4, 4}, 8, 2},
    {{0, 4, 0, 4, 0, 4, 0, 4}, 8, 1},
    {{0, 0, 0, 0, 0, 0, 4, 4}, 8, 2},
    {{0, 0, 0, 0, 4, 4}, 6, 4},
    {{0, 0, 0, UNKNOWN}, 4, 1},
    {{UNKNOWN, UNKNOWN}, 2, 1},
};

START_TEST(neighbours_share_as_many_as_all_do)
{
    ck_assert_uint_eq(bcs_caches_n_sharing(jobs[_i].caches, jobs[_i].n),
                      jobs[_i].n_sharing);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("caches");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_cache_is_named_by_its_lowest_processor);
    tcase_add_test(tcase, processors_with_several_caches_have_none_together);
    tcase_add_test(tcase, what_the_kernel_does_not_say_is_unknown);
    tcase_add_loop_test(tcase, neighbours_share_as_many_as_all_do, 0,
                        sizeof(jobs) / sizeof(jobs[0]));
    return run_tcase("caches", tcase);
}
