/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the referee does to the ranks of a machine: it reminds them to tell where they
 * stand, and asks them. Called by the referee, or by the machine's witness (witness.c),
 * with an engine of its own.
 */
#ifndef NIC_THREADS_REFEREE_NEAR_RANKS_H
#define NIC_THREADS_REFEREE_NEAR_RANKS_H

#include "nic_threads/referee/snapshot.h"

/**
 * Wake those who sleep since the last time and have not told all.
 *
 * @param snapshot     of now
 * @param parks        [ranks of the job] of the last time; those of now are left there
 * @param n_woken_out  how many that were
 * @return how many there are, with those that have just gone to sleep
 */
uint32_t nic_ranks_remind(const struct nic_engine *engine,
                          const struct nic_snapshot *snapshot, uint32_t *parks,
                          uint32_t *n_woken_out);

/** Ask all of these ranks, bits, that are on this machine. @param asked  what they are
 *  to answer */
void nic_ranks_ask(const struct nic_engine *engine, const uint64_t *ranks,
                   uint64_t asked);

#endif
