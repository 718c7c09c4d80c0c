/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a process lives: by a descriptor of it, which can be read when it has ended,
 * or by what the kernel says of it in /proc. Its files: by /proc.
 */
#include "libbcs/fabric/base/process.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libbcs/fabric/base/kernel_stat.h"

enum { LINE_BYTES = 4200 };

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

void bcs_process_file(int64_t pid, uint64_t address, char *path_out, size_t n_bytes)
{
    char name[64], line[LINE_BYTES], path[LINE_BYTES];
    uint64_t begin, end;
    FILE *maps;

    path_out[0] = '\0';
    snprintf(name, sizeof(name), "/proc/%" PRId64 "/maps", pid);
    maps = fopen(name, "re");
    while (maps != NULL && path_out[0] == '\0' &&
           fgets(line, sizeof(line), maps) != NULL) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %4096[^\n]", &begin,
                   &end, path) == 3 &&
            address >= begin && address < end) {
            snprintf(path_out, n_bytes, "%s", path);
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
}
