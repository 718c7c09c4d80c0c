/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads /proc/PID/stat; see kernel_stat.h.
 */
#include "libbcs/fabric/base/kernel_stat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 64, TEXT_BYTES = 1024, N_FIELDS = 7 };

static bool read_file(const char *path, struct bcs_kernel_stat *stat_out)
{
    char text[TEXT_BYTES];
    const char *fields;
    ssize_t n_bytes;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return false;
    }
    n_bytes = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n_bytes <= 0) {
        return false;
    }
    text[n_bytes] = '\0';
    fields = strrchr(text, ')'); /* the name before it may hold anything */
    return fields != NULL &&
           sscanf(fields,
                  ") %c %" SCNd64 " %*d %*d %*d %*d %*u %*u %*u %*u %*u"
                  " %" SCNu64 " %" SCNu64 " %*d %*d %*d %*d %" SCNd64 " %*d %" SCNu64
                  " %*u %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d"
                  " %" SCNd32,
                  &stat_out->state, &stat_out->parent, &stat_out->user_time,
                  &stat_out->system_time, &stat_out->n_threads, &stat_out->start_time,
                  &stat_out->core) == N_FIELDS;
}

bool bcs_kernel_stat_process(int64_t pid, struct bcs_kernel_stat *stat_out)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
    return read_file(path, stat_out);
}

bool bcs_kernel_stat_thread(int64_t id, struct bcs_kernel_stat *stat_out)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof(path), "/proc/self/task/%" PRId64 "/stat", id);
    return read_file(path, stat_out);
}
