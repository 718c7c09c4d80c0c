/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a child on a terminal; see guard.h. Nothing runs in a signal handler. A stop, by
 * Ctrl-Z, reaches both; the child puts the terminal right before it stops, as ncurses
 * does that.
 */
#include "guard.h"

#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

enum { SIGNAL_STATUS = 128 };

static void print_capability(const char *name)
{
    char *text = tigetstr(name);

    if (text != NULL && text != (char *)(intptr_t)-1) {
        putp(text);
    }
}

/** Put the terminal right. */
static void restore(const struct termios *modes)
{
    int error;

    if (setupterm(NULL, STDOUT_FILENO, &error) == OK) {
        print_capability("sgr0");  /* no attributes */
        print_capability("rmkx");  /* keys as they were */
        print_capability("cnorm"); /* the cursor */
        print_capability("rmcup"); /* the screen as it was */
        fflush(stdout);
    }
    tcsetattr(STDIN_FILENO, TCSADRAIN, modes);
}

/** Wait for the child, and pass on what comes meanwhile. @return its wait status */
static int await_child(pid_t child, const sigset_t *signals)
{
    int wait_status = 0;
    siginfo_t info;

    while (waitpid(child, &wait_status, WNOHANG) != child) {
        /* A Ctrl-C of the terminal has reached the child by itself. */
        if (sigwaitinfo(signals, &info) > 0 && info.si_signo != SIGCHLD &&
            info.si_code != SI_KERNEL) {
            kill(child, info.si_signo);
        }
    }
    return wait_status;
}

/** Die of a signal, as who has started us is to know. */
static void die_of(int number)
{
    sigset_t only;

    signal(number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
}

/** What is to be done when the child has ended. @return the exit status */
static int end_as(int wait_status, const struct termios *modes)
{
    int number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status)
                 : WEXITSTATUS(wait_status) > SIGNAL_STATUS
                     ? WEXITSTATUS(wait_status) - SIGNAL_STATUS
                     : 0;

    if (WIFSIGNALED(wait_status)) {
        restore(modes);
        fprintf(stderr, "bcs-top: its view was ended by signal %d (%s)\n", number,
                strsignal(number));
    }
    if (number != 0) {
        die_of(number);
    }
    return number != 0 ? SIGNAL_STATUS + number : WEXITSTATUS(wait_status);
}

int guard_run(int (*run)(void *arg), void *arg)
{
    static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    pid_t parent = getpid(), child;
    sigset_t signals, before;
    struct termios modes;

    if (tcgetattr(STDIN_FILENO, &modes) < 0) {
        fprintf(stderr, "bcs-top: the terminal: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        sigaddset(&signals, passed[i]);
    }
    sigprocmask(SIG_BLOCK, &signals, &before);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        int status;

        prctl(PR_SET_PDEATHSIG, SIGTERM);
        sigprocmask(SIG_SETMASK, &before, NULL);
        status = getppid() == parent ? run(arg) : SIGNAL_STATUS + SIGTERM;
        fflush(NULL);
        _exit(status);
    }
    if (child < 0) {
        fprintf(stderr, "bcs-top: cannot start a process: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    return end_as(await_child(child, &signals), &modes);
}
