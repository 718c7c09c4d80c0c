/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rows are made of two looks at a job, and the words for them. The looks are this
 * file's.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tools/top/rows.h"
#include "apps/tools/top/words.h"
#include "tests/unit/run_suite.h"

enum { MANY = 10000, ROOM = 256 };
#define S UINT64_C(1000000000)

static struct job_look before, now;
static struct rows rows;
static struct bcs_flow flows[8];

/** A look at a job of ranks that do nothing. */
static struct job_look look_at(uint32_t n_ranks, uint64_t now_ns)
{
    struct job_look look = {
        .now_ns = now_ns,
        .n_ranks = n_ranks,
        .n_words = (n_ranks + 63) / 64,
        .ranks = calloc(n_ranks, sizeof(struct job_rank)),
        .waits = calloc(2 * n_ranks, sizeof(struct job_wait)),
    };

    look.released_by = calloc(2 * n_ranks * look.n_words, sizeof(uint64_t));
    return look;
}

static void make_looks(uint32_t n_ranks)
{
    before = look_at(n_ranks, 100 * S);
    now = look_at(n_ranks, 102 * S);
}

static void forget(struct job_look *look)
{
    free(look->ranks);
    free(look->waits);
    free(look->released_by);
    *look = (struct job_look){0};
}

static void end(void)
{
    rows_fini(&rows);
    forget(&before);
    forget(&now);
}

/** A rank waits for a message; ranks ascend. */
static struct bcs_stand *wait_of(uint32_t rank, int32_t peer, int32_t tag)
{
    struct job_wait *wait = &now.waits[now.n_waits];

    wait->rank = rank;
    wait->stand = (struct bcs_stand){
        .since_ns = now.now_ns - S,
        .frames[0] = {.address = 0x1000 + 77, .base = 0x1000},
        .context_id = 4,
        .n_operations = 1,
        .needs_all = 1,
        .call = "MPI_Recv",
        .comm = "MPI_COMM_WORLD",
        .operations[0] = {.context_id = 4,
                          .peer = peer,
                          .tag = tag,
                          .kind = BCS_STAND_RECEIVE},
    };
    if (now.ranks[rank].n_waits++ == 0) {
        now.ranks[rank].first_wait = now.n_waits;
    }
    now.n_waits++;
    return &wait->stand;
}

/** A rank waits in a barrier for all others. */
static void stand_in_barrier(uint32_t rank, uint64_t number)
{
    uint32_t wait = now.n_waits;
    struct bcs_stand *stand = wait_of(rank, -1, -1);

    strcpy(stand->call, "MPI_Barrier");
    strcpy(stand->collective, "barrier");
    stand->number = number;
    stand->operations[0].kind = BCS_STAND_COLLECTIVE;
    for (uint32_t i = 0; i < now.n_ranks; i++) {
        if (i != rank) {
            now.released_by[(uint64_t)wait * now.n_words + i / 64] |= UINT64_C(1)
                                                                      << i % 64;
        }
    }
}

static void make(bool is_grouped, enum rows_order order)
{
    rows_fini(&rows);
    ck_assert_int_eq(rows_make(&before, &now, is_grouped, order, &rows), 0);
}

static const char *words_of(const struct row *row, const char *place)
{
    static char room[ROOM];
    struct words words = words_begin(room, sizeof(room));

    words_add_wait(&words, &now, row, place);
    return room;
}

static const char *ranks_of(const struct row *row, size_t n_most)
{
    static char room[ROOM];
    struct words words = words_begin(room, sizeof(room));

    words_add_ranks(&words, row->ranks, row->n_ranks, n_most);
    return room;
}

START_TEST(rates_are_differences_of_two_looks)
{
    make_looks(3);
    before.ranks[1] =
        (struct job_rank){.cpu_ns = 5 * S, .n_waiting = 3, .n_glances = 4};
    now.ranks[1].cpu_ns = 6 * S;
    now.ranks[1].core = 7;
    flows[0] = (struct bcs_flow){.from = 1, .to = 2, .n_messages = 20, .n_bytes = 600};
    flows[1] = (struct bcs_flow){.from = 1, .to = 0, .n_messages = 2, .n_bytes = 2};
    now.flows = flows;
    now.n_flows = 2;
    now.n_collectives = 8;
    now.n_slices = 1000;
    make(false, ROWS_BY_RANK);
    ck_assert_uint_eq(rows.n, 3);
    ck_assert_double_eq(rows.rows[1].cpu, 0.5);
    ck_assert_double_eq(rows.rows[1].communication, 0.75);
    ck_assert_double_eq(rows.rows[1].messages_s, 11);
    ck_assert_double_eq(rows.rows[1].bytes_s, 301);
    ck_assert_int_eq(rows.rows[1].core, 7);
    ck_assert_double_eq(rows.computing, -1);   /* of all of them */
    ck_assert_double_eq(rows.rows[0].cpu, -1); /* the kernel has told nothing */
    ck_assert_double_eq(rows.rows[0].communication, -1);
    ck_assert_double_eq(rows.messages_s, 11);
    ck_assert_double_eq(rows.collectives_s, 4);
    ck_assert_double_eq(rows.slices_s, 500);
    ck_assert_uint_eq(rows.n_waiting, 0);
}
END_TEST

START_TEST(what_is_no_wait_is_computing_if_there_was_a_core)
{
    make_looks(2); /* two seconds */
    before.ranks[0] = (struct job_rank){.cpu_ns = S, .n_waiting = 6, .n_glances = 10};
    now.ranks[0].cpu_ns = 3 * S; /* it polled, too */
    before.ranks[1] = (struct job_rank){.cpu_ns = S, .n_waiting = 0, .n_glances = 10};
    now.ranks[1].cpu_ns = S + S / 2;
    make(false, ROWS_BY_RANK);
    ck_assert_double_eq_tol(rows.communication, 0.3, 1e-9);
    ck_assert_double_eq_tol(rows.computing, (0.4 + 0.25) / 2, 1e-9);
    ck_assert_double_eq_tol(rows.without_core, 0.75 / 2, 1e-9);
}
END_TEST

START_TEST(one_look_tells_no_rates)
{
    make_looks(2);
    now.ranks[0].cpu_ns = 6 * S;
    flows[0] = (struct bcs_flow){.from = 1, .to = 0, .n_messages = 20, .n_bytes = 600};
    now.flows = flows;
    now.n_flows = 1;
    ck_assert_int_eq(rows_make(NULL, &now, false, ROWS_BY_RANK, &rows), 0);
    ck_assert_double_eq(rows.rows[0].cpu, -1);
    ck_assert_double_eq(rows.messages_s, 0);
    ck_assert_double_eq(rows.cpu, -1);
    /* nor do looks at different jobs */
    free(before.ranks);
    before.ranks = NULL;
    before.n_ranks = 1;
    make(false, ROWS_BY_RANK);
    ck_assert_double_eq(rows.messages_s, 0);
}
END_TEST

START_TEST(ranks_that_wait_alike_are_a_group)
{
    make_looks(6);
    wait_of(0, 1, 7);
    wait_of(1, 1, 7);
    wait_of(3, 2, 7)->since_ns = now.now_ns - S / 2;
    wait_of(4, 2, 7)->frames[0].address++; /* another line */
    make(true, ROWS_BY_RANK);
    ck_assert_uint_eq(rows.n, 3);
    ck_assert_str_eq(ranks_of(&rows.rows[0], 20), "0-1,3");
    ck_assert_double_eq(rows.rows[0].since_s, 0.5); /* so long all of them */
    ck_assert_str_eq(words_of(&rows.rows[0], "main, a.c:1"),
                     "MPI_Recv from one each, main, a.c:1, on MPI_COMM_WORLD");
    ck_assert_str_eq(ranks_of(&rows.rows[1], 20), "2,5");
    ck_assert_str_eq(words_of(&rows.rows[1], NULL), "-");
    ck_assert_str_eq(ranks_of(&rows.rows[2], 20), "4");
    ck_assert_str_eq(words_of(&rows.rows[2], NULL),
                     "MPI_Recv from 2, tag 7, on MPI_COMM_WORLD");
    ck_assert_uint_eq(rows.n_waiting, 4);
}
END_TEST

START_TEST(files_that_are_loaded_elsewhere_are_the_same)
{
    struct bcs_stand *stand;

    make_looks(2);
    wait_of(0, 1, 7);
    stand = wait_of(1, 1, 7);
    stand->frames[0].address += 0x5000;
    stand->frames[0].base += 0x5000;
    strcpy(stand->lines, "main, run.py:9"); /* who has called that is another */
    make(true, ROWS_BY_RANK);
    ck_assert_uint_eq(rows.n, 1);
}
END_TEST

START_TEST(lines_of_python_are_compared_by_the_one_that_calls)
{
    static const char *const lines[] = {"step, run.py:7\nmain, run.py:20",
                                        "step, run.py:7\nmain, run.py:21",
                                        "step, run.py:7", "step, run.py:71"};

    make_looks(4);
    for (uint32_t i = 0; i < 4; i++) {
        struct bcs_stand *stand = wait_of(i, 1, 7);

        stand->frames[0] = (struct bcs_stand_frame){0};
        strcpy(stand->lines, lines[i]);
    }
    make(true, ROWS_BY_RANK);
    ck_assert_uint_eq(rows.n, 2);
    ck_assert_str_eq(ranks_of(&rows.rows[0], 20), "0-2");
}
END_TEST

START_TEST(a_method_stands_for_the_call_that_it_hides)
{
    struct bcs_stand *stand;

    make_looks(3);
    for (uint32_t i = 0; i < 3; i++) {
        stand = wait_of(i, 1, 7);
        strcpy(stand->method, i < 2 ? "comm.allreduce" : "comm.reduce");
        stand->operations[0].context_id |= BCS_CONTEXT_HIDDEN;
    }
    make(true, ROWS_BY_RANK);
    ck_assert_uint_eq(rows.n, 2);
    ck_assert_str_eq(ranks_of(&rows.rows[0], 20), "0-1");
    ck_assert_str_eq(words_of(&rows.rows[0], NULL),
                     "comm.allreduce from 1, on MPI_COMM_WORLD");
}
END_TEST

START_TEST(a_collective_tells_who_has_not_come)
{
    make_looks(6);
    stand_in_barrier(1, 3);
    stand_in_barrier(2, 3);
    stand_in_barrier(4, 2); /* another one */
    make(true, ROWS_BY_RANK);
    ck_assert_uint_eq(rows.n, 3);
    ck_assert_str_eq(words_of(&rows.rows[1], NULL),
                     "MPI_Barrier without 0,3-5, on MPI_COMM_WORLD");
    ck_assert_str_eq(ranks_of(&rows.rows[1], 20), "1-2");
    ck_assert_str_eq(words_of(&rows.rows[2], NULL),
                     "MPI_Barrier without 0-3,5, on MPI_COMM_WORLD");
}
END_TEST

START_TEST(each_thread_that_waits_has_a_row)
{
    make_looks(2);
    wait_of(0, 1, 7);
    strcpy(wait_of(0, 1, 8)->call, "MPI_Ssend");
    now.ranks[0].cpu_ns = 3 * S;
    before.ranks[0].cpu_ns = 1 * S;
    make(false, ROWS_BY_RANK);
    ck_assert_uint_eq(rows.n, 3);
    ck_assert_str_eq(words_of(&rows.rows[1], NULL),
                     "MPI_Ssend from 1, tag 8, on MPI_COMM_WORLD");
    ck_assert_uint_eq(rows.n_waiting, 1);
    wait_of(1, 0, 7);
    make(true, ROWS_BY_RANK);
    ck_assert_uint_eq(rows.n, 2);
    ck_assert_str_eq(ranks_of(&rows.rows[0], 20), "0-1");
}
END_TEST

START_TEST(rows_stand_in_the_order_that_is_asked_for)
{
    make_looks(3);
    for (uint32_t i = 0; i < 3; i++) {
        wait_of(i, (int32_t)i, 0)->since_ns = now.now_ns - (1 + (i + 2) % 3) * S;
        before.ranks[i] = (struct job_rank){
            .cpu_ns = S, .n_glances = 4, .n_waiting = 1 + (i + 1) % 3};
        now.ranks[i].cpu_ns = S * (2 + i);
        flows[i] = (struct bcs_flow){.from = i, .to = 0, .n_messages = 1 + (i + 2) % 3};
    }
    now.flows = flows;
    now.n_flows = 3;
    make(false, ROWS_BY_SINCE);
    ck_assert_uint_eq(rows.rows[0].ranks[0], 0);
    ck_assert_uint_eq(rows.rows[1].ranks[0], 2);
    make(false, ROWS_BY_CPU);
    ck_assert_uint_eq(rows.rows[0].ranks[0], 2);
    make(false, ROWS_BY_COMMUNICATION);
    ck_assert_uint_eq(rows.rows[0].ranks[0], 1);
    make(false, ROWS_BY_MESSAGES);
    ck_assert_uint_eq(rows.rows[0].ranks[0], 0);
    make(false, ROWS_BY_RANK);
    ck_assert_uint_eq(rows.rows[0].ranks[0], 0);
    ck_assert_uint_eq(rows.rows[2].ranks[0], 2);
}
END_TEST

START_TEST(the_heaviest_pairs_come_first)
{
    struct rows_pair pairs[2];

    make_looks(4);
    flows[0] = (struct bcs_flow){.from = 0, .to = 1, .n_messages = 9, .n_bytes = 10};
    flows[1] = (struct bcs_flow){.from = 1, .to = 2, .n_messages = 2, .n_bytes = 30};
    flows[2] = (struct bcs_flow){.from = 2, .to = 3, .n_messages = 10, .n_bytes = 10};
    flows[3] = (struct bcs_flow){.from = 3, .to = 0, .n_messages = 1, .n_bytes = 4};
    now.flows = flows;
    now.n_flows = 4;
    ck_assert_uint_eq(rows_pairs(&before, &now, pairs, 2), 2);
    ck_assert_uint_eq(pairs[0].from, 1);
    ck_assert_double_eq(pairs[0].bytes_s, 15);
    ck_assert_uint_eq(pairs[1].from, 2);
    ck_assert_double_eq(pairs[1].messages_s, 5);
    now.n_flows = 1;
    ck_assert_uint_eq(rows_pairs(&before, &now, pairs, 2), 1);
    ck_assert_uint_eq(rows_pairs(NULL, &now, pairs, 2), 0);
}
END_TEST

START_TEST(many_ranks_are_few_groups)
{
    make_looks(MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        if (i % 100 == 0) {
            stand_in_barrier(i, 1);
        } else if (i != 5) {
            wait_of(i, (int32_t)(i + 1) % MANY, 7);
        }
    }
    make(true, ROWS_BY_RANK);
    ck_assert_uint_eq(rows.n, 3);
    ck_assert_uint_eq(rows.rows[0].n_ranks, MANY / 100);
    ck_assert_str_eq(ranks_of(&rows.rows[0], 14), "0,100,200,...");
    ck_assert_str_eq(words_of(&rows.rows[0], NULL),
                     "MPI_Barrier without 1-64,... (9900), on MPI_COMM_WORLD");
    ck_assert_uint_eq(rows.rows[1].n_ranks, MANY - MANY / 100 - 1);
    ck_assert_uint_eq(rows.rows[2].ranks[0], 5);
    make(false, ROWS_BY_SINCE);
    ck_assert_uint_eq(rows.n, MANY);
}
END_TEST

START_TEST(operations_are_told_in_words)
{
    struct bcs_stand *stand;

    make_looks(1);
    stand = wait_of(0, -1, -1);
    make(false, ROWS_BY_RANK);
    ck_assert_str_eq(words_of(&rows.rows[0], NULL),
                     "MPI_Recv from any, any tag, on MPI_COMM_WORLD");
    stand->n_operations = 3;
    stand->needs_all = 0;
    stand->operations[0] = (struct bcs_stand_operation){
        .context_id = 4, .peer = 6, .tag = 2, .kind = BCS_STAND_SEND};
    ck_assert_str_eq(words_of(&rows.rows[0], NULL),
                     "MPI_Recv to 6, tag 2, or 2 more, on MPI_COMM_WORLD");
    stand->needs_all = 1;
    stand->operations[0].context_id = 5; /* of a collective */
    strcpy(stand->comm, "a\033[2Jb\xc3\xa4");
    ck_assert_str_eq(words_of(&rows.rows[0], NULL),
                     "MPI_Recv to 6, and 2 more, on a?[2Jb??");
    stand->operations[0].kind = BCS_STAND_FOREIGN;
    stand->n_operations = 1;
    *stand->call = *stand->comm = '\0';
    ck_assert_str_eq(words_of(&rows.rows[0], NULL), "a call (of the MPI library)");
}
END_TEST

static const struct {
    double number;
    const char *words;
} numbers[] = {{0, "0"},         {0.25, "0.2"},   {9.94, "9.9"},    {9.96, "10"},
               {999.4, "999"},   {999.6, "1.0k"}, {12345, "12.3k"}, {99960, "100k"},
               {999600, "1.0M"}, {1.2e9, "1.2G"}, {3e15, "3.0P"},   {1e20, "100000P"}};

static const struct {
    double seconds;
    const char *words;
} times[] = {{0.0042, "4ms"},   {0.9994, "999ms"}, {0.9996, "1.0s"}, {99.94, "99.9s"},
             {99.96, "1:39"},   {307, "5:07"},     {3599, "59:59"},  {3600, "1h00"},
             {359999, "99h59"}, {360000, "4d"}};

START_TEST(numbers_are_short)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        char room[ROOM];
        struct words words = words_begin(room, sizeof(room));

        words_add_number(&words, numbers[i].number);
        ck_assert_str_eq(room, numbers[i].words);
    }
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        char room[ROOM];
        struct words words = words_begin(room, sizeof(room));

        words_add_time(&words, times[i].seconds);
        ck_assert_str_eq(room, times[i].words);
    }
}
END_TEST

START_TEST(words_end_where_their_room_ends)
{
    char room[8];
    struct words words = words_begin(room, sizeof(room));

    words_add(&words, "%s", "123456789");
    ck_assert_str_eq(room, "1234567");
    words_add(&words, "more");
    words_add_foreign(&words, "and more");
    ck_assert_str_eq(room, "1234567");
    ck_assert_uint_eq(words.n, 7);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("rows");

    tcase_add_checked_fixture(tests, NULL, end);
    tcase_add_test(tests, rates_are_differences_of_two_looks);
    tcase_add_test(tests, what_is_no_wait_is_computing_if_there_was_a_core);
    tcase_add_test(tests, one_look_tells_no_rates);
    tcase_add_test(tests, ranks_that_wait_alike_are_a_group);
    tcase_add_test(tests, files_that_are_loaded_elsewhere_are_the_same);
    tcase_add_test(tests, lines_of_python_are_compared_by_the_one_that_calls);
    tcase_add_test(tests, a_method_stands_for_the_call_that_it_hides);
    tcase_add_test(tests, a_collective_tells_who_has_not_come);
    tcase_add_test(tests, each_thread_that_waits_has_a_row);
    tcase_add_test(tests, rows_stand_in_the_order_that_is_asked_for);
    tcase_add_test(tests, the_heaviest_pairs_come_first);
    tcase_add_test(tests, many_ranks_are_few_groups);
    tcase_add_test(tests, operations_are_told_in_words);
    tcase_add_test(tests, numbers_are_short);
    tcase_add_test(tests, words_end_where_their_room_ends);
    return run_tcase("rows", tests);
}
