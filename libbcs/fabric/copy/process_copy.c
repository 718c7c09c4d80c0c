/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One loop for both directions; see process_copy.h.
 */
#include "libbcs/fabric/copy/process_copy.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/uio.h>

typedef ssize_t (*vm_copy_fn)(pid_t, const struct iovec *, unsigned long,
                              const struct iovec *, unsigned long, unsigned long);

void bcs_copy_permit(void)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

static inline int copy(vm_copy_fn function, pid_t pid, const struct iovec *there,
                       const struct iovec *here, uint64_t *n_done_out)
{
    uint64_t n_done = 0;
    int rc = 0;

    while (n_done < here->iov_len) {
        struct iovec local = {(char *)here->iov_base + n_done, here->iov_len - n_done};
        struct iovec remote = {(char *)there->iov_base + n_done, local.iov_len};
        ssize_t n = function(pid, &local, 1, &remote, 1, 0);

        if (n <= 0) {
            rc = n < 0 ? -errno : -EFAULT;
            break;
        }
        n_done += (uint64_t)n;
    }
    *n_done_out = n_done;
    return rc;
}

int bcs_copy_read(pid_t pid, uint64_t address, void *to, uint64_t n_bytes,
                  uint64_t *n_done_out)
{
    const struct iovec there = {(void *)(uintptr_t)address, n_bytes}; // NOLINT
    const struct iovec here = {to, n_bytes};

    return copy(process_vm_readv, pid, &there, &here, n_done_out);
}

int bcs_copy_write(pid_t pid, uint64_t address, const void *from, uint64_t n_bytes,
                   uint64_t *n_done_out)
{
    const struct iovec there = {(void *)(uintptr_t)address, n_bytes}; // NOLINT
    const struct iovec here = {(void *)(uintptr_t)from, n_bytes};

    return copy(process_vm_writev, pid, &there, &here, n_done_out);
}
