/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On demand, messages of pairs of ranks need nothing that belongs to their node:
 * processes that exchange messages of all lengths, some of which sleep, have no right
 * to write to what the node has besides its desks and ports.
 */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libbcs/fabric/base/align.h"
#include "nic_threads/machine/engine.h"
#include "tests/engine/job.h"
#include "tests/pattern.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 4, N_ROUNDS = 20, LONGEST = 1 << 20 };

static const size_t lengths[] = {0,    8,     80,    81,    1024,    4096,
                                 8192, 16385, 65536, 65537, LONGEST, 300000};

enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

/** Give a process its rights to what lies from one address of its node's heap to
 *  another, but for pages that also hold other things. */
static void protect(const struct nic_view *view, uint64_t begin, uint64_t end,
                    int rights)
{
    uint64_t n_page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

    begin = bcs_align_up(begin, n_page_bytes);
    end -= end % n_page_bytes;
    ck_assert_uint_lt(begin, end);
    ck_assert_int_eq(mprotect(view->heap + begin, end - begin, rights), 0);
}

/** The same of all that belongs to the node: what stands before the desks, and between
 *  them and the ports. */
static void protect_node(const struct rank *me, int rights)
{
    const struct nic_engine *engine = me->context->engine;
    const struct nic_layout *layout = &engine->layout;
    const struct nic_view *view = nic_engine_own(engine);

    protect(view, 0, layout->desk_gva, rights);
    protect(view, layout->slots.first_gva, layout->port_gva, rights);
}

/** Send to the partner, and get the same from it. */
static void exchange(struct rank *me, size_t n_bytes, bool is_any, uint32_t key)
{
    static uint8_t out[LONGEST], in[LONGEST];
    int32_t partner = me->rank ^ 1;
    struct bcs_message sent = rank_message(me, partner, 1, out, n_bytes);
    struct bcs_message wanted =
        rank_message(me, is_any ? BCS_ANY_SOURCE : partner, 1, in, n_bytes);
    struct bcs_request request;

    pattern_fill(out, n_bytes, pattern_seed(key + (uint32_t)me->rank));
    memset(in, 0, n_bytes);
    if (key % 3 == 0 && me->rank % 2 == 0) {
        usleep(200); /* so the partner sleeps */
    }
    bcs_recv(me->context, &wanted, NULL, &request);
    bcs_send(me->context, &sent, BCS_SEND_STANDARD, NULL);
    bcs_test(me->context, &request, true);
    rank_expect(me,
                pattern_is_filled(in, n_bytes, pattern_seed(key + (uint32_t)partner)),
                "a wrong message");
}

static void exchange_all(struct rank *me, uint32_t n_rounds)
{
    for (uint32_t i = 0; i < n_rounds * N_LENGTHS; i++) {
        exchange(me, lengths[i % N_LENGTHS], i / N_LENGTHS % 2 == 1, i);
    }
}

static void pattern_pairs(struct rank *me)
{
    exchange_all(me, 2); /* links and blocks are made at their first use */
    rank_meet(me);
    protect_node(me, PROT_READ);
    exchange_all(me, N_ROUNDS);
    rank_meet(me);
    protect_node(me, PROT_READ | PROT_WRITE);
}

static struct job_shape shape_of(int i)
{
    return (struct job_shape){.n_ranks = N_RANKS, .is_direct = i == 0};
}

START_TEST(pairs_write_nothing_that_belongs_to_their_node)
{
    const struct job_shape shape = shape_of(_i);

    job_run(&shape, pattern_pairs);
}
END_TEST

/* The trap works. */
START_TEST(who_writes_there_is_ended)
{
    static struct rank ranks[1];
    static struct job job;
    struct job_shape shape = shape_of(0);

    shape.n_ranks = 1;
    shape.is_threaded = true;
    job_open(&job, &shape, ranks);
    protect_node(&ranks[0], PROT_READ);
    signal(SIGSEGV, SIG_DFL); /* a sanitizer would tell of it and exit */
    nic_engine_own(ranks[0].context->engine)->node->n_outbox = 1;
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("node_pages");

    tcase_add_loop_test(tcase, pairs_write_nothing_that_belongs_to_their_node, 0, 2);
    tcase_add_test_raise_signal(tcase, who_writes_there_is_ended, SIGSEGV);
    return run_tcase("node_pages", tcase);
}
