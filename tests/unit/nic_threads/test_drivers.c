/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the drivers do when something is posted, without their threads; and the
 * timekeeper, look by look. The linker puts our own function in the place of the slice.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>

#include "libbcs/fabric/base/park.h"
#include "nic_threads/drivers/driver.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/roles/turn.h"
#include "nic_threads/service/timekeeper.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 2, TAG = 1 };

static struct job job;
static struct rank ranks[N_RANKS];
static pthread_mutex_t slice = PTHREAD_MUTEX_INITIALIZER;
static uint32_t n_slices;
static bool has_mover, is_guarded;

void __wrap_nic_engine_run_slice(struct nic_engine *engine); // NOLINT

void __wrap_nic_engine_run_slice(struct nic_engine *engine) // NOLINT
{
    n_slices++;
    has_mover = engine->mover != NULL;
    is_guarded = pthread_mutex_trylock(&slice) == EBUSY;
}

static void open_job(bool has_crew, bool is_timed)
{
    const struct job_shape shape = {.n_ranks = N_RANKS,
                                    .is_direct = true,
                                    .is_threaded = true,
                                    .has_crew = has_crew,
                                    .is_timed = is_timed};

    job_open(&job, &shape, ranks);
}

static void close_job(void)
{
    job_close(&job, ranks);
}

static struct nic_engine *engine_of(int rank)
{
    return ranks[rank].context->engine;
}

static void send_one(void)
{
    struct bcs_message message = rank_message(&ranks[0], 1, TAG, NULL, 0);

    ck_assert_int_eq(bcs_send(ranks[0].context, &message, BCS_SEND_STANDARD, NULL), 0);
}

START_TEST(who_posts_ends_the_rest_of_the_strobes)
{
    struct bcs_machine *machine;

    open_job(_i == 1, true);
    machine = engine_of(0)->machine;
    atomic_store(&machine->timer_rests, 1);
    bcs_park_announce(&machine->strobe_park, NULL);
    send_one();
    ck_assert(!bcs_park_is_announced(&machine->strobe_park));
    close_job();
}
END_TEST

START_TEST(who_posts_rings_for_the_threads_of_the_node)
{
    const struct nic_view *view;
    uint64_t n_rings;

    open_job(true, false);
    view = nic_engine_own(engine_of(0));
    n_rings = nic_engine_n_rings(view);
    nic_driver_threads.progress(engine_of(0)); /* of nothing */
    ck_assert_uint_eq(nic_engine_n_rings(view), n_rings);
    send_one();
    ck_assert_uint_eq(nic_engine_n_rings(view), n_rings + 1);
    nic_driver_threads.progress(engine_of(1)); /* nobody has read it */
    ck_assert_uint_eq(nic_engine_n_rings(view), n_rings + 2);
    close_job();
}
END_TEST

static int n_kicks;

static void count_kick(struct nic_engine *engine, uint32_t reader)
{
    ck_assert_uint_eq(reader, engine->port);
    n_kicks++;
}

START_TEST(a_waiter_announces_itself_and_then_kicks)
{
    struct bcs_waiter waiter = {0};

    open_job(false, true);
    nic_waiter_rest(engine_of(0), &waiter, count_kick);
    ck_assert_int_eq(n_kicks, 1);
    ck_assert(bcs_park_is_announced(&nic_engine_port(engine_of(0), 0)->park));
    nic_waiter_stop(engine_of(0), &waiter);
    ck_assert(!bcs_park_is_announced(&nic_engine_port(engine_of(0), 0)->park));
    close_job();
}
END_TEST

START_TEST(a_waiter_takes_back_what_it_lent)
{
    struct bcs_waiter waiter = {.lent_cpu = 4};
    struct bcs_machine *machine;

    open_job(false, true);
    machine = engine_of(0)->machine;
    atomic_store(&machine->lent_cpus, 5);
    nic_waiter_stop(engine_of(0), &waiter);
    ck_assert_uint_eq(machine->lent_cpus, 1);
    ck_assert_uint_eq(waiter.lent_cpu, 0);
    close_job();
}
END_TEST

START_TEST(a_waiter_leaves_no_work_at_its_desk)
{
    struct bcs_waiter waiter = {.holds_lock = true};
    struct nic_view *desk;

    open_job(false, false);
    desk = nic_engine_own(engine_of(1));
    ck_assert(nic_engine_try_lock(desk));
    send_one();
    ck_assert(nic_engine_tell_holder(nic_engine_view(engine_of(0), 1)));
    ck_assert(nic_engine_has_work(desk));
    nic_waiter_let_go(engine_of(1), &waiter);
    ck_assert(!nic_engine_has_work(desk));
    ck_assert(!waiter.holds_lock);
    close_job();
}
END_TEST

START_TEST(the_timekeeper_runs_slices_that_are_due_and_copies_itself)
{
    struct nic_engine_params params;
    void *timekeeper;

    open_job(false, true);
    params = (struct nic_engine_params){.memory = job.memory,
                                        .machine = &job.shared->machine,
                                        .n_ports = N_RANKS,
                                        .config = &job.config,
                                        .is_direct = true,
                                        .is_background = true,
                                        .slice = &slice};
    ck_assert_int_eq(nic_timekeeper_worker.create(&params, &timekeeper), 0);
    nic_timekeeper_worker.begin(timekeeper, 0);
    ck_assert_int_eq(nic_timekeeper_worker.look(timekeeper, 0).kind, NIC_REST_PARK);
    ck_assert_uint_eq(n_slices, 0); /* nothing was posted */
    send_one();
    while (nic_timekeeper_worker.look(timekeeper, 0).kind != NIC_REST_NOT) {
        ck_assert_uint_eq(n_slices, 0);
    }
    ck_assert_uint_eq(n_slices, 1);
    ck_assert(has_mover);
    ck_assert(is_guarded);
    ck_assert_int_eq(pthread_mutex_trylock(&slice), 0);
    pthread_mutex_unlock(&slice);
    nic_timekeeper_worker.destroy(timekeeper);
    close_job();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("drivers");

    tcase_add_loop_test(tcase, who_posts_ends_the_rest_of_the_strobes, 0, 2);
    tcase_add_test(tcase, who_posts_rings_for_the_threads_of_the_node);
    tcase_add_test(tcase, a_waiter_announces_itself_and_then_kicks);
    tcase_add_test(tcase, a_waiter_takes_back_what_it_lent);
    tcase_add_test(tcase, a_waiter_leaves_no_work_at_its_desk);
    tcase_add_test(tcase, the_timekeeper_runs_slices_that_are_due_and_copies_itself);
    return run_tcase("drivers", tcase);
}
