/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that are stopped or killed in the middle of a primitive: the others get the
 * data or an error and never hang, and no node is left half written unnoticed.
 *
 * To stop at a known place, a writer puts a block whose middle page cannot be read: the
 * fault's handler makes the page readable and stops the process. Continued, it goes on
 * as if nothing had been; killed, it dies in the middle of the copy.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "libbcs/fabric/base/process.h"
#include "libbcs/fabric/transport/shm/node_lock.h"
#include "tests/transport/world.h"

#define PAGE_BYTES 4096
#define BLOCK_BYTES (3 * PAGE_BYTES)

static uint64_t block_gva, x_gva, event_gva;
static struct bcs_node_set middle_nodes; /* 1 and 2; the stopped writer's */
static uint8_t *middle_page;

static struct world *world_start(int index)
{
    static struct world world;

    world_init(&world, index);
    block_gva = world_reserve(&world, BLOCK_BYTES, 64);
    x_gva = world_reserve(&world, 8, 8);
    event_gva = world_event(&world);
    middle_nodes = set_of_two(1, 2);
    return &world;
}

static void on_fault(int number)
{
    (void)number;
    mprotect(middle_page, PAGE_BYTES, PROT_READ | PROT_WRITE);
    raise(SIGSTOP);
}

static void put_and_stop_in_the_middle(struct actor *me)
{
    struct sigaction action = {.sa_handler = on_fault};
    uint8_t *block = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memset(block, 'n', BLOCK_BYTES);
    middle_page = block + PAGE_BYTES;
    mprotect(middle_page, PAGE_BYTES, PROT_NONE);
    sigaction(SIGSEGV, &action, NULL);
    actor_expect(
        me, actor_put(me, &middle_nodes, block_gva, block, BLOCK_BYTES, event_gva) == 0,
        "a put that was stopped failed");
}

/* Start the writer and wait until it has stopped. */
static pid_t stopped_writer(struct world *world)
{
    pid_t pid = world_fork(world, 0, put_and_stop_in_the_middle);
    int status = 0;

    ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
    ck_assert(WIFSTOPPED(status));
    return pid;
}

static void writer_kill(pid_t pid)
{
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
}

static void writer_reap(pid_t pid)
{
    int status = 0;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
}

/* Actors say that they are about to call. */
static void arrive(struct actor *me)
{
    __atomic_fetch_add(&me->world->shared->words[0], 1, __ATOMIC_RELAXED);
}

static void arrivals_await(struct world *world, uint64_t n_actors)
{
    while (__atomic_load_n(&world->shared->words[0], __ATOMIC_RELAXED) != n_actors) {
        sched_yield();
    }
}

/* -------------------------------------------------------- stopped, then continued */

static void put_one_everywhere(struct actor *me)
{
    arrive(me);
    actor_put_word(me, &me->world->all, x_gva, 1);
}

static void await_the_block(struct actor *me)
{
    static uint8_t expected[BLOCK_BYTES];
    struct bcs_core *core = world_core(me->world, 2);

    memset(expected, 'n', BLOCK_BYTES);
    arrive(me);
    actor_expect(me, bcs_test_event(core, event_gva, 1, true) == 0, "waiting failed");
    actor_expect(me,
                 memcmp(bcs_core_address(core, block_gva), expected, BLOCK_BYTES) == 0,
                 "the data are not there");
    bcs_core_destroy(core);
}

START_TEST(a_stopped_writer_is_waited_for)
{
    struct world *world = world_start(_i);
    pid_t writer = stopped_writer(world), others[2];

    others[0] = world_fork(world, 1, put_one_everywhere);
    others[1] = world_fork(world, 2, await_the_block);
    arrivals_await(world, 2);
    ck_assert_int_eq(kill(writer, SIGCONT), 0);
    world_join(world, writer);
    world_join(world, others[0]);
    world_join(world, others[1]);
    world_fini(world);
}
END_TEST

START_TEST(a_signal_without_data_does_not_wait_for_a_stopped_writer)
{
    struct world *world = world_start(_i);
    uint64_t signal_gva = world_event(world);
    struct bcs_core *core = world_core(world, 1);
    pid_t writer = stopped_writer(world);
    struct bcs_node_set one = bcs_node_set_one(1);
    struct actor me;

    actor_init(&me, world, WORLD_MAX_ACTORS);
    ck_assert_int_eq(actor_put(&me, &one, 0, NULL, 0, signal_gva), 0);
    ck_assert_int_eq(bcs_test_event(core, signal_gva, 1, false), 0);
    ck_assert_int_eq(bcs_test_event(core, signal_gva, 2, false), BCS_E_PENDING);
    actor_fini(&me);
    bcs_core_destroy(core);
    ck_assert_int_eq(kill(writer, SIGCONT), 0);
    world_join(world, writer);
    world_fini(world);
}
END_TEST

/* ------------------------------------------------------------- killed in the middle */

static void put_everywhere_in_vain(struct actor *me)
{
    struct bcs_node_set outer = set_of_two(0, 3);
    uint64_t one = 1;

    arrive(me);
    actor_expect(me, actor_put(me, &me->world->all, x_gva, &one, 8, 0) == -EOWNERDEAD,
                 "a put to a broken node did not fail");
    actor_expect(me, actor_query(me, &outer, x_gva, 0), "a failed put has put data");
}

static void swap_in_vain(struct actor *me)
{
    struct bcs_comparison comparison = {
        .variable_gva = x_gva,
        .op = BCS_COMPARE_EQ,
        .dests = &me->world->all,
        .write_gva = x_gva,
        .write_value = 1,
    };
    bool is_true = false;

    arrive(me);
    actor_expect(me,
                 bcs_compare_and_write(me->core, &comparison, &is_true) ==
                         -EOWNERDEAD &&
                     !is_true,
                 "a query of a broken node did not fail");
}

static void wait_in_vain(struct actor *me)
{
    struct bcs_core *core = world_core(me->world, 2);

    arrive(me);
    actor_expect(me, bcs_test_event(core, event_gva, 1, true) == -EOWNERDEAD,
                 "waiting on a broken node did not fail");
    bcs_core_destroy(core);
}

static const actor_fn in_vain[] = {put_everywhere_in_vain, swap_in_vain, wait_in_vain};

#define N_IN_VAIN (sizeof(in_vain) / sizeof(in_vain[0]))

/* Nodes 1 and 2 are lost, 0 and 3 are as they were. */
static void outer_nodes_check(struct world *world)
{
    struct bcs_node_set outer = set_of_two(0, 3);
    struct actor me;
    uint64_t seven = 7;

    actor_init(&me, world, WORLD_MAX_ACTORS);
    for (uint32_t node = 1; node <= 2; node++) {
        struct bcs_node_set broken = bcs_node_set_one(node);

        ck_assert_int_eq(actor_put(&me, &broken, x_gva, &seven, 8, 0), -EOWNERDEAD);
        ck_assert_int_eq(actor_put(&me, &broken, 0, NULL, 0, event_gva), -EOWNERDEAD);
    }
    ck_assert(actor_query(&me, &outer, x_gva, 0));
    ck_assert_int_eq(actor_put(&me, &outer, x_gva, &seven, 8, 0), 0);
    ck_assert(actor_query(&me, &outer, x_gva, 7));
    actor_fini(&me);
}

START_TEST(who_waits_for_a_writer_that_is_killed_gets_an_error)
{
    struct world *world = world_start(_i);
    pid_t writer = stopped_writer(world), others[N_IN_VAIN];

    for (uint32_t i = 0; i < N_IN_VAIN; i++) {
        others[i] = world_fork(world, i, in_vain[i]);
    }
    arrivals_await(world, N_IN_VAIN);
    writer_kill(writer); /* and left a zombie */
    for (uint32_t i = 0; i < N_IN_VAIN; i++) {
        world_join(world, others[i]);
    }
    writer_reap(writer);
    outer_nodes_check(world);
    world_fini(world);
}
END_TEST

START_TEST(who_comes_after_a_writer_was_killed_gets_an_error)
{
    struct world *world = world_start(_i);
    pid_t writer = stopped_writer(world);

    writer_kill(writer);
    writer_reap(writer);
    for (uint32_t i = 0; i < N_IN_VAIN; i++) {
        world_join(world, world_fork(world, i, in_vain[i]));
    }
    outer_nodes_check(world);
    world_fini(world);
}
END_TEST

START_TEST(a_later_process_of_the_same_pid_is_not_taken_for_the_holder)
{
    struct shm_node_lock lock = {.owner = bcs_process_word() + (UINT64_C(1) << 32)};

    ck_assert_int_eq(shm_node_lock_acquire(&lock, bcs_process_word(), 0), -EOWNERDEAD);
    lock.owner = bcs_process_word();
    ck_assert(!shm_node_lock_is_broken(&lock, 0));
    shm_node_lock_release(&lock);
    ck_assert_int_eq(shm_node_lock_acquire(&lock, bcs_process_word(), 0), 0);
}
END_TEST

/* ------------------------------------------------------------ killed at any moment */

#define N_WRITERS 4
#define N_KILLS 100

/* Until told to end or told that a node is broken. */
static void write_at_random(struct actor *me)
{
    static uint8_t block[BLOCK_BYTES];
    struct world_shared *shared = me->world->shared;
    int rc = 0;

    arrive(me);
    while (rc == 0 && __atomic_load_n(&shared->words[1], __ATOMIC_RELAXED) == 0) {
        struct bcs_node_set one = bcs_node_set_one(actor_random(me) % WORLD_N_NODES);
        uint64_t value = actor_random(me);

        memset(block, (int)value, BLOCK_BYTES);
        if (value % 4 == 0) {
            rc = actor_put(me, &one, x_gva, &value, 8, event_gva);
        } else {
            rc = actor_put(me, &me->world->all, block_gva, block, BLOCK_BYTES,
                           event_gva);
        }
    }
    actor_expect(me, rc == 0 || rc == -EOWNERDEAD, "an unexpected error");
}

static void yield_at_random(struct actor *me)
{
    for (uint32_t n = actor_random(me) % 64; n > 0; n--) {
        sched_yield();
    }
}

/* Blocks go to all nodes: they are whole and the same wherever the node is sound. */
static void sound_nodes_check(struct actor *me)
{
    const uint8_t *model = NULL;

    for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
        struct bcs_core *core = world_core(me->world, node);
        struct bcs_node_set one = bcs_node_set_one(node);
        const uint8_t *block = bcs_core_address(core, block_gva);
        int rc = actor_put(me, &one, x_gva, "12345678", 8, 0);

        ck_assert(rc == 0 || rc == -EOWNERDEAD);
        if (rc == 0) {
            model = model == NULL ? block : model;
            ck_assert_mem_eq(block, block + 1, BLOCK_BYTES - 1);
            ck_assert_mem_eq(block, model, BLOCK_BYTES);
        }
        bcs_core_destroy(core);
    }
}

/** Who is to die: a writer, or, where nodes are apart, a process that serves one. */
static pid_t choose_victim(struct actor *me, const pid_t writers[])
{
    uint32_t i = actor_random(me) % N_WRITERS;

    return me->world->apart != NULL && actor_random(me) % 2 == 0
               ? world_server(me->world, i)
               : writers[i];
}

/** See all nodes while all of them live. */
static void see_all(const struct world *world)
{
    for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
        bcs_core_destroy(world_core(world, node));
    }
}

static void kill_one_of_many(struct world *world, uint64_t seed)
{
    struct actor me;
    pid_t pids[N_WRITERS], victim;

    actor_init(&me, world, WORLD_MAX_ACTORS);
    see_all(world);
    me.seed = seed;
    for (uint32_t i = 0; i < N_WRITERS; i++) {
        pids[i] = world_fork(world, i, write_at_random);
    }
    arrivals_await(world, N_WRITERS);
    yield_at_random(&me);
    victim = choose_victim(&me, pids);
    if (actor_random(&me) % 2 == 0) {
        ck_assert_int_eq(kill(victim, SIGSTOP), 0);
        yield_at_random(&me);
        ck_assert_int_eq(kill(victim, SIGCONT), 0);
        yield_at_random(&me);
    }
    writer_kill(victim);
    yield_at_random(&me);
    __atomic_store_n(&world->shared->words[1], 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < N_WRITERS; i++) {
        if (pids[i] != victim) {
            world_join(world, pids[i]);
        }
    }
    writer_reap(victim);
    sound_nodes_check(&me);
    actor_fini(&me);
}

START_TEST(a_kill_at_any_moment_leaves_the_data_or_an_error)
{
    /* shm-defer has the locks of shm */
    uint64_t n_kills = _i == 0 ? N_KILLS : N_KILLS / 8;

    for (uint64_t seed = 1; seed <= n_kills; seed++) {
        struct world *world = world_start(_i);

        kill_one_of_many(world, seed);
        world_fini(world);
    }
}
END_TEST

/** Add what is about a writer that copies into the memory of others. */
static void add_of_copies(TCase *tcase, int i)
{
    tcase_add_loop_test(tcase, a_stopped_writer_is_waited_for, i, i + 1);
    tcase_add_loop_test(tcase, a_signal_without_data_does_not_wait_for_a_stopped_writer,
                        i, i + 1);
    tcase_add_loop_test(tcase, who_waits_for_a_writer_that_is_killed_gets_an_error, i,
                        i + 1);
    tcase_add_loop_test(tcase, who_comes_after_a_writer_was_killed_gets_an_error, i,
                        i + 1);
}

TCase *death_tcase(int n_transports)
{
    TCase *tcase = tcase_create("death");

    for (int i = 0; i < n_transports; i++) {
        if (!world_is_apart(i)) { /* else a writer writes nowhere but at home */
            add_of_copies(tcase, i);
        }
    }
    tcase_add_loop_test(tcase, a_kill_at_any_moment_leaves_the_data_or_an_error, 0,
                        n_transports);
    tcase_add_test(tcase, a_later_process_of_the_same_pid_is_not_taken_for_the_holder);
    return tcase;
}
