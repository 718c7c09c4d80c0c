/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of the service: which there are, where, and that none sleeps through what
 * it is woken for. The ranks are contexts of this process. A thread that sleeps for
 * ever fails its test by the time limit.
 */
#include <check.h>
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/park.h"
#include "libbcs/fabric/base/system.h"
#include "nic_threads/drivers/driver.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/service/service_thread.h"
#include "nic_threads/service/strobe_timer.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 4, N_LOOKS = 2000, N_NAMES = 16, N_NAME = 24 };
enum { N_QUIET_NS = 5000000 }; /* more than a slice */

static struct job job;
static struct rank ranks[N_RANKS];

static void open_job(bool has_crew, bool is_timed, uint32_t node_ranks)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS,
        .node_ranks = node_ranks,
        .is_direct = true,
        .is_threaded = true,
        .has_crew = has_crew,
        .is_timed = is_timed,
    };

    job_open(&job, &shape, ranks);
}

/* ---- which threads there are */

/** The first line of a file of a thread of this process that begins so; without the
 *  key.
 *  @return false: the thread is gone */
static bool read_line(const char *thread, const char *file, const char *key,
                      char line_out[N_NAME * 4])
{
    char path[N_NAME * 4];
    bool has_line = false;
    FILE *stream;

    snprintf(path, sizeof(path), "/proc/self/task/%s/%s", thread, file);
    stream = fopen(path, "r");
    while (stream != NULL && !has_line && fgets(line_out, N_NAME * 4, stream) != NULL) {
        has_line = strncmp(line_out, key, strlen(key)) == 0;
    }
    if (stream != NULL) {
        fclose(stream);
    }
    if (has_line) {
        line_out[strcspn(line_out, "\n")] = '\0';
        memmove(line_out, line_out + strlen(key), strlen(line_out + strlen(key)) + 1);
    }
    return has_line;
}

/** A thread of ours takes no signal. The C library keeps two of its own for itself. */
static void expect_no_signals(const char *thread)
{
    char line[N_NAME * 4];
    unsigned long long blocked;

    if (!read_line(thread, "status", "SigBlk:", line)) {
        return;
    }
    ck_assert_int_eq(sscanf(line, "%llx", &blocked), 1);
    ck_assert_uint_eq(blocked | UINT64_C(3) << 31,
                      ~UINT64_C(0) & ~(UINT64_C(1) << 8 | UINT64_C(1) << 18));
}

/** How many threads of this process have a name. */
static int n_threads(const char *name)
{
    DIR *folder = opendir("/proc/self/task");
    char line[N_NAME * 4];
    int n = 0;

    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL;
         entry = readdir(folder)) {
        if (read_line(entry->d_name, "comm", "", line) && strcmp(line, name) == 0) {
            expect_no_signals(entry->d_name);
            n++;
        }
    }
    closedir(folder);
    return n;
}

/* What the service is opened with; NULL: nobody judges. */
static void (*on_deadlock)(const struct nic_engine_params *params,
                           const struct nic_verdict *verdict);

static void ignore(const struct nic_engine_params *params,
                   const struct nic_verdict *verdict)
{
    (void)params;
    (void)verdict;
}

/** Open the service of one process, and close it. The names of the threads, as text. */
static const char *served_by(uint32_t port)
{
    static const char *const names[] = {
        "bcs-background", "bcs-referee", "bcs-witness", "bcs-time", "bcs-bs", "bcs-br",
        "bcs-dh",         "bcs-ch",      "bcs-rh",      "bcs-sr",   "bcs-ss"};
    static char text[N_NAMES * N_NAME];
    const struct nic_engine_params params = {
        .memory = job.memory,
        .machine = &job.shared->machine,
        .n_ports = N_RANKS,
        .port = port,
        .config = &job.config,
        .is_direct = true,
        .on_deadlock = on_deadlock,
    };
    struct nic_service *service;
    size_t n_names = sizeof(names) / sizeof(names[0]);

    ck_assert_int_eq(
        nic_service_open(&params, nic_driver_find(&job.config)->serves, &service), 0);
    text[0] = '\0';
    for (size_t i = 0; i < n_names; i++) {
        int n = n_threads(names[i]);

        ck_assert_int_le(n, 1);
        if (n > 0) {
            strcat(strcat(text, text[0] == '\0' ? "" : " "), names[i] + strlen("bcs-"));
        }
    }
    nic_service_close(service);
    for (size_t i = 0; i < n_names; i++) {
        while (n_threads(names[i]) >
               0) { /* one that has ended may be seen for a moment */
            sched_yield();
        }
    }
    return text;
}

START_TEST(the_machines_first_process_has_the_background_thread)
{
    open_job(false, false, 0);
    ck_assert_str_eq(served_by(0), "background");
    ck_assert_str_eq(served_by(1), "");
    job.shared->machine.n_ports = 1; /* nobody leaves anything to others */
    ck_assert_str_eq(served_by(0), "");
    job_close(&job, ranks);
}
END_TEST

START_TEST(the_machines_first_process_has_the_referee)
{
    on_deadlock = ignore;
    open_job(false, false, 0);
    ck_assert_str_eq(served_by(0), "background referee");
    ck_assert_str_eq(served_by(1), "");
    job.config.referee = NIC_REFEREE_OFF;
    ck_assert_str_eq(served_by(0), "background");
    job_close(&job, ranks);
    open_job(false, true, 0);
    ck_assert_str_eq(served_by(0), "referee time");
    job_close(&job, ranks);
    on_deadlock = NULL;
}
END_TEST

START_TEST(another_machine_has_a_witness_in_the_place_of_the_referee)
{
    on_deadlock = ignore;
    open_job(false, false, 2);
    job.shared->machine.first_port = 2;
    ck_assert_str_eq(served_by(2), "background witness");
    ck_assert_str_eq(served_by(3), "");
    job.config.defer = 1; /* puts may be late: nobody judges */
    ck_assert_str_eq(served_by(2), "background");
    job.config.defer = 0;
    job.config.referee = NIC_REFEREE_OFF;
    ck_assert_str_eq(served_by(2), "background");
    job_close(&job, ranks);
    on_deadlock = NULL;
}
END_TEST

START_TEST(the_machines_first_process_has_the_timekeeper)
{
    open_job(false, true, 0);
    ck_assert_str_eq(served_by(0), "time");
    ck_assert_str_eq(served_by(1), "");
    job_close(&job, ranks);
}
END_TEST

START_TEST(the_first_process_of_a_machine_need_not_be_rank_0)
{
    open_job(false, false, 2);
    job.shared->machine.first_port = 2;
    ck_assert_str_eq(served_by(0), "");
    ck_assert_str_eq(served_by(2), "background");
    job_close(&job, ranks);
}
END_TEST

START_TEST(the_first_process_of_each_node_has_the_crew)
{
    open_job(true, false, 2);
    ck_assert_str_eq(served_by(0), "bs br dh ch rh sr ss");
    ck_assert_str_eq(served_by(1), "");
    ck_assert_str_eq(served_by(2), "bs br dh ch rh sr");
    job_close(&job, ranks);
}
END_TEST

START_TEST(a_node_that_is_alone_needs_a_strobe_sender_if_strobes_are_timed)
{
    open_job(true, false, 0);
    ck_assert_str_eq(served_by(0), "bs br dh ch rh sr");
    job_close(&job, ranks);
    open_job(true, true, 0);
    ck_assert_str_eq(served_by(0), "bs br dh ch rh sr ss");
    job_close(&job, ranks);
}
END_TEST

/* ---- no thread sleeps through a wake-up */

/** A worker of the test: at each look somebody wakes it, while it looks. */
struct woken {
    struct nic_wakers wakers;
    enum nic_rest_kind kind;
    bool is_woken;
    uint64_t pause_ns;
    _Atomic uint32_t park;
    _Atomic uint32_t n_looks;
    _Atomic uint32_t end_park; /* of the test */
};

static struct nic_wakers wakers(void *state, uint32_t part)
{
    (void)part;
    return ((struct woken *)state)->wakers;
}

static struct nic_rest look(void *state, uint32_t part)
{
    struct woken *woken = state;
    uint32_t n = atomic_fetch_add(&woken->n_looks, 1) + 1;

    (void)part;
    if (n == N_LOOKS) {
        bcs_park_wake(&woken->end_park);
    } else if (n < N_LOOKS && woken->is_woken) {
        if (woken->kind == NIC_REST_BELL) {
            nic_engine_ring_own(woken->wakers.bell);
        } else {
            ck_assert(bcs_park_wake(&woken->park));
        }
    }
    return (struct nic_rest){woken->kind, n >= N_LOOKS || woken->pause_ns == 0
                                              ? 0
                                              : bcs_clock_now_ns() + woken->pause_ns};
}

static const struct nic_worker_ops worker = {.wakers = wakers, .look = look};

/** Start it, wait until it has looked often enough, and end it asleep. */
static void run_woken(struct woken *woken)
{
    struct nic_service_thread thread = {.worker = &worker, .state = woken};
    uint32_t announced = bcs_park_announce(&woken->end_park, NULL);

    ck_assert_int_eq(nic_service_thread_start(&thread, "test"), 0);
    while (atomic_load(&woken->n_looks) < N_LOOKS) {
        bcs_park_sleep(&woken->end_park, announced, 0);
    }
    nic_service_thread_stop(&thread);
}

START_TEST(a_thread_does_not_sleep_if_its_parking_was_ended_during_the_look)
{
    struct woken woken = {.kind = NIC_REST_PARK, .is_woken = true};

    woken.wakers.park = &woken.park;
    run_woken(&woken);
    ck_assert_uint_eq(woken.n_looks, N_LOOKS);
}
END_TEST

START_TEST(a_thread_does_not_sleep_if_its_bell_has_rung_during_the_look)
{
    struct woken woken = {.kind = NIC_REST_BELL, .is_woken = true};

    open_job(true, false, 0);
    woken.wakers.bell = nic_engine_view_at(ranks[0].context->engine, 0);
    run_woken(&woken);
    ck_assert_uint_ge(woken.n_looks, N_LOOKS); /* a bell wakes in vain now and then */
    job_close(&job, ranks);
}
END_TEST

START_TEST(a_thread_looks_again_at_its_time)
{
    struct woken woken = {.kind = NIC_REST_PARK, .pause_ns = 1};

    woken.wakers.park = &woken.park;
    run_woken(&woken);
    ck_assert_uint_eq(woken.n_looks, N_LOOKS);
}
END_TEST

/* ---- the timer of strobes */

START_TEST(a_timer_rests_until_a_strobe_is_needed)
{
    struct nic_strobe_timer timer = {0};
    struct nic_engine *engine;
    struct bcs_machine *machine;
    struct bcs_message message;
    struct nic_rest rest;
    int32_t word = 1;

    open_job(false, true, 0);
    machine = &job.shared->machine;
    engine = ranks[0].context->engine;
    nic_strobe_timer_start(&timer, nic_engine_view_at(engine, 0));
    bcs_park_announce(&machine->strobe_park, NULL);
    rest = nic_strobe_timer_look(&timer, nic_engine_view_at(engine, 0));
    ck_assert(rest.kind == NIC_REST_PARK && rest.until_ns == 0);
    message = rank_message(&ranks[1], 0, 1, &word, sizeof(word));
    ck_assert_int_eq(bcs_send(ranks[1].context, &message, BCS_SEND_BUFFERED, NULL), 0);
    ck_assert(!bcs_park_is_announced(&machine->strobe_park)); /* by its kick */
    bcs_park_announce(&machine->strobe_park, NULL);
    do {
        rest = nic_strobe_timer_look(&timer, nic_engine_view_at(engine, 0));
        ck_assert(rest.kind == NIC_REST_NOT || rest.until_ns > 0);
        nic_driver_timed.kick(ranks[1].context->engine,
                              1); /* the strobe comes anyhow */
        ck_assert(bcs_park_is_announced(&machine->strobe_park));
    } while (rest.kind != NIC_REST_NOT);
    ck_assert_uint_eq(nic_engine_view_at(engine, 0)->node->strobes.n_strobes, 1);
    job_close(&job, ranks);
}
END_TEST

/* ---- a crew at work */

static void exchange(struct rank *me)
{
    int32_t word = me->rank;
    struct bcs_message out = rank_message(me, (me->rank + 1) % me->size, 0, &word, 4);

    rank_open_world(me);
    for (int i = 0; i < 10; i++) {
        rank_expect(me, bcs_barrier(me->context, &me->world, NULL) == 0, "a barrier");
    }
    rank_expect(me, bcs_send(me->context, &out, BCS_SEND_BUFFERED, NULL) == 0,
                "a send");
}

START_TEST(a_crew_ends_what_is_handed_over)
{
    const struct job_shape shape = {
        .n_ranks = 2, .is_direct = true, .is_threaded = true, .has_crew = true};

    job_run(&shape, exchange);
}
END_TEST

/* ---- the end of slices */

/** How many slices were recorded of a node, or of all. */
static uint64_t n_recorded(struct rank *me, uint32_t node, bool is_global)
{
    struct bcs_spans spans = {0};
    uint64_t n = 0;

    rank_expect(me,
                nic_engine_recorded(me->context->engine, node, is_global, &spans) == 0,
                "something recorded");
    for (size_t i = 0; i < spans.n; i++) {
        n += spans.spans[i].n_slices;
    }
    free(spans.spans);
    return n;
}

/** All nodes have recorded as many slices as their sender, and no more follow. On
 *  demand slices are counted by time, each node's its own. */
static void expect_ended(struct rank *me)
{
    uint64_t n = n_recorded(me, 0, true);

    rank_expect(me, n > 0, "slices of all nodes");
    for (uint32_t i = 0; i < 2 && me->context->engine->is_timed; i++) {
        rank_expect(me, n_recorded(me, i, false) == n, "as many on each node");
    }
    bcs_rest(N_QUIET_NS);
    rank_expect(me, n_recorded(me, 0, true) == n, "no slice behind the last one");
}

static void end_slices(struct rank *me)
{
    int32_t word = me->rank;
    struct bcs_message out = rank_message(me, (me->rank + 1) % me->size, 0, &word, 4);

    rank_open_world(me);
    for (int i = 0; i < 10; i++) {
        rank_expect(me, bcs_barrier(me->context, &me->world, NULL) == 0, "a barrier");
    }
    pthread_barrier_wait(&me->job->shared->barrier);
    if (me->rank == 0) {
        nic_engine_end_slices(me->context->engine);
    }
    pthread_barrier_wait(&me->job->shared->barrier);
    rank_expect(me, bcs_send(me->context, &out, BCS_SEND_BUFFERED, NULL) == 0,
                "a send"); /* which asks for a slice */
    if (me->rank == 0) {
        expect_ended(me);
    }
}

START_TEST(slices_end_when_asked)
{
    const struct job_shape shape = {
        .n_ranks = 2,
        .node_ranks = 1,
        .is_direct = true,
        .is_threaded = true,
        .has_crew = _i % 2 != 0,
        .is_timed = _i / 2 != 0,
        .record = {.n_spans = 64, .metrics = UINT64_MAX},
    };

    job_run(&shape, end_slices);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("service");

    tcase_add_test(tcase, the_machines_first_process_has_the_background_thread);
    tcase_add_test(tcase, the_machines_first_process_has_the_referee);
    tcase_add_test(tcase, another_machine_has_a_witness_in_the_place_of_the_referee);
    tcase_add_test(tcase, the_machines_first_process_has_the_timekeeper);
    tcase_add_test(tcase, the_first_process_of_a_machine_need_not_be_rank_0);
    tcase_add_test(tcase, the_first_process_of_each_node_has_the_crew);
    tcase_add_test(tcase,
                   a_node_that_is_alone_needs_a_strobe_sender_if_strobes_are_timed);
    tcase_add_test(tcase,
                   a_thread_does_not_sleep_if_its_parking_was_ended_during_the_look);
    tcase_add_test(tcase, a_thread_does_not_sleep_if_its_bell_has_rung_during_the_look);
    tcase_add_test(tcase, a_thread_looks_again_at_its_time);
    tcase_add_test(tcase, a_timer_rests_until_a_strobe_is_needed);
    tcase_add_test(tcase, a_crew_ends_what_is_handed_over);
    tcase_add_loop_test(tcase, slices_end_when_asked, 0, 4);
    return run_tcase("service", tcase);
}
