/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which holders of a node's lock are dead: the lock of one who is gone, or waits to be
 * buried, is never free again; that of one who lives, be it stopped, is waited for.
 */
#include "libbcs/fabric/transport/shm/node_lock.h"

#include "libbcs/fabric/base/process.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/run_suite.h"

static struct shm_node_lock lock;

/** A child that has taken the lock, and ends, or sleeps for ever. */
static pid_t take_in_child(bool ends, uint64_t *owner_out)
{
    int names[2];
    pid_t child;

    ck_assert_int_eq(pipe(names), 0);
    child = fork();
    if (child == 0) {
        uint64_t self = bcs_process_word();

        if (write(names[1], &self, sizeof(self)) != sizeof(self)) {
            _exit(EXIT_FAILURE);
        }
        while (!ends) {
            pause();
        }
        _exit(EXIT_SUCCESS);
    }
    ck_assert_int_eq(read(names[0], owner_out, sizeof(*owner_out)), sizeof(*owner_out));
    lock.owner = *owner_out;
    return child;
}

static void expect_broken(bool is_broken)
{
    ck_assert(shm_node_lock_is_broken(&lock, 0) == is_broken);
    ck_assert(shm_node_lock_is_marked(&lock) == is_broken);
}

START_TEST(one_who_lives_is_waited_for)
{
    uint64_t self = bcs_process_word();

    expect_broken(false); /* it is free */
    ck_assert_int_eq(shm_node_lock_acquire(&lock, self, 0), 0);
    ck_assert_uint_eq(lock.owner, self);
    expect_broken(false);
    shm_node_lock_release(&lock);
    ck_assert_uint_eq(lock.owner, 0);
}
END_TEST

START_TEST(one_who_is_stopped_is_waited_for)
{
    uint64_t owner;
    pid_t child = take_in_child(false, &owner);

    ck_assert_int_eq(kill(child, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(child, NULL, WUNTRACED), child);
    expect_broken(false);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    expect_broken(true);
}
END_TEST

START_TEST(one_who_is_not_buried_is_dead)
{
    siginfo_t end;
    uint64_t owner;
    pid_t child = take_in_child(true, &owner);

    ck_assert_int_eq(waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT), 0);
    expect_broken(true);
    expect_broken(true); /* and stays so */
    ck_assert_int_eq(shm_node_lock_acquire(&lock, bcs_process_word(), 0), -EOWNERDEAD);
    waitpid(child, NULL, 0);
}
END_TEST

START_TEST(a_later_process_of_the_same_number_is_another_one)
{
    lock.owner = bcs_process_word() + (UINT64_C(1) << 32); /* began at another time */
    expect_broken(true);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("node_lock");

    tcase_add_test(tcase, one_who_lives_is_waited_for);
    tcase_add_test(tcase, one_who_is_stopped_is_waited_for);
    tcase_add_test(tcase, one_who_is_not_buried_is_dead);
    tcase_add_test(tcase, a_later_process_of_the_same_number_is_another_one);
    return run_tcase("node_lock", tcase);
}
