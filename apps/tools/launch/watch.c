/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for a child with signals blocked, taking them one by one from sigtimedwait:
 * nothing runs in a signal handler. Called by bcsrun's one thread and by its keeper's.
 *
 * Who is told to stop passes it on, waits for some time, and then kills the child:
 * mpirun may be stuck, or stopped. What a child leaves behind when it is killed becomes
 * a child of the one that watches, which kills that, too: ranks must not run on without
 * mpirun.
 *
 * A Ctrl-C reaches everybody in the terminal's foreground group by itself. That is told
 * along when a signal is passed on, so that nobody in that group gets it twice.
 */
#include "apps/tools/launch/watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "apps/tools/launch/bcsrun_error.h"
#include "libbcs/fabric/base/clock.h"

#define NS_A_S 1000000000u
#define LONGEST_WAIT_NS (UINT64_C(3600) * NS_A_S)
/* timeout(1) and batch systems send a signal to a process and then to its group: two
 * that come so close are one. */
#define REPEAT_NS 200000000u
#define CHILDREN_FILE "/proc/thread-self/children"

static const int passed_signals[] = {SIGINT,  SIGTERM, SIGHUP,   SIGQUIT,
                                     SIGUSR1, SIGUSR2, WATCH_ASK};

#define N_PASSED_SIGNALS (sizeof passed_signals / sizeof passed_signals[0])

/** A running child. */
struct watch {
    const struct watch_child *child;
    pid_t pid;
    sigset_t signals;      /* those that are waited for */
    sigset_t kept_signals; /* the mask as it was */
    int stop_signal;       /* the first that asked to stop; 0: none */
    uint64_t stop_ns;      /* when it came */
    uint64_t asked_ns;     /* when somebody asked last; 0: nobody has */
    uint64_t look_ns;      /* when to look next; 0: not any more */
    bool is_killed;        /* by us */
};

/* Whether the one who started us wants us not to hear of this signal (nohup). A shell
 * makes background jobs ignore SIGINT, too, but one that is sent to bcsrun is meant. */
static bool is_ignored(int number)
{
    struct sigaction action;

    return number == SIGHUP && sigaction(number, NULL, &action) == 0 &&
           action.sa_handler == SIG_IGN;
}

static void signals_block(struct watch *watch)
{
    sigset_t blocked;

    sigemptyset(&watch->signals);
    sigaddset(&watch->signals, SIGCHLD);
    for (size_t i = 0; i < N_PASSED_SIGNALS; i++) {
        if (!is_ignored(passed_signals[i])) {
            sigaddset(&watch->signals, passed_signals[i]);
        }
    }
    blocked = watch->signals;
    sigaddset(&blocked, SIGTTOU); /* the keeper, in the background, may write */
    sigprocmask(SIG_BLOCK, &blocked, &watch->kept_signals);
}

/* In the child. Does not return. */
static void child_run(const struct watch *watch, pid_t parent)
{
    const struct watch_child *child = watch->child;
    int status;

    setpgid(0, child->has_own_group ? 0 : child->group);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        _exit(128 + SIGTERM); /* it died before the line above */
    }
    status = child->run(child->arg, &watch->kept_signals);
    fflush(NULL);
    _exit(status);
}

static int child_start(struct watch *watch)
{
    pid_t parent = getpid();

    signals_block(watch);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(NULL);
    watch->pid = fork();
    if (watch->pid == 0) {
        child_run(watch, parent);
    }
    if (watch->pid < 0) {
        int err = errno;

        sigprocmask(SIG_SETMASK, &watch->kept_signals, NULL);
        return bcsrun_error("cannot start a process: %s", strerror(err));
    }
    return 0;
}

static void child_kill(struct watch *watch)
{
    if (!watch->is_killed) {
        bcsrun_error("%s does not end; it is killed, with all that it has started",
                     watch->child->name);
        kill(watch->pid, SIGKILL);
        watch->is_killed = true;
    }
}

/* Note that somebody wants an end. @return whether the child is to hear of it */
static bool stop_note(struct watch *watch, int number)
{
    uint64_t now_ns = bcs_clock_now_ns();

    if (watch->stop_signal == 0) {
        watch->stop_signal = number;
        watch->stop_ns = now_ns;
        return true;
    }
    if (now_ns - watch->stop_ns < REPEAT_NS) {
        return false;
    }
    if (watch->child->is_hasty) {
        child_kill(watch);
    }
    return true;
}

/* Somebody asks where the job stands; one who asks all processes of a name means it
 * once. */
static void ask(struct watch *watch)
{
    uint64_t now_ns = bcs_clock_now_ns();

    if (watch->asked_ns == 0 || now_ns - watch->asked_ns >= REPEAT_NS) {
        watch->asked_ns = now_ns;
        watch->child->ask(watch->child->asked);
    }
}

static void signal_pass(struct watch *watch, const siginfo_t *info)
{
    int number = info->si_signo;
    union sigval is_from_terminal = {
        .sival_int = info->si_code == SI_KERNEL ||
                     (info->si_code == SI_QUEUE && info->si_pid == getppid() &&
                      info->si_value.sival_int == 1),
    };

    if (number == WATCH_ASK && watch->child->ask != NULL) {
        ask(watch);
        return;
    }
    if (number != SIGUSR1 && number != SIGUSR2 && number != WATCH_ASK &&
        !stop_note(watch, number)) {
        return;
    }
    if (watch->child->has_own_group || !is_from_terminal.sival_int) {
        sigqueue(watch->pid, number, is_from_terminal);
    }
}

/* What is left of left_ns if something is due at a time. */
static uint64_t left_until(uint64_t due_ns, uint64_t now_ns, uint64_t left_ns)
{
    uint64_t ns = due_ns > now_ns ? due_ns - now_ns : 0;

    return ns < left_ns ? ns : left_ns;
}

/* Look at the child, or kill it, if that is due. @return how long nothing will be */
static uint64_t due_do(struct watch *watch)
{
    uint64_t now_ns = bcs_clock_now_ns(), left_ns = LONGEST_WAIT_NS;

    if (watch->look_ns != 0 && now_ns >= watch->look_ns) {
        uint64_t pause_ns = watch->child->look(watch->child->looked);

        watch->look_ns = pause_ns == 0 ? 0 : now_ns + pause_ns;
    }
    if (watch->look_ns != 0) {
        left_ns = left_until(watch->look_ns, now_ns, left_ns);
    }
    if (watch->stop_signal != 0 && !watch->is_killed) {
        left_ns = left_until(watch->stop_ns + watch->child->grace_ns, now_ns, left_ns);
        if (now_ns - watch->stop_ns >= watch->child->grace_ns) {
            child_kill(watch);
            left_ns = LONGEST_WAIT_NS;
        }
    }
    return left_ns;
}

/* Wait for the next signal, or until something else is due.
 * @return whether info_out is filled */
static bool signal_next(struct watch *watch, siginfo_t *info_out)
{
    uint64_t left_ns = due_do(watch);
    struct timespec left = {.tv_sec = (time_t)(left_ns / NS_A_S),
                            .tv_nsec = (long)(left_ns % NS_A_S)};

    return sigtimedwait(&watch->signals, info_out, &left) >= 0;
}

/* Collect ended children. @return whether the one that is watched was among them */
static bool children_collect(const struct watch *watch, int *wait_status_out)
{
    bool has_ended = false;
    int wait_status;
    pid_t pid;

    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
        if (pid == watch->pid) {
            *wait_status_out = wait_status;
            has_ended = true;
        }
    }
    return has_ended;
}

/* Kill all children, which are what the one that is watched left behind. @return how
 * many */
static int children_kill(void)
{
    FILE *list = fopen(CHILDREN_FILE, "r");
    int n_killed = 0;
    int pid;

    while (list != NULL && fscanf(list, "%d", &pid) == 1) {
        n_killed += kill(pid, SIGKILL) == 0;
    }
    if (list != NULL) {
        fclose(list);
    }
    return n_killed;
}

/* A killed process leaves its own children to us: go on until there are none. */
static void orphans_end(void)
{
    while (children_kill() > 0) {
        while (waitpid(-1, NULL, 0) < 0 && errno == EINTR) {
            ;
        }
    }
}

/* The exit status that tells most: of a child that was to stop, the signal's. */
static int status_of(const struct watch *watch, int wait_status)
{
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) {
        return 0;
    }
    if (watch->stop_signal != 0) {
        return 128 + watch->stop_signal;
    }
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status)
                                    : WEXITSTATUS(wait_status);
}

int watch_run(const struct watch_child *child, struct watch_result *result_out)
{
    struct watch watch = {.child = child};
    bool has_ended = false;
    int wait_status = 0;
    int err = child_start(&watch);

    if (err) {
        return err;
    }
    watch.look_ns = child->look == NULL ? 0 : bcs_clock_now_ns() + child->first_look_ns;
    while (!has_ended) {
        siginfo_t info;

        if (!signal_next(&watch, &info)) {
            continue; /* something is due, or stopped and continued */
        }
        if (info.si_signo == SIGCHLD) {
            has_ended = children_collect(&watch, &wait_status);
        } else {
            signal_pass(&watch, &info);
        }
    }
    if (WIFSIGNALED(wait_status) && !watch.is_killed) {
        bcsrun_error("%s was killed by signal %d (%s)", child->name,
                     WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    }
    if (WIFSIGNALED(wait_status) || watch.stop_signal != 0) {
        orphans_end();
    }
    sigprocmask(SIG_SETMASK, &watch.kept_signals, NULL);
    result_out->status = status_of(&watch, wait_status);
    result_out->is_interrupted = watch.stop_signal != 0;
    result_out->is_killed = WIFSIGNALED(wait_status);
    return 0;
}
