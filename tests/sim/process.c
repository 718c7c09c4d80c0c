/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes; see process.h. Outside of a process the system is the kernel's, and each
 * wrapped function is what it is elsewhere.
 */
#include "tests/sim/process.h"

#include "libbcs/fabric/base/system.h"
#include "nic_threads/machine/engine_lock.h"
#include "tests/sim/trace.h"

enum { FIRST_NS = 1000000 }; /* no time is 0 */

static struct sim_process *all, *present;
static uint64_t now_ns;

void sim_process_init(struct sim_process *process, uint32_t number,
                      void (*fn)(void *arg), void *arg)
{
    *process = (struct sim_process){.number = number, .next = all};
    sim_fiber_init(&process->fiber, fn, arg);
    all = process;
}

void sim_process_fini(struct sim_process *process)
{
    sim_fiber_fini(&process->fiber);
}

bool sim_process_is_awake(const struct sim_process *process)
{
    return !process->has_ended && !process->is_busy &&
           (process->asleep_on == NULL ||
            (process->until_ns != 0 && process->until_ns <= now_ns));
}

void sim_process_run(struct sim_process *process)
{
    present = process;
    process->has_ended = sim_fiber_run(&process->fiber);
    present = NULL;
}

void sim_process_stop(void)
{
    if (present != NULL) {
        sim_fiber_stop(&present->fiber);
    }
}

void sim_process_be_busy(void)
{
    sim_trace("busy:", present->number, SIM_NO_UNIT);
    present->is_busy = true;
    sim_process_stop();
    present->is_busy = false;
}

void sim_process_pass_time(uint64_t ns)
{
    now_ns += ns;
}

bool sim_process_pass_sleep(void)
{
    uint64_t first_ns = UINT64_MAX;

    for (const struct sim_process *one = all; one != NULL; one = one->next) {
        if (!one->has_ended && one->asleep_on != NULL && one->until_ns != 0 &&
            one->until_ns < first_ns) {
            first_ns = one->until_ns;
        }
    }
    if (first_ns != UINT64_MAX && first_ns > now_ns) {
        now_ns = first_ns;
    }
    return first_ns != UINT64_MAX;
}

/** The view's process has a role of it take a step: let others run before it and after
 *  it. */
static void hand_over(struct nic_view *view, enum nic_role role, nic_role_fn step)
{
    (void)role;
    sim_process_stop();
    step(view);
    sim_process_stop();
}

static const struct nic_crew_ops crew_ops = {.hand_over = hand_over};

void sim_process_man(struct sim_process *process, struct nic_engine *engine)
{
    engine->crew = (struct nic_crew *)process;
    engine->crew_ops = &crew_ops;
}

/* ---- the system */

static uint64_t sim_now_ns(void)
{
    return present == NULL ? bcs_system_kernel.now_ns() : now_ns;
}

static bool sim_sleep(const void *word, uint32_t value, uint64_t until_ns)
{
    bool is_late;

    if (present == NULL) {
        return bcs_system_kernel.sleep(word, value, until_ns);
    }
    sim_process_stop();
    if (__atomic_load_n((const uint32_t *)word, __ATOMIC_SEQ_CST) != value) {
        return false;
    }
    sim_trace("asleep:", present->number, SIM_NO_UNIT);
    present->asleep_on = word;
    present->until_ns = until_ns;
    sim_process_stop();
    is_late = present->asleep_on != NULL;
    present->asleep_on = NULL;
    return is_late;
}

static void sim_wake(const void *word)
{
    if (present == NULL) {
        bcs_system_kernel.wake(word);
    }
    for (struct sim_process *one = all; one != NULL; one = one->next) {
        if (one->asleep_on == word) {
            sim_trace("woken:", one->number, SIM_NO_UNIT);
            one->asleep_on = NULL;
        }
    }
}

static void sim_yield(void)
{
    if (present == NULL) {
        bcs_system_kernel.yield();
    } else {
        sim_process_stop();
    }
}

static const struct bcs_system_ops sim_system = {
    .now_ns = sim_now_ns,
    .sleep = sim_sleep,
    .wake = sim_wake,
    .yield = sim_yield,
};

void sim_processes_begin(void)
{
    bcs_system_set(&sim_system);
    all = NULL;
    now_ns = FIRST_NS;
}

/* ---- what is wrapped */

bool __real_nic_engine_try_lock(struct nic_view *view);
bool __wrap_nic_engine_try_lock(struct nic_view *view);
enum nic_carried __real_nic_strobe_receiver_run_alone(struct nic_view *view);
enum nic_carried __wrap_nic_strobe_receiver_run_alone(struct nic_view *view);
bool __real_nic_strobe_receiver_step(struct nic_view *view);
bool __wrap_nic_strobe_receiver_step(struct nic_view *view);
void __real_nic_engine_wake(struct nic_view *view);
void __wrap_nic_engine_wake(struct nic_view *view);

bool __wrap_nic_engine_try_lock(struct nic_view *view)
{
    bool is_ours;

    sim_process_stop();
    is_ours = __real_nic_engine_try_lock(view);
    if (is_ours) {
        sim_process_stop();
    } else if (present != NULL) {
        sim_trace("finds a lock taken:", present->number, SIM_NO_UNIT);
    }
    return is_ours;
}

enum nic_carried __wrap_nic_strobe_receiver_run_alone(struct nic_view *view)
{
    enum nic_carried carried = __real_nic_strobe_receiver_run_alone(view);

    sim_process_stop();
    return carried;
}

bool __wrap_nic_strobe_receiver_step(struct nic_view *view)
{
    bool has_done = __real_nic_strobe_receiver_step(view);

    sim_process_stop();
    return has_done;
}

void __wrap_nic_engine_wake(struct nic_view *view)
{
    sim_process_stop();
    __real_nic_engine_wake(view);
}
