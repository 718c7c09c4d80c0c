/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One barrier for all; see barrier.h.
 */
#include "libbcs/fabric/base/barrier.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

int bcs_barrier_join(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) < 0
               ? -ENOSYS
               : 0;
}

void bcs_barrier_all(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}
