/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts mpirun as a child and waits for it with signals blocked, taking them one by
 * one from sigwaitinfo: nothing runs in a signal handler. Called by bcsrun's one
 * thread.
 *
 * On a terminal mpirun stays in bcsrun's process group, so that job control and reading
 * from the terminal work; a Ctrl-C then reaches it by itself and is not passed on
 * again. Otherwise it gets a group of its own. bcsrun adopts what mpirun leaves behind
 * if it is killed: the ranks must not run on without it.
 */
#include "libbcs/tools/launch_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/base/clock.h"
#include "libbcs/tools/bcsrun_error.h"

#define REPEAT_NS 1000000000u /* the same signal is not passed on more often */
#define CHILDREN_FILE "/proc/thread-self/children"

static const int passed_signals[] = {SIGINT,  SIGTERM, SIGHUP,
                                     SIGQUIT, SIGUSR1, SIGUSR2};

#define N_PASSED_SIGNALS (sizeof passed_signals / sizeof passed_signals[0])

/** A running mpirun. */
struct launch {
    pid_t pid;
    bool has_own_group;
    sigset_t signals;                     /* those that bcsrun waits for */
    sigset_t kept_signals;                /* the mask as it was */
    uint64_t passed_ns[N_PASSED_SIGNALS]; /* when each was passed on last */
    bool is_interrupted;
};

static void child_redirect(int output_fd)
{
    int input_fd = open("/dev/null", O_RDONLY);

    if (input_fd >= 0) {
        dup2(input_fd, STDIN_FILENO);
        close(input_fd);
    }
    dup2(output_fd, STDOUT_FILENO);
    dup2(output_fd, STDERR_FILENO);
}

/* In the child: become mpirun. Does not return. */
static void child_exec(const struct launch *launch, pid_t parent, char *const *command,
                       int output_fd)
{
    if (launch->has_own_group) {
        setpgid(0, 0);
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        _exit(128 + SIGTERM); /* it died before the line above */
    }
    if (output_fd >= 0) {
        child_redirect(output_fd);
    }
    sigprocmask(SIG_SETMASK, &launch->kept_signals, NULL);
    execv(command[0], command);
    bcsrun_error("cannot start %s: %s", command[0], strerror(errno));
    _exit(127);
}

static int launch_start(struct launch *launch, char *const *command, int output_fd)
{
    pid_t parent = getpid();

    sigemptyset(&launch->signals);
    sigaddset(&launch->signals, SIGCHLD);
    for (size_t i = 0; i < N_PASSED_SIGNALS; i++) {
        sigaddset(&launch->signals, passed_signals[i]);
    }
    sigprocmask(SIG_BLOCK, &launch->signals, &launch->kept_signals);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    launch->has_own_group = !isatty(STDIN_FILENO) || output_fd >= 0;
    fflush(NULL);
    launch->pid = fork();
    if (launch->pid == 0) {
        child_exec(launch, parent, command, output_fd);
    }
    if (launch->pid < 0) {
        int err = errno;

        sigprocmask(SIG_SETMASK, &launch->kept_signals, NULL);
        return bcsrun_error("cannot start a process: %s", strerror(err));
    }
    return 0;
}

static void signal_pass(struct launch *launch, const siginfo_t *info)
{
    uint64_t now_ns = bcs_clock_now_ns();
    bool is_from_terminal = info->si_code == SI_KERNEL;

    if (info->si_signo != SIGUSR1 && info->si_signo != SIGUSR2) {
        launch->is_interrupted = true;
    }
    if (is_from_terminal && !launch->has_own_group) {
        return;
    }
    for (size_t i = 0; i < N_PASSED_SIGNALS; i++) {
        if (passed_signals[i] == info->si_signo &&
            (launch->passed_ns[i] == 0 || now_ns - launch->passed_ns[i] >= REPEAT_NS)) {
            launch->passed_ns[i] = now_ns;
            kill(launch->pid, info->si_signo);
        }
    }
}

/* Collect ended children. @return whether mpirun was among them */
static bool children_collect(const struct launch *launch, int *wait_status_out)
{
    bool has_ended = false;
    int wait_status;
    pid_t pid;

    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
        if (pid == launch->pid) {
            *wait_status_out = wait_status;
            has_ended = true;
        }
    }
    return has_ended;
}

/* Kill all children, which are what mpirun left behind. @return how many */
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

int launch_run(char *const *command, int output_fd, struct launch_result *result_out)
{
    struct launch launch = {0};
    bool has_ended = false;
    int wait_status = 0;
    int err = launch_start(&launch, command, output_fd);

    if (err) {
        return err;
    }
    while (!has_ended) {
        siginfo_t info;

        if (sigwaitinfo(&launch.signals, &info) < 0) {
            continue; /* EINTR: stopped and continued */
        }
        if (info.si_signo == SIGCHLD) {
            has_ended = children_collect(&launch, &wait_status);
        } else {
            signal_pass(&launch, &info);
        }
    }
    if (WIFSIGNALED(wait_status)) {
        bcsrun_error("mpirun was killed by signal %d (%s)", WTERMSIG(wait_status),
                     strsignal(WTERMSIG(wait_status)));
        orphans_end();
    }
    sigprocmask(SIG_SETMASK, &launch.kept_signals, NULL);
    result_out->status = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status)
                                                  : WEXITSTATUS(wait_status);
    result_out->is_interrupted = launch.is_interrupted;
    return 0;
}
