/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copying between this process's memory and that of another process of the machine, by
 * the kernel (process_vm_readv, process_vm_writev): the only place that does. Who may
 * be copied, what is done if it is refused, and who is told, is the callers' business.
 * Any thread.
 */
#ifndef LIBBCS_FABRIC_COPY_PROCESS_COPY_H
#define LIBBCS_FABRIC_COPY_PROCESS_COPY_H

#include <stdint.h>
#include <sys/types.h>

/** Let the other processes of this user copy this one's memory, where the kernel asks
 *  for that (Yama). */
void bcs_copy_permit(void);

/**
 * Copy n_bytes from another process, by as many system calls as it takes.
 *
 * @param n_done_out  how many were copied, also if it has failed
 * @return 0
 * @return -ESRCH   that process has ended
 * @return -EFAULT  the kernel cannot use the next byte, here or there
 * @return <0       -errno, most often -EPERM: it is refused
 */
int bcs_copy_read(pid_t pid, uint64_t address, void *to, uint64_t n_bytes,
                  uint64_t *n_done_out);

/** Copy n_bytes to another process; all else as bcs_copy_read. */
int bcs_copy_write(pid_t pid, uint64_t address, const void *from, uint64_t n_bytes,
                   uint64_t *n_done_out);

#endif
