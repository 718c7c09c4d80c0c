/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks for what could act in this process; see agents.h.
 *
 * Threads. All are looked at, and then all once more. If each sleeps until a thread of
 * this process wakes it, at both looks, with as many switches, then all of them slept
 * when the second round began. As nobody else is there who could wake one, they sleep
 * on until a thread that waits in a call, and so is not looked at, goes on. A thread
 * that came between the rounds counts as one that runs.
 *
 * Signals. A handler counts if something in this process will send its signal, or can:
 * timers are looked at before threads, so that a handler that runs in another thread is
 * seen as that.
 */
#include "libbcs/fabric/base/agents.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MOST = 512, TIMERS_BYTES = 8192 };

/* -------------------------------------------------------------------------- signals */

/** Whether a file's handlers are not the program's: they send nothing. */
static bool is_library(const char *path)
{
    static const char *const names[] = {"libc.so", "libmpi", "libopen-",
                                        "libpmix", "libuc",  "libevent"};
    const char *name = strrchr(path, '/');

    name = name == NULL ? path : name + 1;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(name, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

/** Whether the program has a handler of a signal. */
static bool is_caught(int number)
{
    struct sigaction action;
    Dl_info info;
    void *handler;

    if (sigaction(number, NULL, &action) != 0 ||
        (action.sa_flags & SA_SIGINFO ? (uintptr_t)action.sa_sigaction
                                      : (uintptr_t)action.sa_handler) <= 1) {
        return false; /* SIG_DFL is 0, SIG_IGN is 1 */
    }
    memcpy(&handler, &action.sa_handler, sizeof(handler));
    return dladdr(handler, &info) == 0 || info.dli_fname == NULL ||
           !is_library(info.dli_fname);
}

static struct bcs_agent handler_of(int number, const char *source)
{
    struct bcs_agent agent = {.kind = BCS_AGENT_HANDLER};
    const char *name = number == SIGIO ? "IO" : sigabbrev_np(number);

    if (name != NULL) {
        snprintf(agent.text, sizeof(agent.text), "it catches SIG%s, %s", name, source);
    } else {
        snprintf(agent.text, sizeof(agent.text), "it catches signal %d, %s", number,
                 source);
    }
    return agent;
}

/** Whether a timer of setitimer runs. */
static bool is_interval_armed(__itimer_which_t which)
{
    struct itimerval value;

    return getitimer(which, &value) == 0 &&
           (value.it_value.tv_sec != 0 || value.it_value.tv_usec != 0);
}

static bool has_children(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/** A handler that an interval timer, a descriptor or a child may call. */
static struct bcs_agent find_handler(void)
{
    static const struct {
        int number;
        __itimer_which_t which;
    } intervals[] = {
        {SIGALRM, ITIMER_REAL}, {SIGVTALRM, ITIMER_VIRTUAL}, {SIGPROF, ITIMER_PROF}};

    for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
        if (is_caught(intervals[i].number) && is_interval_armed(intervals[i].which)) {
            return handler_of(intervals[i].number, "and its timer is armed");
        }
    }
    if (is_caught(SIGIO)) {
        return handler_of(SIGIO, "which a descriptor may send");
    }
    if (is_caught(SIGCHLD) && has_children()) {
        return handler_of(SIGCHLD, "and has a child process");
    }
    return (struct bcs_agent){BCS_AGENT_NONE, ""};
}

/** Where a paragraph of /proc/self/timers begins; NULL: there is none. */
static const char *timer_at(const char *text)
{
    const char *line = text;

    while (line != NULL && strncmp(line, "ID: ", 4) != 0) {
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return line;
}

const char *bcs_timer_parse(const char *text, struct bcs_timer *timer_out)
{
    const char *begin = timer_at(text);
    struct bcs_timer timer = {0};
    char notify[16] = "";

    if (begin == NULL ||
        sscanf(begin, "ID: %" SCNd32 " signal: %" SCNd32 "/%*s notify: %15s", &timer.id,
               &timer.signal, notify) < 2) {
        return NULL;
    }
    if (strncmp(notify, "none", 4) == 0) {
        timer.signal = 0;
    }
    *timer_out = timer;
    return begin + 1;
}

/** Whether a timer of timer_create runs. */
static bool is_timer_armed(int32_t id)
{
    struct itimerspec value;

    return syscall(SYS_timer_gettime, id, &value) == 0 &&
           (value.it_value.tv_sec != 0 || value.it_value.tv_nsec != 0);
}

/** A handler that a timer of timer_create may call. */
static struct bcs_agent find_timer(void)
{
    char text[TIMERS_BYTES];
    struct bcs_timer timer;
    ssize_t n_bytes;
    int fd = open("/proc/self/timers", O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return (struct bcs_agent){BCS_AGENT_NONE, ""};
    }
    n_bytes = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n_bytes > 0 ? n_bytes : 0] = '\0';
    for (const char *next = text; (next = bcs_timer_parse(next, &timer)) != NULL;) {
        if (timer.signal != 0 && is_timer_armed(timer.id) && is_caught(timer.signal)) {
            return handler_of(timer.signal, "and a timer of timer_create is armed");
        }
    }
    return (struct bcs_agent){BCS_AGENT_NONE, ""};
}

/* -------------------------------------------------------------------------- threads */

/** A round of looks at threads. */
struct round {
    const struct bcs_agents_but *but;
    const struct round *first; /* NULL: this is it */
    struct bcs_agent agent;    /* the first one that was found */
    uint32_t n;
    struct {
        int32_t id;
        uint64_t n_switches;
    } asleep[THREADS_MOST]; /* for their own process */
};

static bool is_waiting(const struct bcs_agents_but *but, int32_t id)
{
    for (uint32_t i = 0; i < but->n_waiting; i++) {
        if (but->waiting[i] == (uint32_t)id) {
            return true;
        }
    }
    return false;
}

/** Whether a thread slept in the first round, and has as many switches now. */
static bool was_asleep(const struct round *first, int32_t id, uint64_t n_switches)
{
    for (uint32_t i = 0; i < first->n; i++) {
        if (first->asleep[i].id == id) {
            return first->asleep[i].n_switches == n_switches;
        }
    }
    return false;
}

static struct bcs_agent agent_of(int32_t id, const struct bcs_thread_state *state)
{
    struct bcs_agent agent = {.kind = BCS_AGENT_RUNS};
    const char *call = bcs_thread_call_name(state->call);

    if (state->kind != BCS_THREAD_SLEEPS) {
        snprintf(agent.text, sizeof(agent.text), "its thread %" PRId32 " (%s) runs", id,
                 state->name);
    } else if (call != NULL) {
        snprintf(agent.text, sizeof(agent.text),
                 "its thread %" PRId32 " (%s) sleeps in %s", id, state->name, call);
    } else {
        snprintf(agent.text, sizeof(agent.text),
                 "its thread %" PRId32 " (%s) sleeps in system call %" PRId32, id,
                 state->name, state->call);
    }
    agent.kind = state->kind == BCS_THREAD_SLEEPS ? BCS_AGENT_SLEEPS : agent.kind;
    return agent;
}

/** Whether a thread sleeps until another one wakes it that could only act after
 *  that. */
static bool sleeps_on(const struct bcs_agents_but *but,
                      const struct bcs_thread_state *state)
{
    uint64_t door = (uintptr_t)but->door;

    return state->kind == BCS_THREAD_SLEEPS_FOR_OWN &&
           (state->address < door || state->address >= door + sizeof(*but->door));
}

/** Look at a thread, a bcs_tasks_visit function. @return whether it cannot act */
static bool look_at(void *arg, int32_t id)
{
    struct round *round = arg;
    struct bcs_thread_state state;

    if (id == gettid() || is_waiting(round->but, id) ||
        bcs_tasks_have(round->but->tasks, id) || !bcs_thread_look(id, &state)) {
        return true;
    }
    if (sleeps_on(round->but, &state) && round->n < THREADS_MOST &&
        (round->first == NULL || was_asleep(round->first, id, state.n_switches))) {
        round->asleep[round->n].id = id;
        round->asleep[round->n++].n_switches = state.n_switches;
        return true;
    }
    round->agent = agent_of(id, &state);
    return false;
}

/** A thread that could act. */
static struct bcs_agent find_thread(const struct bcs_agents_but *but)
{
    struct round first = {.but = but}, second = {.but = but, .first = &first};
    struct bcs_agent unknown = {BCS_AGENT_RUNS, "its threads cannot be looked at"};

    if (!bcs_tasks_visit(look_at, &first)) {
        return first.agent.kind != BCS_AGENT_NONE ? first.agent : unknown;
    }
    if (first.n > 0 && !bcs_tasks_visit(look_at, &second)) {
        return second.agent.kind != BCS_AGENT_NONE ? second.agent : unknown;
    }
    return (struct bcs_agent){BCS_AGENT_NONE, ""};
}

struct bcs_agent bcs_agent_find(const struct bcs_agents_but *but)
{
    struct bcs_agent agent = find_handler();

    if (agent.kind == BCS_AGENT_NONE) {
        agent = find_timer();
    }
    return agent.kind == BCS_AGENT_NONE ? find_thread(but) : agent;
}

/** What counts threads. */
struct count {
    const struct bcs_tasks *but;
    uint32_t n;
};

/** Count a thread, a bcs_tasks_visit function. */
static bool count_one(void *arg, int32_t id)
{
    struct count *count = arg;
    struct bcs_thread_state state;

    if (!bcs_tasks_have(count->but, id) &&
        (id == gettid() ||
         (bcs_thread_look(id, &state) && state.kind != BCS_THREAD_SLEEPS_FOR_OWN))) {
        count->n++;
    }
    return true;
}

uint32_t bcs_agents_count(const struct bcs_tasks *but)
{
    struct count count = {.but = but};

    return but->n <= BCS_TASKS_MOST && bcs_tasks_visit(count_one, &count) ? count.n : 0;
}
