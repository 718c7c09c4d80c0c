/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching lists: buckets by context and source, one list for receives of any source,
 * and one list of all sends in arrival order for those receives to search. Pure; called
 * under the desk's engine lock, but for nic_match_find_send and nic_match_hold.
 *
 * Links that lead to a send are stored with release, once the send is complete, and
 * read with acquire: whoever walks a list that only grows needs no lock. A send stands
 * in two lists, one after the other; n_arrived counts it once it stands in both, and
 * what is not counted is not found. So what has been found in one list is found in the
 * other, too.
 */
#include "nic_threads/rules/match.h"

#include <stdbool.h>
#include <stddef.h>

static void arrivals_append(struct nic_match *match, const struct nic_items *items,
                            struct nic_item *item, uint32_t id)
{
    struct nic_list *list = &match->arrivals;
    uint32_t last = list->last;

    item->later = NIC_ITEM_NONE;
    item->earlier = last;
    nic_list_lead(
        last == NIC_ITEM_NONE ? &list->first : &nic_item_at(items, last)->later, id);
    list->last = id;
}

static void arrivals_remove(struct nic_match *match, const struct nic_items *items,
                            const struct nic_item *item)
{
    uint32_t earlier = item->earlier, later = item->later;

    nic_list_lead(earlier == NIC_ITEM_NONE ? &match->arrivals.first
                                           : &nic_item_at(items, earlier)->later,
                  later);
    if (later == NIC_ITEM_NONE) {
        match->arrivals.last = earlier;
    } else {
        nic_item_at(items, later)->earlier = earlier;
    }
}

static void set_n_sends(struct nic_match *match, uint32_t n)
{
    __atomic_store_n(&match->n_sends, n, __ATOMIC_RELAXED); /* see nic_match_n_sends */
}

void nic_match_init(struct nic_match *match)
{
    const struct nic_list empty = {NIC_ITEM_NONE, NIC_ITEM_NONE};

    for (int i = 0; i < NIC_MATCH_BUCKETS; i++) {
        match->sends[i] = empty;
        match->receives[i] = empty;
    }
    match->arrivals = empty;
    match->wildcards = empty;
    match->taken = empty;
    atomic_init(&match->is_held, 0);
    match->n_arrived = 0;
    match->n_posted = 0;
    match->n_sends = 0;
    match->n_receives = 0;
}

void nic_match_add_send(struct nic_match *match, const struct nic_items *items,
                        uint32_t id)
{
    struct nic_item *item = nic_item_at(items, id);
    const struct bcs_descriptor *send = &item->descriptor;

    item->sequence = match->n_arrived;
    nic_list_append(&match->sends[nic_match_bucket(send->context_id, send->source)],
                    items, item, id);
    arrivals_append(match, items, item, id);
    set_n_sends(match, match->n_sends + 1);
    /* release: pairs with the acquire in nic_match_find_send */
    __atomic_store_n(&match->n_arrived, match->n_arrived + 1, __ATOMIC_RELEASE);
}

uint32_t nic_match_search_sends(const struct nic_match *match,
                                const struct nic_items *items,
                                const struct bcs_descriptor *receive)
{
    const struct nic_item *item = NULL;
    uint64_t n_arrived;
    uint32_t id;

    /* acquire: pairs with the release in nic_match_add_send */
    n_arrived = __atomic_load_n(&match->n_arrived, __ATOMIC_ACQUIRE);
    if (receive->source < 0) {
        id = nic_list_follow(&match->arrivals.first);
        while (
            id != NIC_ITEM_NONE &&
            !nic_match_accepts(receive, &(item = nic_item_at(items, id))->descriptor)) {
            id = nic_list_follow(&item->later);
        }
    } else {
        id = nic_list_follow(
            &match->sends[nic_match_bucket(receive->context_id, receive->source)]
                 .first);
        while (
            id != NIC_ITEM_NONE &&
            !nic_match_accepts(receive, &(item = nic_item_at(items, id))->descriptor)) {
            id = nic_list_follow(&item->next);
        }
    }
    return id != NIC_ITEM_NONE && item->sequence < n_arrived ? id : NIC_ITEM_NONE;
}

/** The first receive of a list from id on that accepts a send; *item_out is its
 *  item. */
static uint32_t first_accepting(uint32_t id, const struct nic_items *items,
                                const struct bcs_descriptor *send,
                                const struct nic_item **item_out)
{
    const struct nic_item *item = NULL;

    while (id != NIC_ITEM_NONE &&
           !nic_match_accepts(&(item = nic_item_at(items, id))->descriptor, send)) {
        id = item->next;
    }
    *item_out = item;
    return id;
}

uint32_t nic_match_search_receives(const struct nic_match *match,
                                   const struct nic_items *items,
                                   const struct bcs_descriptor *send)
{
    const struct nic_item *named_item, *any_item;
    uint32_t named, any;

    named = first_accepting(
        match->receives[nic_match_bucket(send->context_id, send->source)].first, items,
        send, &named_item);
    any = first_accepting(match->wildcards.first, items, send, &any_item);
    if (named == NIC_ITEM_NONE || any == NIC_ITEM_NONE) {
        return named == NIC_ITEM_NONE ? any : named;
    }
    return named_item->sequence < any_item->sequence ? named : any;
}

static uint32_t first_with_cell(uint32_t id, const struct nic_items *items,
                                uint32_t cell)
{
    const struct nic_item *item;

    while (id != NIC_ITEM_NONE &&
           (item = nic_item_at(items, id))->descriptor.cell != cell) {
        id = item->next;
    }
    return id;
}

uint32_t nic_match_find_cell(const struct nic_match *match,
                             const struct nic_items *items, uint32_t cell)
{
    uint32_t id = first_with_cell(match->wildcards.first, items, cell);

    for (int i = 0; i < NIC_MATCH_BUCKETS && id == NIC_ITEM_NONE; i++) {
        id = first_with_cell(match->receives[i].first, items, cell);
    }
    return id;
}

void nic_match_remove_send(struct nic_match *match, const struct nic_items *items,
                           uint32_t id)
{
    const struct nic_item *item = nic_item_at(items, id);
    const struct bcs_descriptor *send = &item->descriptor;

    nic_list_remove(&match->sends[nic_match_bucket(send->context_id, send->source)],
                    items, item);
    arrivals_remove(match, items, item);
    set_n_sends(match, match->n_sends - 1);
}

void nic_match_take(struct nic_match *match, const struct nic_items *items, uint32_t id)
{
    nic_list_append(&match->taken, items, nic_item_at(items, id), id);
}

void nic_match_yield(struct nic_match *match, const struct nic_items *items,
                     uint32_t id)
{
    nic_list_remove(&match->taken, items, nic_item_at(items, id));
}
