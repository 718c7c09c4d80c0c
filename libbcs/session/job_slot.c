/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the slots of this user's jobs; see the header. Called by each process while
 * it meets the others of its job, and when it parts.
 *
 * The kernel lists the names of all sockets of a network namespace in /proc/net/unix.
 * A sign is called "bcs-jobs-1.UID.PID.FD": a process and its file descriptor of the
 * segment. The number in it is raised when the layout of the slots changes. Who looks
 * for signs holds the socket "bcs-jobs-1.UID.lock", so that two jobs that begin at
 * once do not make a segment each. Other users may take such names, too. So what a sign
 * leads to is used only if it belongs to this user, and who cannot have the lock does
 * without.
 */
#include "libbcs/session/job_slot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libbcs/fabric/base/forked.h"
#include "libbcs/fabric/base/notice.h"
#include "libbcs/fabric/base/park.h"
#include "libbcs/fabric/base/process.h"

#define NAME "bcs-jobs-1"
#define SOCKETS "/proc/net/unix"

enum { NAME_BYTES = 80 };

/* How often, and how long apart, the lock is tried: who holds it needs it for some
 * hundred microseconds. */
enum { LOCK_TRIES = 200, LOCK_REST_NS = 1000000 };

_Static_assert(sizeof(((cpu_set_t *)0)->__bits) ==
                   BCS_SLOT_CPU_WORDS * sizeof(uint64_t),
               "processors are copied word by word");

/** Hold a name that nobody else of this network namespace holds. @return a socket, or
 *  -errno */
static int hold(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t n_bytes = strlen(name);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

    if (fd < 0) {
        return -errno;
    }
    memcpy(address.sun_path + 1, name, n_bytes); /* behind a zero: in no file system */
    if (bind(fd, (const struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n_bytes)) < 0) {
        err = -errno;
        close(fd);
        return err;
    }
    return fd;
}

/** @return a socket, which is the lock, or -errno */
static int lock(void)
{
    char name[NAME_BYTES];
    int fd = -EADDRINUSE;

    snprintf(name, sizeof(name), NAME ".%u.lock", (unsigned)geteuid());
    for (int i = 0; i < LOCK_TRIES && fd == -EADDRINUSE; i++) {
        if (i > 0) {
            bcs_rest(LOCK_REST_NS);
        }
        fd = hold(name);
    }
    return fd;
}

/** Where a sign of this user leads to. @return false: the line is of none */
static bool read_sign(const char *line, struct bcs_shm_handle *handle_out)
{
    const char *name = strstr(line, " @" NAME ".");
    unsigned uid;
    int n_read = 0;

    *handle_out = (struct bcs_shm_handle){.n_bytes = sizeof(struct bcs_machine_jobs)};
    return name != NULL &&
           sscanf(name, " @" NAME ".%u.%" SCNd64 ".%" SCNd64 "%n", &uid,
                  &handle_out->pid, &handle_out->fd, &n_read) == 3 &&
           name[n_read] == '\n' && uid == (unsigned)geteuid();
}

/** Share the segment of any job that has one. @return whether there is any */
static bool find_segment(struct bcs_shm_segment *segment_out)
{
    FILE *sockets = fopen(SOCKETS, "re");
    struct bcs_shm_handle handle;
    char *line = NULL;
    size_t n_bytes = 0;
    bool is_found = false;

    while (!is_found && sockets != NULL && getline(&line, &n_bytes, sockets) > 0) {
        is_found =
            read_sign(line, &handle) && bcs_shm_segment_try(segment_out, &handle) == 0;
    }
    free(line);
    if (sockets != NULL) {
        fclose(sockets);
    }
    return is_found;
}

/** Hold a sign that leads to the segment. @return 0 or -errno */
static int put_up_sign(struct bcs_session_slot *slot)
{
    char name[NAME_BYTES];
    int fd;

    bcs_shm_segment_keep_fd(&slot->segment);
    snprintf(name, sizeof(name), NAME ".%u.%d.%d", (unsigned)geteuid(), (int)getpid(),
             slot->segment.fd);
    fd = hold(name);
    if (fd < 0) {
        return fd;
    }
    slot->sign_fd = bcs_fd_put_away(fd);
    return 0;
}

/** Under the lock. @return 0 or -errno */
static int find(struct bcs_session_slot *slot)
{
    int rc = 0;

    if (!find_segment(&slot->segment)) {
        rc = bcs_shm_segment_create(&slot->segment, sizeof(struct bcs_machine_jobs));
    }
    if (rc < 0) {
        return rc;
    }
    if (!bcs_jobs_take(slot->segment.base, bcs_process_word(), &slot->own.number)) {
        return -EUSERS;
    }
    slot->is_owner = true;
    slot->own.jobs = slot->segment.base;
    return put_up_sign(slot);
}

void bcs_slot_find(struct bcs_session_slot *slot_out)
{
    int held = lock(), rc = held;

    *slot_out = (struct bcs_session_slot){.sign_fd = -1};
    if (held >= 0) {
        rc = find(slot_out);
        close(held);
    }
    if (rc < 0) {
        bcs_notice(BCS_NOTICE_NO_SLOT,
                   "this job has no slot among the %d of this user's"
                   " jobs on the machine: %s",
                   BCS_JOBS_MOST, strerror(-rc));
        bcs_slot_leave(slot_out);
    }
}

struct bcs_slot_handle bcs_slot_handle(const struct bcs_session_slot *slot)
{
    if (slot->own.jobs == NULL) {
        return (struct bcs_slot_handle){0};
    }
    return (struct bcs_slot_handle){
        .segment = bcs_shm_segment_handle(&slot->segment),
        .number = slot->own.number,
    };
}

void bcs_slot_share(struct bcs_session_slot *slot_out,
                    const struct bcs_slot_handle *handle)
{
    int rc;

    *slot_out = (struct bcs_session_slot){0};
    if (handle->segment.pid == 0) {
        return; /* the first process has said why */
    }
    rc = bcs_shm_segment_try(&slot_out->segment, &handle->segment);
    if (rc < 0) {
        bcs_notice(BCS_NOTICE_NO_SLOT, "a rank cannot share its job's slot: %s",
                   strerror(-rc));
        return;
    }
    bcs_shm_segment_close_fd(&slot_out->segment);
    slot_out->own = (struct bcs_own_slot){slot_out->segment.base, handle->number};
}

void bcs_slot_enter(struct bcs_session_slot *slot, const cpu_set_t *cpus,
                    uint32_t n_processes)
{
    uint64_t words[BCS_SLOT_CPU_WORDS];

    if (slot->own.jobs != NULL) {
        memcpy(words, cpus, sizeof(words));
        bcs_jobs_enter(&slot->own, words, n_processes);
        bcs_jobs_sweep(&slot->own);
    }
}

void bcs_slot_leave(struct bcs_session_slot *slot)
{
    if (slot->is_owner) {
        bcs_jobs_leave(&slot->own);
        if (slot->sign_fd >= 0) {
            close(slot->sign_fd);
        }
    }
    bcs_shm_segment_fini(&slot->segment);
    *slot = (struct bcs_session_slot){0};
}

void bcs_slot_take_away(const struct bcs_session_slot *slot)
{
    if (slot->segment.base != NULL) {
        bcs_forked_take_away(slot->segment.base, slot->segment.n_bytes);
    }
    if (slot->is_owner) {
        close(slot->sign_fd);
        close(slot->segment.fd);
    }
}
