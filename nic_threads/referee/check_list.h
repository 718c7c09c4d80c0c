/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Desk checks that other machines are to make: gathered, asked all together, and looked
 * up. Each is kept once. Used by the referee's thread.
 */
#ifndef NIC_THREADS_REFEREE_CHECK_LIST_H
#define NIC_THREADS_REFEREE_CHECK_LIST_H

#include <stddef.h>

#include "nic_threads/referee/desk_check.h"

/** A check, and what has come of it. */
struct nic_check_entry {
    struct nic_desk_check check;
    bool holds;
};

/** All zero is empty. */
struct nic_check_list {
    struct nic_check_entry *entries; /* by check, once the list is settled */
    size_t n, n_room;
    bool has_lost; /* one found no memory: nothing holds */
};

/** Add a check. */
void nic_check_list_add(struct nic_check_list *list,
                        const struct nic_desk_check *check);

/** Bring the list into order. Then the entries may be given what has come of them. */
void nic_check_list_settle(struct nic_check_list *list);

/** Whether a check is in the settled list and holds. */
bool nic_check_list_holds(const struct nic_check_list *list,
                          const struct nic_desk_check *check);

/** Empty the list, and keep its memory. */
void nic_check_list_clear(struct nic_check_list *list);

/** Free its memory. */
void nic_check_list_fini(struct nic_check_list *list);

#endif
