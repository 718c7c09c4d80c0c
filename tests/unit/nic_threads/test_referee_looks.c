/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The referee, look by look, in a job whose ranks have posted receives of each other:
 * nobody waits, so what a rank tells, and answers, is written by hand. Two of its steps
 * are followed by what a rank does meanwhile: the linker puts ours in their places.
 */
#include "nic_threads/referee/referee.h"

#include <check.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libbcs/fabric/base/park.h"
#include "nic_threads/referee/proof.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/stand_records.h"

enum { N_RANKS = 3 };

static struct job job;
static struct rank ranks[N_RANKS];
static struct bcs_request requests[N_RANKS];
static pthread_mutex_t slice = PTHREAD_MUTEX_INITIALIZER;
static struct nic_engine_params params;
static void *referee;
static uint32_t n_judged, n_doubts;
static int ahead_s; /* of the clock */
static uint64_t stuck;
static void (*after_convict)(void), (*before_stir)(void);
static int n_stirs; /* before that */

static void on_deadlock(const struct nic_engine_params *of,
                        const struct nic_verdict *verdict)
{
    ck_assert_ptr_eq(of, &params);
    n_judged++;
    stuck = verdict->stuck[0];
}

static void on_doubt(const struct nic_engine_params *of, const struct nic_doubt *doubt)
{
    ck_assert_ptr_eq(of, &params);
    ck_assert_uint_eq(doubt->suspected[0], 3);
    n_doubts++;
}

int clock_gettime(clockid_t clock, struct timespec *time_out)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, time_out);

    time_out->tv_sec += ahead_s;
    return rc;
}

/** Call what is to be called once. */
static void call(void (**what)(void))
{
    void (*it)(void) = *what;

    *what = NULL;
    if (it != NULL) {
        it();
    }
}

uint32_t __real_nic_proof_convict(struct nic_proof *proof, pthread_mutex_t *during,
                                  bool is_first); // NOLINT
uint32_t __wrap_nic_proof_convict(struct nic_proof *proof, pthread_mutex_t *during,
                                  bool is_first);                    // NOLINT
uint64_t __real_nic_snapshot_changes(const struct nic_snapshot *of); // NOLINT
uint64_t __wrap_nic_snapshot_changes(const struct nic_snapshot *of); // NOLINT

uint32_t __wrap_nic_proof_convict(struct nic_proof *proof, pthread_mutex_t *during,
                                  bool is_first) // NOLINT
{
    uint32_t n = __real_nic_proof_convict(proof, during, is_first);

    call(&after_convict);
    return n;
}

uint64_t __wrap_nic_snapshot_changes(const struct nic_snapshot *of) // NOLINT
{
    if (n_stirs-- == 0) {
        call(&before_stir);
    }
    return __real_nic_snapshot_changes(of);
}

static void begin(void)
{
    const struct job_shape shape = {.n_ranks = N_RANKS, .is_threaded = true};

    job_open(&job, &shape, ranks);
    params = (struct nic_engine_params){
        .memory = job.memory,
        .machine = &job.shared->machine,
        .n_ports = N_RANKS,
        .config = &job.config,
        .is_background = true,
        .on_deadlock = on_deadlock,
        .on_doubt = on_doubt,
        .slice = &slice,
    };
    ck_assert_int_eq(nic_referee_worker.create(&params, &referee), 0);
}

static void end(void)
{
    nic_referee_worker.destroy(referee);
    job_close(&job, ranks);
}

/** A rank tells that it waits for what it has posted, and what else of it could act. */
static void tell(uint32_t rank, uint32_t from, enum bcs_agent_kind agent)
{
    struct bcs_stand *stand = stand_begin();

    stand->agent = agent;
    stand_add(&ranks[0], stand, from, bcs_request_state(&requests[rank])->cell);
    stand_tell(&ranks[0], rank, 0, stand);
}

static void receive(uint32_t rank, uint32_t from)
{
    struct bcs_message message =
        rank_message(&ranks[rank], (int32_t)from, STAND_TAG, NULL, 0);

    ck_assert_int_eq(bcs_recv(ranks[rank].context, &message, NULL, &requests[rank]), 0);
    tell(rank, from, BCS_AGENT_NONE);
}

static void two_receive(void)
{
    receive(0, 1);
    receive(1, 0);
}

/** Both have answered a question. */
static void answer(uint64_t asked)
{
    for (uint32_t i = 0; i < 2; i++) {
        atomic_store(&stand_slot(&ranks[0], i, 0)->answered,
                     asked << BCS_STAND_PAGE_BITS);
    }
}

static uint64_t asked(uint32_t rank)
{
    return atomic_load(&nic_engine_stands(ranks[0].context->engine, rank)->asked) >>
           BCS_STAND_PAGE_BITS;
}

/** Have it look now. */
static struct nic_rest look(void)
{
    atomic_store(&params.machine->referee_rests, BCS_REFEREE_WOKEN);
    return nic_referee_worker.look(referee, 0);
}

START_TEST(two_that_have_answered_are_judged_once)
{
    two_receive();
    answer(1);
    look();
    ck_assert_uint_eq(n_judged, 1);
    ck_assert_uint_eq(stuck, 3);
    ck_assert_uint_eq(look().until_ns, 0);
    ck_assert_uint_eq(n_judged, 1);
}
END_TEST

START_TEST(suspects_are_asked_and_nobody_else)
{
    two_receive();
    ck_assert_uint_ne(look().until_ns, 0); /* it looks again by itself */
    ck_assert_uint_eq(n_judged, 0);
    ck_assert_uint_eq(asked(0), 1);
    ck_assert_uint_eq(asked(1), 1);
    ck_assert_uint_eq(asked(2), 0);
    answer(1); /* too late */
    ck_assert_uint_ne(look().until_ns, 0);
    ck_assert_uint_eq(n_judged, 0);
    answer(3);
    look();
    ck_assert_uint_eq(n_judged, 1);
}
END_TEST

START_TEST(who_has_one_message_to_come_is_not_judged)
{
    struct bcs_message message = rank_message(&ranks[1], 0, STAND_TAG, NULL, 0);

    two_receive();
    bcs_send(ranks[1].context, &message, BCS_SEND_STANDARD, NULL);
    answer(1);
    look();
    ck_assert_uint_eq(n_judged, 0);
}
END_TEST

static void go_on(void)
{
    stand_tell(&ranks[0], 1, 0, NULL);
}

START_TEST(who_has_gone_on_when_desks_were_looked_at_is_not_judged)
{
    two_receive();
    answer(1);
    after_convict = go_on;
    look();
    ck_assert_uint_eq(n_judged, 0);
    ck_assert_ptr_null((void *)(uintptr_t)after_convict);
}
END_TEST

/** Have it look at both, who answer at once, and then the clock is two seconds further.
 *  (To wait for answers would take the seconds that the clock is ahead.) */
static void look_later(void)
{
    answer(asked(0) + 1);
    look();
    ahead_s += 2;
}

/* A machine that stands still for seconds leaves no thread the time to fall asleep. */
START_TEST(a_doubt_is_told_once_and_after_several_questions)
{
    two_receive();
    tell(0, 1, BCS_AGENT_RUNS);
    for (int i = 0; i < 100 && n_doubts == 0; i++) {
        look_later();
    }
    ck_assert_uint_eq(asked(0), 8);
    for (int i = 0; i < 5; i++) {
        look_later();
    }
    ck_assert_uint_gt(asked(0), 8);
    ck_assert_uint_eq(n_doubts, 1);
    ck_assert_uint_eq(n_judged, 0);
}
END_TEST

/* ------------------------------------------------------------------ when it looks */

static void fall_asleep(void)
{
    bcs_park_announce(&nic_engine_port(ranks[0].context->engine, 2)->park, NULL);
}

START_TEST(it_rests_while_nothing_changes)
{
    look();
    ck_assert_uint_eq(look().until_ns, 0);
    ck_assert_uint_eq(atomic_load(&params.machine->referee_rests), BCS_REFEREE_RESTS);
    ck_assert_uint_eq(nic_referee_worker.look(referee, 0).until_ns, 0);
    ck_assert_uint_eq(atomic_load(&params.machine->referee_rests), BCS_REFEREE_RESTS);
    before_stir = fall_asleep; /* when it has looked at all */
    n_stirs = 1;
    ck_assert_uint_ne(look().until_ns, 0);
    ck_assert_uint_eq(atomic_load(&params.machine->referee_rests), BCS_REFEREE_LOOKS);
}
END_TEST

static void *sleep_on(void *park)
{
    bcs_word_sleep(park, 1, 0);
    return NULL;
}

START_TEST(who_sleeps_and_has_not_told_is_woken)
{
    _Atomic uint32_t *park = &nic_engine_port(ranks[0].context->engine, 2)->park;
    pthread_t sleeper;

    ck_assert_uint_eq(bcs_park_announce(park, NULL), 1);
    ck_assert_int_eq(pthread_create(&sleeper, NULL, sleep_on, park), 0);
    while (pthread_tryjoin_np(sleeper, NULL) != 0) {
        ck_assert_uint_ne(look().until_ns, 0);
    }
    ck_assert_uint_eq(atomic_load(park), 1); /* and goes on sleeping */
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("referee_looks");

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, two_that_have_answered_are_judged_once);
    tcase_add_test(tcase, suspects_are_asked_and_nobody_else);
    tcase_add_test(tcase, who_has_one_message_to_come_is_not_judged);
    tcase_add_test(tcase, who_has_gone_on_when_desks_were_looked_at_is_not_judged);
    tcase_add_test(tcase, a_doubt_is_told_once_and_after_several_questions);
    tcase_add_test(tcase, it_rests_while_nothing_changes);
    tcase_add_test(tcase, who_sleeps_and_has_not_told_is_woken);
    return run_tcase("referee_looks", tcase);
}
