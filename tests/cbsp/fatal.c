/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors that end a job: each name on the command line makes one, and every process
 * must get the same error from then on, from every call. Prints "process i: ended by
 * <errno>". Started by run_cbsp.py, which looks at the lines on standard error.
 */
#include <bcs/cbsp.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool is_slow; /* at the first thing that is said */

/** Also the library's. The launcher kills who says why a job ends if another process
 *  has ended before. */
ssize_t write(int fd, const void *data, size_t n_bytes)
{
    static const struct timespec delay = {.tv_sec = 2};

    if (is_slow && fd == STDERR_FILENO) {
        is_slow = false;
        nanosleep(&delay, NULL);
    }
    return syscall(SYS_write, fd, data, n_bytes);
}

static void nothing(int srcNode, void *destAddr, int nBytes)
{
    (void)srcNode;
    (void)destAddr;
    (void)nBytes;
}

/** Where it is told that something has happened: in the job's folder. */
static const char *path_of(const char *what)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", getenv("TMPDIR"), what);
    return path;
}

/** Tell the other processes, not by cBSP, that something has happened. */
static void tell(const char *what)
{
    close(open(path_of(what), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

/** Wait until it is told to this process, which is the only one. */
static void await(const char *what)
{
    while (unlink(path_of(what)) != 0) {
        usleep(1000);
    }
}

static int send_to(int node, int n_messages)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < n_messages; i++) {
        rc = cBSP_send(node, NULL, &i, sizeof(i), nothing);
    }
    return rc;
}

/** A count that is one too high, in the last process; the others go on to a gsync. */
static int too_few(int pid, int n)
{
    int rc = send_to(n - 1, 2);

    rc = rc < 0 ? rc : cBSP_nsync(pid == n - 1 ? 2 * n + 1 : 0);
    return rc < 0 ? rc : cBSP_gsync();
}

/** All wait for a message of the next. */
static int circle(int pid, int n)
{
    (void)pid;
    is_slow = n > 2;
    return cBSP_nsync(1);
}

/** Too few, after so much that buffers have overflowed. */
static int too_few_after_many(int pid, int n)
{
    int rc = send_to((pid + 1) % n, 20000);

    return rc < 0 ? rc : cBSP_nsync(20001);
}

/** More messages are there than are counted. */
static int too_many(int pid, int n)
{
    int rc = cBSP_gsync();

    rc = rc < 0 ? rc : send_to((pid + 1) % n, 2);
    rc = rc < 0 ? rc : cBSP_nsync(1);
    return rc < 0 ? rc : cBSP_gsync();
}

/** A message that comes when its superstep is long over. */
static int send_late(int pid, int n)
{
    int rc = 0;

    if (pid == 0) {
        await("over");
        rc = send_to(n - 1, 1);
    }
    for (int i = 0; rc == 0 && i < 3; i++) {
        rc = cBSP_nsync(0);
        if (pid == n - 1 && i == 0) {
            tell("over");
        }
    }
    return rc;
}

/** One that comes late; another follows. */
static int too_late(int pid, int n)
{
    int rc = send_late(pid, n);

    rc = rc < 0 || pid != 0 ? rc : send_to(n - 1, 1);
    return rc < 0 ? rc : cBSP_nsync(pid == n - 1);
}

/** As before, but nothing follows: found at the end. */
static int late_and_last(int pid, int n)
{
    int rc = send_late(pid, n);

    return rc < 0 ? rc : cBSP_finalize();
}

/** One synchronizes globally where the others count. */
static int mixed(int pid, int n)
{
    int rc = pid == n - 1 ? cBSP_gsync() : cBSP_nsync(0);

    return rc < 0 ? rc : cBSP_gsync();
}

/** The first process synchronizes globally, one superstep behind the others. */
static int behind(int pid, int n)
{
    int rc = pid == 0 ? 0 : cBSP_nsync(0);

    (void)n;
    return rc < 0 ? rc : cBSP_gsync();
}

/** A message that comes when its superstep has just ended, and before the next one
 *  does. */
static int late_and_met(int pid, int n)
{
    int rc = 0;

    if (pid == 0) {
        await("over");
        rc = send_to(n - 1, 1);
    }
    rc = rc < 0 ? rc : cBSP_nsync(0);
    if (rc == 0 && pid == 0) {
        tell("sent");
    } else if (rc == 0 && pid == n - 1) {
        tell("over");
        await("sent");
    }
    rc = rc < 0 ? rc : cBSP_gsync();
    return rc < 0 ? rc : cBSP_finalize();
}

/** A broadcast of different lengths. */
static int lengths(int pid, int n)
{
    char bytes[16] = {0};

    (void)n;
    return cBSP_broadcast(0, bytes, pid == 0 ? 16 : 8);
}

/** Handlers send when there is no superstep left. */
static void send_back(int srcNode, void *destAddr, int nBytes)
{
    cBSP_send(srcNode, NULL, destAddr, (size_t)nBytes, nothing);
}

static int handlers_at_end(int pid, int n)
{
    int word = pid;
    int rc = cBSP_send((pid + 1) % n, NULL, &word, sizeof(word), send_back);

    return rc < 0 ? rc : cBSP_finalize();
}

static const struct {
    const char *name;
    int (*run)(int pid, int n);
} cases[] = {
    {"too_few", too_few},
    {"circle", circle},
    {"too_few_after_many", too_few_after_many},
    {"too_many", too_many},
    {"too_late", too_late},
    {"late_and_last", late_and_last},
    {"late_and_met", late_and_met},
    {"behind", behind},
    {"mixed", mixed},
    {"lengths", lengths},
    {"handlers_at_end", handlers_at_end},
};

/** Wait for a message that never comes, while another process does not wait. */
static int wait_for_ever(int pid)
{
    while (pid == 0) {
        pause();
    }
    return cBSP_nsync(1);
}

static int run(const char *name)
{
    int pid = cBSP_pid(), n = cBSP_nprocs();

    if (strcmp(name, "wait_for_ever") == 0) {
        return wait_for_ever(pid);
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(name, cases[i].name) == 0) {
            return cases[i].run(pid, n);
        }
    }
    return -EINVAL;
}

int main(int argc, char **argv)
{
    int pid, rc;

    if (argc != 2 || cBSP_initialize() < 0) {
        return EXIT_FAILURE;
    }
    pid = cBSP_pid();
    rc = run(argv[1]);
    if (cBSP_nprocs() > 0) {
        if (rc < 0 && (cBSP_gsync() != rc || cBSP_send(0, NULL, NULL, 0, NULL) != rc)) {
            printf("process %d: the error was forgotten\n", pid);
        }
        rc = cBSP_finalize();
    }
    printf("process %d: ended by %s\n", pid,
           rc == 0 ? "nothing" : strerrorname_np(-rc));
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
