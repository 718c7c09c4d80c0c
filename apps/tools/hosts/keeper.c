/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keepers of namespaces; see keeper.h. A keeper does nothing but live: the kernel takes
 * its network and mounts away when it and all others in them have ended.
 */
#include "apps/tools/hosts/keeper.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/fabric/base/kernel_stat.h"

enum { PATH_BYTES = 64 };

int keeper_release_init(struct keeper_release *release_out)
{
    if (pipe2(release_out->fds, O_CLOEXEC) < 0) {
        warn("pipe");
        return -1;
    }
    return 0;
}

void keeper_release_all(struct keeper_release *release, uint32_t n_keepers)
{
    for (uint32_t i = 0; i < n_keepers; i++) {
        if (write(release->fds[1], "", 1) != 1) {
            warn("a keeper of hosts cannot be told");
        }
    }
    close(release->fds[0]);
    close(release->fds[1]);
}

/** What a host has of its own beside its network. @return 0; -1: told */
static int furnish(const char *name, const char *names)
{
    if (sethostname(name, strlen(name)) < 0) {
        warn("the host name %s cannot be set", name);
        return -1;
    }
    /* Mounts of this namespace are not to appear in others. */
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0 ||
        mount(names, "/etc/hosts", NULL, MS_BIND, NULL) < 0) {
        warn("/dev/shm and /etc/hosts of %s cannot be mounted", name);
        return -1;
    }
    return 0;
}

/** Leave the starter's terminal, and its files. */
static void detach(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    setsid();
    for (int fd = 0; fd < 3 && null >= 0; fd++) {
        dup2(null, fd);
    }
    if (chdir("/") < 0) {
        _exit(EXIT_FAILURE);
    }
    prctl(PR_SET_NAME, "bcs-hosts");
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
}

/** The keeper, until it is killed. @param ready  gets a byte when the host is there */
static void keep(const char *name, const char *names,
                 const struct keeper_release *release, int ready)
{
    int kinds =
        CLONE_NEWNET | (names == NULL ? 0 : CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWIPC);
    char byte;

    close(release->fds[1]); /* so that the pipe ends with its starter */
    if (unshare(kinds) < 0) {
        warn("no namespaces for %s", name);
        _exit(EXIT_FAILURE);
    }
    if (names != NULL && furnish(name, names) < 0) {
        _exit(EXIT_FAILURE);
    }
    if (write(ready, "", 1) != 1) {
        _exit(EXIT_FAILURE);
    }
    close(ready);
    detach();
    if (read(release->fds[0], &byte, 1) != 1) {
        _exit(EXIT_FAILURE);
    }
    close_range(3, UINT_MAX, 0); /* the starter's lock, too */
    for (;;) {
        pause();
    }
}

/** Set what tells the keeper apart. @return 0; -1: it is gone, told */
static int describe(struct host *host)
{
    struct bcs_kernel_stat status;
    char path[PATH_BYTES];
    struct stat net;

    snprintf(path, sizeof path, "/proc/%ld/ns/net", (long)host->keeper);
    /* The link is the kernel's; what it leads to has the number. */
    if (!bcs_kernel_stat_process(host->keeper, &status) || stat(path, &net) < 0) {
        warnx("the keeper of %s has ended", host->name);
        return -1;
    }
    host->start_time = status.start_time;
    host->net = net.st_ino;
    return 0;
}

int keeper_start(struct host *host, const char *names,
                 const struct keeper_release *release)
{
    int ready[2];
    char byte;
    ssize_t n_bytes;

    if (pipe2(ready, O_CLOEXEC) < 0) {
        warn("pipe");
        return -1;
    }
    host->keeper = fork();
    if (host->keeper == 0) {
        close(ready[0]);
        keep(host->name, names, release, ready[1]);
    }
    close(ready[1]);
    n_bytes = host->keeper < 0 ? -1 : read(ready[0], &byte, 1);
    close(ready[0]);
    if (host->keeper < 0) {
        warn("fork");
        return -1;
    }
    return n_bytes == 1 ? describe(host) : -1;
}

void keeper_kill(const struct host *host)
{
    if (host->keeper > 0 && host_is_up(host)) {
        kill(host->keeper, SIGKILL);
        waitpid(host->keeper, NULL, 0); /* if it is our child */
    }
}

/** Enter one namespace of a keeper. @return 0; -1: told */
static int enter(const struct host *host, const char *kind)
{
    char path[PATH_BYTES];
    int fd, rc;

    snprintf(path, sizeof path, "/proc/%ld/ns/%s", (long)host->keeper, kind);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    rc = fd < 0 ? -1 : setns(fd, 0);
    if (rc < 0) {
        warn("%s: %s", host->name, path);
    }
    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

/** @return 0; -1: it is gone, told */
static int check_up(const struct host *host)
{
    if (!host_is_up(host)) {
        warnx("host %s has ended; begin anew: bcs-hosts down, then bcs-hosts up",
              host->name);
        return -1;
    }
    return 0;
}

int keeper_enter_network(const struct host *host)
{
    return check_up(host) < 0 ? -1 : enter(host, "net");
}

int keeper_enter(const struct host *host)
{
    char *folder = getcwd(NULL, 0);
    int rc = check_up(host);

    if (rc == 0 && (enter(host, "net") < 0 || enter(host, "uts") < 0 ||
                    enter(host, "ipc") < 0 || enter(host, "mnt") < 0)) {
        rc = -1;
    }
    /* Entering its mounts leads to the root folder. */
    if (rc == 0 && (folder == NULL || chdir(folder) < 0)) {
        warn("the working directory");
        rc = -1;
    }
    free(folder);
    return rc;
}
