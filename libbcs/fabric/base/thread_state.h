/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What another thread of this process does, by the kernel: whether it runs, or sleeps,
 * and who could end its sleep. Any thread.
 */
#ifndef LIBBCS_FABRIC_BASE_THREAD_STATE_H
#define LIBBCS_FABRIC_BASE_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum { BCS_THREAD_NAME_BYTES = 16 };

/** Who can let a thread go on. */
enum bcs_thread_kind {
    BCS_THREAD_RUNS,   /* nobody need, or it is not known */
    BCS_THREAD_SLEEPS, /* it sleeps in a system call that time or others may end */
    /* It sleeps in a private futex, without a time limit: only a thread of its own
     * process can wake it, or a signal. */
    BCS_THREAD_SLEEPS_FOR_OWN
};

/** A thread, as it was when it was looked at. */
struct bcs_thread_state {
    enum bcs_thread_kind kind;
    int32_t call;        /* system call in which it sleeps, */
    uint64_t address;    /* and its first argument */
    uint64_t n_switches; /* how often it has been taken off a core */
    char name[BCS_THREAD_NAME_BYTES];
};

/**
 * Read a line of /proc/PID/task/TID/syscall: "running", or the number of the system
 * call and its arguments.
 *
 * @param state_out  kind, and, if the thread sleeps, call and address are set
 */
void bcs_thread_parse_call(const char *line, struct bcs_thread_state *state_out);

/** Read name and switches of /proc/PID/task/TID/status. @return whether both are
 *  there */
bool bcs_thread_parse_status(const char *text, struct bcs_thread_state *state_out);

/**
 * Look at a thread of this process: in which system call it sleeps, and then how many
 * switches it has. If it has as many at a later look, at which it sleeps, it has slept
 * between the two looks: to fall asleep is a switch.
 *
 * @param id  as gettid has it
 * @return whether there is such a thread
 */
bool bcs_thread_look(int32_t id, struct bcs_thread_state *state_out);

/** The name of a system call in which threads often sleep; NULL: of none of those. */
const char *bcs_thread_call_name(int32_t call);

#endif
