/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copying between this process's memory and that of another port's process
 * (libbcs/fabric/copy). Called by the endpoints of long messages, and by movers for
 * both of them; any thread.
 *
 * If the other process has ended, nothing is copied, and the caller leaves the message
 * as it is, as if the data were still to come: the launcher names the process and ends
 * the job, and nobody computes with what has not arrived.
 *
 * A process may also lose the right to copy, or to be copied, at any time: by setuid,
 * PR_SET_DUMPABLE, a seccomp filter. Then the copy is refused, and the caller has the
 * two processes move the data through NIC memory. What is refused once is noted in the
 * ports and not tried again: for the threads that copy for all, of one port; else,
 * between two ports, in both directions. The same is done if the kernel cannot use the
 * other's memory. If it is no memory that may be used at all, its owner finds out when
 * it copies by itself, and is ended as it would have been without us.
 */
#ifndef NIC_THREADS_MACHINE_NODE_COPY_H
#define NIC_THREADS_MACHINE_NODE_COPY_H

#include "nic_threads/node/node.h"
#include "nic_threads/node/views.h"

/** A place in a process's memory. */
struct nic_place {
    uint32_t port; /* of the process, number in the job */
    uint64_t address;
};

/** How a copy has ended. */
enum nic_outcome {
    NIC_DONE,
    NIC_GONE,    /* the other process has ended */
    NIC_REFUSED, /* noted, and said once; some of the bytes may have been copied */
};

/** Copy from a process to this one's memory. */
enum nic_outcome nic_process_read(const struct nic_engine *engine,
                                  const struct nic_place *from, void *to,
                                  uint64_t n_bytes);

/** Copy from this process's memory to a process. */
enum nic_outcome nic_process_write(const struct nic_engine *engine,
                                   const struct nic_place *to, const void *from,
                                   uint64_t n_bytes);

/** Whether the threads that copy for all have been refused at a port. Of a far port the
 *  threads of its machine find that out. */
static inline bool nic_port_is_closed(const struct nic_engine *engine, uint32_t port)
{
    return nic_engine_is_near(engine, nic_layout_node(&engine->layout, port)) &&
           atomic_load_explicit(&nic_engine_port(engine, port)->is_closed,
                                memory_order_relaxed) != 0;
}

/** Whether the processes of two ports are on one node and have been refused to copy
 *  each other's memory. */
bool nic_ports_are_apart(const struct nic_engine *engine, uint32_t port,
                         uint32_t other);

#endif
