/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a process lives: by a descriptor of it, which can be read when it has ended,
 * or by what the kernel says of it in /proc.
 */
#include "libbcs/fabric/base/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libbcs/fabric/base/kernel_stat.h"

bool bcs_process_has_ended(uint64_t pid)
{
    struct pollfd end = {.events = POLLIN};
    bool has_ended;

    end.fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    if (end.fd < 0) {
        return errno == ESRCH;
    }
    has_ended = poll(&end, 1, 0) == 1;
    close(end.fd);
    return has_ended;
}

uint64_t bcs_process_word(void)
{
    struct bcs_kernel_stat self;

    /* Without /proc the start time is 0 for all, and only the pid tells. */
    if (!bcs_kernel_stat_process(getpid(), &self)) {
        self.start_time = 0;
    }
    return self.start_time << 32 | (uint32_t)getpid();
}

bool bcs_process_word_has_ended(uint64_t word)
{
    pid_t pid = (pid_t)(uint32_t)word;
    uint32_t start_time = (uint32_t)(word >> 32);
    struct bcs_kernel_stat stat;

    if (kill(pid, 0) < 0 && errno == ESRCH) {
        return true;
    }
    if (!bcs_kernel_stat_process(pid, &stat)) {
        return false;
    }
    if (start_time != 0 && (uint32_t)stat.start_time != start_time) {
        return true;
    }
    return (stat.state == 'Z' || stat.state == 'X') && stat.n_threads <= 1;
}
