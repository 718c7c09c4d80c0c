/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copying between the user memory of any two processes of a machine, for threads that
 * serve all of them: the background thread, and the DMA helper where the engine has
 * threads of its own. Each thread has a mover of its own.
 */
#ifndef NIC_THREADS_MACHINE_MOVER_H
#define NIC_THREADS_MACHINE_MOVER_H

#include "nic_threads/machine/node_copy.h"

enum { NIC_MOVER_BUFFER_BYTES = 256 << 10 };

struct nic_mover;

/**
 * Make a mover for the job that an engine is of.
 *
 * @param engine  must outlive the mover
 * @return 0 or -ENOMEM; free with nic_mover_destroy
 */
int nic_mover_create(const struct nic_engine *engine, struct nic_mover **mover_out);

/** Free a mover. Accepts NULL. */
void nic_mover_destroy(struct nic_mover *mover);

/** Copy from one process to another, through the mover's buffer if neither is this
 *  one. */
enum nic_outcome nic_mover_copy(struct nic_mover *mover, const struct nic_place *from,
                                const struct nic_place *to, uint64_t n_bytes);

/**
 * Copy from a process into the mover's buffer.
 *
 * @param n_bytes   up to NIC_MOVER_BUFFER_BYTES
 * @param data_out  the data, until the next call; the mover's
 */
enum nic_outcome nic_mover_read(struct nic_mover *mover, const struct nic_place *from,
                                uint64_t n_bytes, const void **data_out);

/** Copy into a process's memory. */
enum nic_outcome nic_mover_write(struct nic_mover *mover, const void *data,
                                 const struct nic_place *to, uint64_t n_bytes);

#endif
