/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways for a process to lose the right to copy other processes' memory, or to have its
 * own copied by them; for test programs, which end themselves if one is not possible.
 */
#ifndef TESTS_SYSTEM_LOSE_RIGHTS_H
#define TESTS_SYSTEM_LOSE_RIGHTS_H

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void rights_must(int rc, const char *what)
{
    if (rc != 0) {
        perror(what);
        exit(EXIT_FAILURE);
    }
}

/** To be called first: with this capability root may copy whatever happens. */
static inline void rights_begin(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    rights_must((int)syscall(SYS_capget, &header, data), "capget");
    data[0].effective &= ~(UINT32_C(1) << CAP_SYS_PTRACE);
    data[0].permitted &= ~(UINT32_C(1) << CAP_SYS_PTRACE);
    rights_must((int)syscall(SYS_capset, &header, data), "capset");
}

/** Have all threads of this process be refused both system calls. */
static inline void rights_filter(void)
{
    enum { N_CODE = 5 };
    struct sock_filter code[N_CODE] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {N_CODE, code};

    rights_must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
    rights_must((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                             SECCOMP_FILTER_FLAG_TSYNC, &program),
                "seccomp");
}

/** Lose rights, each process in another round and way: 1 makes itself undumpable, 2
 *  installs a filter, 3 changes its user, which root only can, and in round 4 process 0
 *  installs one. */
static inline void rights_lose(int process, int round)
{
    enum { NOBODY = 65534 };

    if (round != (process == 0 ? 4 : process)) {
        return;
    }
    if (process == 1) {
        rights_must(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable");
    } else if (process == 0 || process == 2) {
        rights_filter();
    } else if (process == 3 && geteuid() == 0) {
        rights_must(setuid(NOBODY), "setuid");
    } else if (process == 3) {
        fprintf(stderr, "process 3: skipped: only root can change its user\n");
    }
}

enum { RIGHTS_ROUNDS = 5 };

#endif
