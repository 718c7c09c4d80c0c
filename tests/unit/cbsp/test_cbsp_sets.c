/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many sets of receive buffers cBSP needs: a model of some processes that send and
 * count, of which all interleavings are tried. It finds whether a buffer is ever
 * written while messages of an earlier superstep in it are unread, and whether
 * processes can come to where none can move; with the rule of libbcs/cbsp/cbsp_wire.h
 * and without any.
 */
#include <check.h>
#include <string.h>

#include "libbcs/cbsp/cbsp_wire.h"
#include "tests/unit/run_suite.h"

enum {
    MOST_PROCESSES = 3,
    MOST_SUPERSTEPS = 7,
    MOST_KEPT = 6,
    TABLE_SIZE =
        1 << 19, /* states that are remembered; far more than any program has */
};

/** What each process does: to whom it sends in each superstep, as a set of bits, and
 *  whether messages are passed on by their handlers, or the superstep is ended
 *  globally. */
struct program {
    int n_procs, n_supersteps;
    uint8_t to[MOST_PROCESSES][MOST_SUPERSTEPS];
    bool is_passed[MOST_SUPERSTEPS]; /* to the next process, in the next superstep */
    bool is_global[MOST_SUPERSTEPS];
};

/** A moment of a run. Bytes only, so that moments can be compared. */
struct moment {
    uint8_t superstep[MOST_PROCESSES]; /* also: how many are ended */
    uint8_t sent[MOST_PROCESSES];      /* set of bits, of this superstep */
    uint8_t n_taken[MOST_PROCESSES];
    uint8_t is_ending[MOST_PROCESSES];
    uint8_t n_kept[MOST_PROCESSES][MOST_PROCESSES];          /* [sender][receiver] */
    uint8_t kept[MOST_PROCESSES][MOST_PROCESSES][MOST_KEPT]; /* of which superstep */
    struct {
        uint8_t superstep, n_unread;
    } buffer[MOST_PROCESSES][MOST_PROCESSES]
            [BCS_CBSP_SETS_MOST]; /* [sender][receiver] */
};

/** A search through all moments of a program. */
struct search {
    const struct program *program;
    int n_sets;
    bool has_rule;
    bool has_overwritten, is_stuck;
    long n_moments;
    struct moment *stack;
    long n_stack;
    uint8_t *is_used; /* [TABLE_SIZE] */
    struct moment *table;
};

static int count_of(const struct program *program, int process, int superstep)
{
    int before = (process + program->n_procs - 1) % program->n_procs;
    int count = 0;

    for (int i = 0; i < program->n_procs; i++) {
        count += program->to[i][superstep] >> process & 1;
        if (superstep > 0 && program->is_passed[superstep - 1]) {
            count += program->to[i][superstep - 1] >> before & 1;
        }
    }
    return count;
}

static bool may_write(const struct search *search, const struct moment *at,
                      int superstep, int dest)
{
    return !search->has_rule || cbsp_may_write((uint64_t)superstep, at->superstep[dest],
                                               (uint64_t)search->n_sets);
}

static void write_to(struct search *search, struct moment *at, int process,
                     int superstep, int dest)
{
    int set = superstep % search->n_sets;

    if (at->buffer[process][dest][set].superstep != superstep) {
        search->has_overwritten |= at->buffer[process][dest][set].n_unread > 0;
        at->buffer[process][dest][set].superstep = (uint8_t)superstep;
        at->buffer[process][dest][set].n_unread = 0;
    }
    at->buffer[process][dest][set].n_unread++;
}

/** Write a message, or keep it behind those that are kept. */
static void send_to(struct search *search, struct moment *at, int process,
                    int superstep, int dest)
{
    uint8_t *n_kept = &at->n_kept[process][dest];

    if (*n_kept == 0 && may_write(search, at, superstep, dest)) {
        write_to(search, at, process, superstep, dest);
        return;
    }
    ck_assert_int_lt(*n_kept, MOST_KEPT);
    at->kept[process][dest][*n_kept] = (uint8_t)superstep;
    ++*n_kept;
}

static uint64_t hash_of(const struct moment *at)
{
    const uint8_t *bytes = (const uint8_t *)at;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < sizeof(*at); i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash ^ hash >> 29;
}

/** Go on from a moment later, unless it has been seen. */
static void visit(struct search *search, const struct moment *at)
{
    uint64_t slot = hash_of(at) % TABLE_SIZE;

    while (search->is_used[slot]) {
        if (memcmp(&search->table[slot], at, sizeof(*at)) == 0) {
            return;
        }
        slot = (slot + 1) % TABLE_SIZE;
    }
    ck_assert_int_lt(search->n_moments, TABLE_SIZE / 2);
    search->is_used[slot] = 1;
    search->table[slot] = *at;
    search->n_moments++;
    search->stack[search->n_stack++] = *at;
}

/** Sends the next message, or begins to end the superstep. @return number of moves */
static int compute(struct search *search, const struct moment *at, int process)
{
    int superstep = at->superstep[process];
    const struct program *program = search->program;
    int n_moves = 0;

    for (int dest = 0; n_moves == 0 && dest < program->n_procs; dest++) {
        struct moment next = *at;

        if ((program->to[process][superstep] >> dest & 1) == 0 ||
            (at->sent[process] >> dest & 1) != 0) {
            continue;
        }
        next.sent[process] |= (uint8_t)(1 << dest);
        send_to(search, &next, process, superstep, dest);
        visit(search, &next);
        n_moves++;
    }
    if (n_moves == 0) {
        struct moment next = *at;

        next.is_ending[process] = 1;
        visit(search, &next);
        n_moves++;
    }
    return n_moves;
}

/** Takes a message of this superstep, if there is one. */
static int take(struct search *search, const struct moment *at, int process)
{
    int superstep = at->superstep[process], set = superstep % search->n_sets;
    int n_moves = 0;

    for (int from = 0; from < search->program->n_procs; from++) {
        struct moment next = *at;

        if (at->buffer[from][process][set].superstep != superstep ||
            at->buffer[from][process][set].n_unread == 0) {
            continue;
        }
        next.buffer[from][process][set].n_unread--;
        next.n_taken[process]++;
        if (search->program->is_passed[superstep]) {
            send_to(search, &next, process, superstep + 1,
                    (process + 1) % search->program->n_procs);
        }
        visit(search, &next);
        n_moves++;
    }
    return n_moves;
}

/** Writes the first message that was kept for some process, if it may. */
static int flush(struct search *search, const struct moment *at, int process)
{
    int n_moves = 0;

    for (int dest = 0; dest < search->program->n_procs; dest++) {
        int superstep = at->kept[process][dest][0];
        struct moment next = *at;

        if (at->n_kept[process][dest] > 0 && may_write(search, at, superstep, dest)) {
            next.n_kept[process][dest]--;
            memmove(next.kept[process][dest], &at->kept[process][dest][1],
                    MOST_KEPT - 1);
            next.kept[process][dest][MOST_KEPT - 1] = 0;
            write_to(search, &next, process, superstep, dest);
            visit(search, &next);
            n_moves++;
        }
    }
    return n_moves;
}

static bool has_kept(const struct moment *at, int process, int superstep)
{
    for (int dest = 0; dest < MOST_PROCESSES; dest++) {
        if (at->n_kept[process][dest] > 0 && at->kept[process][dest][0] == superstep) {
            return true;
        }
    }
    return false;
}

/** Whether all have begun to end a superstep, and their messages are in the buffers. */
static bool all_have_come(const struct search *search, const struct moment *at,
                          int superstep)
{
    for (int i = 0; i < search->program->n_procs; i++) {
        if (at->superstep[i] < superstep ||
            (at->superstep[i] == superstep &&
             (!at->is_ending[i] || has_kept(at, i, superstep)))) {
            return false;
        }
    }
    return true;
}

static int end(struct search *search, const struct moment *at, int process)
{
    int superstep = at->superstep[process];
    struct moment next = *at;

    if (at->n_taken[process] != count_of(search->program, process, superstep) ||
        has_kept(at, process, superstep) ||
        (search->program->is_global[superstep] &&
         !all_have_come(search, at, superstep))) {
        return 0;
    }
    next.superstep[process]++;
    next.sent[process] = 0;
    next.n_taken[process] = 0;
    next.is_ending[process] = 0;
    visit(search, &next);
    return 1;
}

static int moves_of(struct search *search, const struct moment *at, int process)
{
    if (at->superstep[process] == search->program->n_supersteps) {
        return 0;
    }
    if (!at->is_ending[process]) {
        return compute(search, at, process);
    }
    return take(search, at, process) + flush(search, at, process) +
           end(search, at, process);
}

static struct search all_moments(const struct program *program, int n_sets,
                                 bool has_rule)
{
    static uint8_t is_used[TABLE_SIZE];
    static struct moment table[TABLE_SIZE], stack[TABLE_SIZE];
    struct search search = {.program = program,
                            .n_sets = n_sets,
                            .has_rule = has_rule,
                            .stack = stack,
                            .is_used = is_used,
                            .table = table};
    struct moment start;

    memset(&start, 0, sizeof(start));
    memset(is_used, 0, sizeof(is_used));
    visit(&search, &start);
    while (search.n_stack > 0) {
        struct moment at = search.stack[--search.n_stack];
        int n_moves = 0, n_done = 0;

        for (int i = 0; i < program->n_procs; i++) {
            n_moves += moves_of(&search, &at, i);
            n_done += at.superstep[i] == program->n_supersteps;
        }
        search.is_stuck |= n_moves == 0 && n_done < program->n_procs;
    }
    return search;
}

/* ------------------------------------------------------------------------ patterns */

static struct program all_to_all(int n_procs, int n_supersteps)
{
    struct program program = {.n_procs = n_procs, .n_supersteps = n_supersteps};

    for (int i = 0; i < n_procs; i++) {
        memset(program.to[i], (1 << n_procs) - 1, (size_t)n_supersteps);
    }
    return program;
}

static struct program ping_pong(void)
{
    struct program program = {.n_procs = 2, .n_supersteps = 7};

    for (int superstep = 0; superstep < program.n_supersteps; superstep++) {
        program.to[superstep % 2][superstep] = superstep % 2 == 0 ? 2 : 1;
    }
    return program;
}

static struct program ring(int n_supersteps)
{
    struct program program = {.n_procs = 3, .n_supersteps = n_supersteps};

    for (int i = 0; i < 3; i++) {
        memset(program.to[i], 1 << (i + 1) % 3, (size_t)n_supersteps);
    }
    return program;
}

static struct program chain(void)
{
    struct program program = {.n_procs = 3, .n_supersteps = 6};

    memset(program.to[0], 2, 6);
    memset(program.to[1], 4, 6);
    return program;
}

/** All send to all, and handlers pass it on in the next superstep. */
static struct program passed_on(int n_supersteps)
{
    struct program program = all_to_all(3, n_supersteps);

    for (int superstep = 0; superstep + 1 < n_supersteps; superstep++) {
        program.is_passed[superstep] = true;
    }
    return program;
}

/** The chain, with supersteps that are ended globally in between. */
static struct program mixture(void)
{
    struct program program = chain();

    program.is_global[2] = program.is_global[5] = true;
    return program;
}

START_TEST(with_the_rule_nothing_is_overwritten_and_nobody_is_stuck)
{
    const struct program programs[] = {
        all_to_all(2, 6), all_to_all(3, 3), ping_pong(), ring(4),
        chain(),          passed_on(2),     mixture(),
    };

    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        struct search search = all_moments(&programs[i], _i, true);

        ck_assert(!search.has_overwritten);
        ck_assert(!search.is_stuck);
        ck_assert_int_gt(search.n_moments, 20);
    }
}
END_TEST

/** Every program of two processes and five supersteps in which each sends the other at
 *  most one message in each. */
START_TEST(so_it_is_for_all_programs_of_two_processes)
{
    for (uint32_t bits = 0; bits < 1 << 10; bits++) {
        struct program program = {.n_procs = 2, .n_supersteps = 5};
        struct search search;

        for (int superstep = 0; superstep < 5; superstep++) {
            program.to[0][superstep] = (uint8_t)((bits >> superstep & 1) << 1);
            program.to[1][superstep] = (uint8_t)(bits >> (5 + superstep) & 1);
        }
        search = all_moments(&program, _i, true);
        ck_assert(!search.has_overwritten && !search.is_stuck);
    }
}
END_TEST

START_TEST(two_sets_are_enough_without_the_rule_where_all_exchange)
{
    const struct program programs[] = {all_to_all(2, 6), all_to_all(3, 3), ping_pong()};

    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        ck_assert(!all_moments(&programs[i], 2, false).has_overwritten);
    }
    ck_assert(all_moments(&programs[0], 1, false).has_overwritten);
}
END_TEST

START_TEST(handlers_that_send_need_a_third_set)
{
    const struct program program = passed_on(3);

    ck_assert(all_moments(&program, 2, false).has_overwritten);
    ck_assert(!all_moments(&program, 3, false).has_overwritten);
}
END_TEST

START_TEST(no_number_of_sets_is_enough_without_the_rule_for_a_chain)
{
    const struct program program = chain();

    for (int n_sets = 1; n_sets <= BCS_CBSP_SETS_MOST; n_sets++) {
        ck_assert(all_moments(&program, n_sets, false).has_overwritten);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("sets");

    tcase_add_loop_test(tcase, with_the_rule_nothing_is_overwritten_and_nobody_is_stuck,
                        2, BCS_CBSP_SETS_MOST + 1);
    tcase_add_loop_test(tcase, so_it_is_for_all_programs_of_two_processes, 1,
                        BCS_CBSP_SETS_MOST + 1);
    tcase_add_test(tcase, two_sets_are_enough_without_the_rule_where_all_exchange);
    tcase_add_test(tcase, handlers_that_send_need_a_third_set);
    tcase_add_test(tcase, no_number_of_sets_is_enough_without_the_rule_for_a_chain);
    return run_tcase("cbsp_sets", tcase);
}
