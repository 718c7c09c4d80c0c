/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How jobs of one user find each other on a machine, and that nothing is left of those
 * that are killed. Other jobs of this user may run meanwhile.
 */
#include "libbcs/session/job_slot.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/fabric/base/notice.h"

static struct bcs_session_slot mine;

static cpu_set_t cpus(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(1, &set);
    CPU_SET(CPU_SETSIZE - 1, &set);
    return set;
}

static void enter(struct bcs_session_slot *slot, uint32_t n_processes)
{
    const cpu_set_t all = cpus();

    bcs_slot_find(slot);
    ck_assert_ptr_nonnull(slot->own.jobs);
    bcs_slot_enter(slot, &all, n_processes);
}

static void setup(void)
{
    enter(&mine, 3);
}

static void teardown(void)
{
    bcs_slot_leave(&mine);
}

/** File descriptors of this process. */
static int count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int n = 0;

    ck_assert_ptr_nonnull(folder);
    while (readdir(folder) != NULL) {
        n++;
    }
    closedir(folder);
    return n;
}

/** Whether there are signs of a process. */
static bool has_sign(pid_t pid)
{
    FILE *sockets = fopen("/proc/net/unix", "re");
    char line[512], part[64];
    bool is_found = false;

    ck_assert_ptr_nonnull(sockets);
    snprintf(part, sizeof(part), "@bcs-jobs-1.%u.%d.", (unsigned)geteuid(), (int)pid);
    while (fgets(line, sizeof(line), sockets) != NULL) {
        is_found |= strstr(line, part) != NULL;
    }
    fclose(sockets);
    return is_found;
}

/** A job in a process of its own, which says where it is and then waits. */
static pid_t start_job(uint32_t n_processes, uint32_t *number_out)
{
    int ends[2];
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        struct bcs_session_slot slot;

        bcs_slot_take_away(&mine);
        enter(&slot, n_processes);
        if (write(ends[1], &slot.own.number, sizeof(uint32_t)) < 0) {
            _exit(1);
        }
        for (;;) {
            pause();
        }
    }
    ck_assert_int_eq(read(ends[0], number_out, sizeof(*number_out)),
                     sizeof(*number_out));
    close(ends[0]);
    close(ends[1]);
    return child;
}

static uint32_t n_processes_at(uint32_t number)
{
    return atomic_load(&mine.own.jobs->slots[number].n_processes);
}

START_TEST(jobs_find_each_other_until_one_is_killed)
{
    const cpu_set_t all = cpus();
    uint32_t number;
    pid_t job = start_job(7, &number);

    ck_assert_uint_ne(number, mine.own.number);
    ck_assert_uint_eq(n_processes_at(number), 7);
    ck_assert_uint_ge(bcs_jobs_n_beside(&mine.own), 7);
    ck_assert(has_sign(job));
    kill(job, SIGKILL);
    waitpid(job, NULL, 0);
    ck_assert(!has_sign(job));
    bcs_slot_enter(&mine, &all, 3);
    ck_assert_uint_ne(n_processes_at(number), 7);
}
END_TEST

START_TEST(the_others_of_a_job_share_its_seat)
{
    const struct bcs_slot_handle handle = bcs_slot_handle(&mine);
    int n_files = count_files();
    struct bcs_session_slot shared;

    bcs_slot_share(&shared, &handle);
    ck_assert_int_eq(count_files(), n_files);
    ck_assert_uint_eq(shared.own.number, mine.own.number);
    bcs_jobs_tell(&shared.own, 2);
    ck_assert_uint_eq(atomic_load(&mine.own.jobs->slots[mine.own.number].n_asleep), 2);
    bcs_slot_leave(&shared);
    ck_assert_uint_eq(n_processes_at(mine.own.number), 3);
}
END_TEST

START_TEST(without_a_seat_there_is_none_to_share)
{
    struct bcs_session_slot none = {0}, shared;
    const struct bcs_slot_handle handle = bcs_slot_handle(&none);

    bcs_slot_share(&shared, &handle);
    ck_assert_ptr_null(shared.own.jobs);
    bcs_slot_leave(&shared);
    bcs_slot_leave(&none);
}
END_TEST

START_TEST(who_leaves_keeps_nothing)
{
    int n_files = count_files();
    struct bcs_session_slot slot;
    uint32_t number;

    enter(&slot, 2);
    number = slot.own.number;
    ck_assert_int_gt(count_files(), n_files);
    bcs_slot_leave(&slot);
    ck_assert_int_eq(count_files(), n_files);
    ck_assert_uint_ne(n_processes_at(number), 2);
    bcs_slot_leave(&slot);
}
END_TEST

START_TEST(a_forked_child_leaves_the_seat_alone)
{
    int n_files = count_files(), status;
    pid_t child = fork();

    if (child == 0) {
        bcs_slot_take_away(&mine);
        memset(mine.own.jobs, 0, sizeof(*mine.own.jobs));
        _exit(count_files() == n_files - 2 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(n_processes_at(mine.own.number), 3);
    ck_assert(has_sign(getpid()));
}
END_TEST

/** Hold an abstract name. */
static int hold(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t n_bytes =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path + 1, name, strlen(name));
    while (bind(fd, (const struct sockaddr *)&address, n_bytes) < 0) {
        ck_assert_int_eq(errno, EADDRINUSE); /* another job begins */
        usleep(100);
    }
    return fd;
}

/* In a process that others do not disturb: the segment is that of a job still. */
START_TEST(signs_that_lead_nowhere_are_passed_by)
{
    static const char *const places[] = {".1.99999999", ".x.1",  ".1",
                                         ".-1.-1",      ".%d.0", ".%d.77 "};
    struct bcs_session_slot slot;
    struct stat one, other;
    char name[64], place[32];
    int fds[6];

    for (int i = 0; i < 6; i++) {
        snprintf(place, sizeof(place), "%s", places[i]);
        if (places[i][1] == '%') {
            snprintf(place, sizeof(place), ".%d%s", (int)getpid(), places[i] + 3);
        }
        snprintf(name, sizeof(name), "bcs-jobs-1.%u%s", (unsigned)geteuid(), place);
        fds[i] = hold(name);
    }
    enter(&slot, 2);
    ck_assert_int_eq(fstat(mine.segment.fd, &one), 0);
    ck_assert_int_eq(fstat(slot.segment.fd, &other), 0);
    ck_assert_uint_eq(one.st_ino, other.st_ino);
    bcs_slot_leave(&slot);
    for (int i = 0; i < 6; i++) {
        close(fds[i]);
    }
}
END_TEST

START_TEST(who_cannot_look_goes_without)
{
    uint64_t n_said = bcs_notice_count(BCS_NOTICE_NO_SLOT);
    struct bcs_session_slot slot;
    char name[64];
    int fd;

    snprintf(name, sizeof(name), "bcs-jobs-1.%u.lock", (unsigned)geteuid());
    fd = hold(name);
    bcs_slot_find(&slot);
    close(fd);
    ck_assert_ptr_null(slot.own.jobs);
    ck_assert_uint_eq(bcs_notice_count(BCS_NOTICE_NO_SLOT), n_said + 1);
    ck_assert_uint_eq(bcs_slot_handle(&slot).segment.pid, 0);
    bcs_slot_leave(&slot);
}
END_TEST

enum { N_AT_ONCE = 12 };

/** The slot and the segment of one of those who begin at once. */
struct begun {
    uint64_t inode;
    uint32_t number;
};

/** Begin a job when `gate` is closed, tell it by `ends`, and stay. */
static void begin_at(int gate, int ends)
{
    struct bcs_session_slot slot;
    struct stat status;
    struct begun begun;
    char byte;

    if (read(gate, &byte, 1) != 0) {
        _exit(1);
    }
    bcs_slot_find(&slot);
    if (slot.own.jobs == NULL || fstat(slot.segment.fd, &status) < 0) {
        _exit(1);
    }
    begun = (struct begun){status.st_ino, slot.own.number};
    if (write(ends, &begun, sizeof(begun)) != sizeof(begun)) {
        _exit(1);
    }
    for (;;) {
        pause();
    }
}

/* Where no job is yet: in a network namespace of its own. */
START_TEST(those_who_begin_at_once_make_one_segment)
{
    int gate[2], ends[2];
    pid_t children[N_AT_ONCE];
    struct begun first = {0}, begun;
    uint64_t numbers = 0;

    if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0) {
        printf("Skipped: begin at once, which needs a network namespace.\n");
        return;
    }
    ck_assert_int_eq(pipe(gate), 0);
    ck_assert_int_eq(pipe(ends), 0);
    for (int i = 0; i < N_AT_ONCE; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            bcs_slot_take_away(&mine);
            close(gate[1]);
            begin_at(gate[0], ends[1]);
        }
    }
    close(gate[1]);
    close(ends[1]);
    for (int i = 0; i < N_AT_ONCE; i++) {
        ck_assert_int_eq(read(ends[0], &begun, sizeof(begun)), sizeof(begun));
        first = i == 0 ? begun : first;
        ck_assert_uint_eq(begun.inode, first.inode);
        ck_assert_uint_eq(numbers >> begun.number & 1, 0);
        numbers |= UINT64_C(1) << begun.number;
    }
    for (int i = 0; i < N_AT_ONCE; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    close(gate[0]);
    close(ends[0]);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("job_slot");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, jobs_find_each_other_until_one_is_killed);
    tcase_add_test(tcase, the_others_of_a_job_share_its_seat);
    tcase_add_test(tcase, without_a_seat_there_is_none_to_share);
    tcase_add_test(tcase, who_leaves_keeps_nothing);
    tcase_add_test(tcase, a_forked_child_leaves_the_seat_alone);
    tcase_add_test(tcase, signs_that_lead_nowhere_are_passed_by);
    tcase_add_test(tcase, those_who_begin_at_once_make_one_segment);
    tcase_add_test(tcase, who_cannot_look_goes_without);
    return run_tcase("job_slot", tcase);
}
