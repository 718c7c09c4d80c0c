/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a file of this process may be: the system ends a process that writes beyond
 * (SIGXFSZ), which is not for the MDS to bring about.
 */
#ifndef MDS_FILE_LIMIT_H
#define MDS_FILE_LIMIT_H

#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>

/** @return 0: a file may have so many bytes; -EFBIG */
static inline int mds_file_limit(uint64_t n_bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
                   n_bytes > limit.rlim_cur
               ? -EFBIG
               : 0;
}

#endif
