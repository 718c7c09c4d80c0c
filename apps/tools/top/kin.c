/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads who has started whom; see kin.h.
 */
#include "kin.h"

#include "libbcs/fabric/base/kernel_stat.h"

enum { MOST_STEPS = 1000 };

/** @return the parent, 0: there is none, or it cannot be known */
static int64_t parent_of(int64_t pid)
{
    struct bcs_kernel_stat stat;

    return bcs_kernel_stat_process(pid, &stat) ? stat.parent : 0;
}

bool kin_is_below(int64_t pid, int64_t ancestor)
{
    for (int i = 0; i < MOST_STEPS && pid > 0; i++) {
        if (pid == ancestor) {
            return true;
        }
        pid = parent_of(pid);
    }
    return false;
}
