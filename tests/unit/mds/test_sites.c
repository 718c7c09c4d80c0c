/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Main MDS: calls by the place that they are made from.
 */
#include <check.h>
#include <string.h>

#include "mds/live.h"
#include "mds/mmds.h"
#include "tests/unit/run_suite.h"

enum { SEND, ISEND, BARRIER, N_PRIMITIVES };

/* Where calls are recorded. */
static struct mds_collect *collect;

static int start(void)
{
    static const char *const names[N_PRIMITIVES] = {"MPI_Send", "MPI_Isend",
                                                    "MPI_Barrier"};
    static const enum mds_timing timings[N_PRIMITIVES] = {MDS_BLOCKING, MDS_INSTANT,
                                                          MDS_BLOCKING};
    const struct mmds_plan plan = {
        .shape = {.n_ranks = 4, .bits = 1},
        .names = names,
        .timings = timings,
        .n_primitives = N_PRIMITIVES,
    };

    return mmds_start(&plan, &collect);
}

/* A call of a primitive from a place, with a call of another one inside. */
static void call_from(uintptr_t address, uint32_t primitive)
{
    uint64_t began;

    mds_call_from((const void *)address);
    began = mds_begin(collect, primitive, MDS_INSTANT);
    mds_end(collect, BARRIER, MDS_BLOCKING, mds_begin(collect, BARRIER, MDS_BLOCKING));
    mds_end(collect, primitive, MDS_INSTANT, began);
}

/* What was recorded of a primitive from a place; NULL: nothing. */
static const struct mds_site *site_of(uintptr_t address, uint32_t primitive)
{
    const struct mds_site *found = NULL;

    for (uint32_t i = 0; i < MDS_SITES; i++) {
        const struct mds_site *site = &collect->sites.table[i];

        if (site->is_used && site->address == address && site->primitive == primitive) {
            ck_assert_ptr_null(found);
            found = site;
        }
    }
    return found;
}

START_TEST(calls_are_recorded_by_place)
{
    ck_assert_int_eq(start(), 0);
    for (int i = 0; i < 3; i++) {
        call_from(0x1000, SEND);
        call_from(0x1000, ISEND);
        call_from(0x1001, SEND);
        mds_size_add(99); /* of nobody */
    }
    mds_call_from((const void *)0x2000);
    mds_begin(collect, SEND, MDS_BLOCKING);
    mds_call_from((const void *)0x3000); /* a call in a call */
    mds_end(collect, SEND, MDS_BLOCKING, mds_begin(collect, SEND, MDS_BLOCKING));
    mds_size_add(10);
    mds_end(collect, SEND, MDS_BLOCKING, 0);
    ck_assert_uint_eq(site_of(0x1000, SEND)->time.count, 3);
    ck_assert_uint_eq(site_of(0x1000, ISEND)->time.count, 3);
    ck_assert_uint_eq(site_of(0x1001, SEND)->time.count, 3);
    ck_assert_uint_eq(site_of(0x1001, SEND)->n_bytes, 0);
    ck_assert_uint_eq(site_of(0x2000, SEND)->time.count, 1);
    ck_assert_uint_eq(site_of(0x2000, SEND)->n_bytes, 10);
    ck_assert_ptr_null(site_of(0x3000, SEND));
    ck_assert_ptr_null(site_of(0x1000, BARRIER));
    ck_assert_uint_eq(collect->sites.n_used, 4);
    mds_live_drop(collect, NULL);
    collect = NULL;
}
END_TEST

START_TEST(calls_from_places_without_room_are_recorded_together)
{
    enum { N_PLACES = MDS_SITES - MDS_MAX_PRIMITIVES - 1 };
    uint64_t n = 0;

    ck_assert_int_eq(start(), 0);
    for (uintptr_t i = 0; i < N_PLACES / 2 + 1; i++) {
        call_from(0x1000 + 5 * i, SEND);
        call_from(0x1000 + 5 * i, ISEND);
    }
    ck_assert_uint_eq(collect->sites.n_used, N_PLACES + 1);
    ck_assert_ptr_null(site_of(0, SEND));
    ck_assert_uint_eq(site_of(0, ISEND)->time.count, 1);
    for (uintptr_t i = 0; i < 1000; i++) { /* new ones, and every primitive */
        call_from(0x900000 + 5 * i, (uint32_t)i % MDS_MAX_PRIMITIVES);
    }
    call_from(0x1000, SEND); /* one that has room */
    ck_assert_uint_eq(site_of(0x1000, SEND)->time.count, 2);
    ck_assert_uint_eq(site_of(0, SEND)->time.count, 4);
    ck_assert_uint_eq(collect->sites.n_used, N_PLACES + MDS_MAX_PRIMITIVES);
    for (uint32_t i = 0; i < MDS_SITES; i++) {
        n += collect->sites.table[i].time.count;
    }
    ck_assert_uint_eq(n, N_PLACES + 1 + 1000 + 1);
    mds_live_drop(collect, NULL);
    collect = NULL;
}
END_TEST

/* A call from a place that has words. */
static void call_at(uintptr_t address, const char *words)
{
    mds_call.words = words;
    call_from(address, SEND);
    mds_call.words = NULL;
}

START_TEST(a_place_keeps_its_words)
{
    char words[] = "solve, run.py:12";
    uintptr_t code = (uintptr_t)(void (*)(void))call_at + 1;

    ck_assert_int_eq(start(), 0);
    call_at(code, words);
    words[0] = '?';
    call_at(code, words);
    call_from(code, SEND); /* has an entry */
    mds_call.words = words;
    call_from(code, ISEND);
    mds_call.words = NULL;
    call_from(code + 1, SEND);
    ck_assert_uint_eq(site_of(code, SEND)->time.count, 3);
    ck_assert_uint_eq(site_of(code, SEND)->words, 1);
    ck_assert_uint_eq(site_of(code, SEND)->module, MDS_MODULE_NONE);
    ck_assert_uint_eq(site_of(code, ISEND)->words, 1);
    ck_assert_uint_eq(site_of(code + 1, SEND)->words, 0);
    ck_assert_uint_ne(site_of(code + 1, SEND)->module, MDS_MODULE_NONE);
    ck_assert_uint_eq(collect->sites.n_words, 1);
    ck_assert_str_eq(collect->sites.words[0].text, "solve, run.py:12");
    mds_live_drop(collect, NULL);
    collect = NULL;
}
END_TEST

START_TEST(words_without_room_are_those_of_a_place_elsewhere)
{
    char words[2 * MDS_WORDS_BYTES];

    memset(words, 'x', sizeof(words) - 1);
    words[sizeof(words) - 1] = '\0';
    ck_assert_int_eq(start(), 0);
    for (uintptr_t i = 0; i < MDS_WORDS + 5; i++) {
        call_at(0x1000 + i, words);
    }
    ck_assert_uint_eq(collect->sites.n_words, MDS_WORDS);
    ck_assert_uint_eq(strlen(collect->sites.words[0].text), MDS_WORDS_BYTES - 1);
    ck_assert_uint_eq(site_of(0x1000 + MDS_WORDS - 1, SEND)->words, MDS_WORDS);
    ck_assert_uint_eq(site_of(0, SEND)->time.count, 5);
    ck_assert_uint_eq(site_of(0, SEND)->words, 0);
    mds_live_drop(collect, NULL);
    collect = NULL;
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("sites");

    tcase_add_test(tcase, calls_are_recorded_by_place);
    tcase_add_test(tcase, calls_from_places_without_room_are_recorded_together);
    tcase_add_test(tcase, a_place_keeps_its_words);
    tcase_add_test(tcase, words_without_room_are_those_of_a_place_elsewhere);
    return run_tcase("sites", tcase);
}
