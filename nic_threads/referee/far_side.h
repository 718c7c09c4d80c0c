/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other machines, as the referee has them: each has a witness (witness.c), which is
 * asked, and answers. A call asks one witness after the other, and returns when all
 * have answered, or one does not in time. So what a call finds is found after all calls
 * before it have ended. Used by the referee's thread, with its engine.
 */
#ifndef NIC_THREADS_REFEREE_FAR_SIDE_H
#define NIC_THREADS_REFEREE_FAR_SIDE_H

#include "nic_threads/referee/check_list.h"

/** NULL where all ranks are on this machine: then all calls do nothing, and succeed. */
struct nic_far_side;

/** Find the other machines. @return 0 or -ENOMEM; end with nic_far_side_destroy */
int nic_far_side_create(struct nic_engine *engine, struct nic_far_side **far_out);

/** Accepts NULL. */
void nic_far_side_destroy(struct nic_far_side *far);

/** What a look at other machines has found; nic_far_look adds to it. */
struct nic_far_found {
    uint64_t changes; /* as nic_snapshot_changes */
    uint32_t n_silent, n_woken;
};

/**
 * Look at the ranks of all other machines: what this machine has of their records is
 * true then.
 *
 * @param looks     bits, by enum nic_question_looks
 * @param found_out may be NULL
 * @return false: a witness has not answered
 */
bool nic_far_look(struct nic_far_side *far, uint32_t looks,
                  struct nic_far_found *found_out);

/** Ask all ranks of other machines that are suspected. @return as nic_far_look */
bool nic_far_ask(struct nic_far_side *far, const uint64_t *suspected, uint64_t asked);

/** nic_desks_have_sent of all other machines, for these ranks. */
bool nic_far_have_sent(struct nic_far_side *far, const uint64_t *suspected);

/** Find out what of a settled list holds, on the machines where it is seen. @return as
 *  nic_far_look */
bool nic_far_check(struct nic_far_side *far, struct nic_check_list *list);

/** nic_desk_unreceived of a rank of another machine. */
uint32_t nic_far_unreceived(struct nic_far_side *far, uint32_t rank, unsigned int kinds,
                            struct nic_unreceived *list_out, uint32_t n_most);

/** Have told which processes the ranks of other machines are, and the files that the
 *  calls are in that they wait in (struct bcs_far_stand). @return as nic_far_look */
bool nic_far_files(struct nic_far_side *far);

#endif
