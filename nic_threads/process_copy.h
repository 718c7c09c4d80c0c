/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copying between this process's memory and that of another process of the machine
 * (process_vm_readv, process_vm_writev). Called by the endpoints of long messages, and by
 * movers for both of them; any thread.
 *
 * If the other process has ended, nothing is copied, and the caller leaves the message as
 * it is, as if the data were still to come: the launcher names the process and ends the
 * job, and nobody computes with what has not arrived. If the memory is none that may be
 * used, its owner is ended, as it would have been if it had copied by itself.
 */
#ifndef NIC_THREADS_PROCESS_COPY_H
#define NIC_THREADS_PROCESS_COPY_H

#include "nic_threads/node.h"

/** A place in a process's memory. */
struct nic_place {
    uint32_t port; /* of the process, number in the job */
    uint64_t address;
};

/** Copy from a process to this one's memory. @return whether it has been done */
bool nic_process_read(const struct nic_engine *engine, const struct nic_place *from,
                      void *to, uint64_t n_bytes);

/** Copy from this process's memory to a process. @return whether it has been done */
bool nic_process_write(const struct nic_engine *engine, const struct nic_place *to,
                       const void *from, uint64_t n_bytes);

#endif
