/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a process lives: by a descriptor of it, which can be read when it has ended.
 */
#include "libbcs/fabric/base/process.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

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
