/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching lists: buckets by context and source, one list for receives of any source,
 * and one list of all sends in arrival order for those receives to search. Pure; called
 * under the node's engine lock, but for nic_match_find_send.
 *
 * Links that lead to a send are stored with release, once the send is complete, and read with
 * acquire: whoever walks a list that only grows needs no lock. A send stands in two lists, one
 * after the other; n_arrived counts it once it stands in both, and what is not counted is not
 * found. So what has been found in one list is found in the other, too.
 */
#include "nic_threads/rules/match.h"

#include <stdbool.h>
#include <stddef.h>

static uint32_t bucket_of(uint64_t context_id, int32_t source)
{
    uint64_t key = (context_id ^ (context_id >> 20)) + (uint32_t)source;

    return (uint32_t)(key + (key >> 4)) % NIC_MATCH_BUCKETS;
}

static bool accepts(const struct bcs_descriptor *receive,
                    const struct bcs_descriptor *send)
{
    return receive->context_id == send->context_id &&
           (receive->source < 0 || receive->source == send->source) &&
           (receive->tag < 0 || receive->tag == send->tag);
}

/** Lead a link to an item. release: pairs with link_get */
static void link_set(uint32_t *link, uint32_t id)
{
    __atomic_store_n(link, id, __ATOMIC_RELEASE);
}

/** Where a link leads. acquire: pairs with link_set */
static uint32_t link_get(const uint32_t *link)
{
    return __atomic_load_n(link, __ATOMIC_ACQUIRE);
}

static void list_append(struct nic_list *list, struct nic_item *items, uint32_t id)
{
    items[id].next = NIC_ITEM_NONE;
    items[id].previous = list->last;
    link_set(list->last == NIC_ITEM_NONE ? &list->first : &items[list->last].next, id);
    list->last = id;
}

static void list_remove(struct nic_list *list, struct nic_item *items, uint32_t id)
{
    const struct nic_item *item = &items[id];

    link_set(item->previous == NIC_ITEM_NONE ? &list->first
                                             : &items[item->previous].next,
             item->next);
    if (item->next == NIC_ITEM_NONE) {
        list->last = item->previous;
    } else {
        items[item->next].previous = item->previous;
    }
}

static void arrivals_append(struct nic_match *match, struct nic_item *items,
                            uint32_t id)
{
    struct nic_list *list = &match->arrivals;

    items[id].later = NIC_ITEM_NONE;
    items[id].earlier = list->last;
    link_set(list->last == NIC_ITEM_NONE ? &list->first : &items[list->last].later, id);
    list->last = id;
}

static void arrivals_remove(struct nic_match *match, struct nic_item *items,
                            uint32_t id)
{
    const struct nic_item *item = &items[id];

    link_set(item->earlier == NIC_ITEM_NONE ? &match->arrivals.first
                                            : &items[item->earlier].later,
             item->later);
    if (item->later == NIC_ITEM_NONE) {
        match->arrivals.last = item->earlier;
    } else {
        items[item->later].earlier = item->earlier;
    }
}

static struct nic_list *receive_list(struct nic_match *match,
                                     const struct bcs_descriptor *receive)
{
    if (receive->source < 0) {
        return &match->wildcards;
    }
    return &match->receives[bucket_of(receive->context_id, receive->source)];
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
    match->n_arrived = 0;
    match->n_posted = 0;
    match->n_sends = 0;
    match->n_receives = 0;
}

void nic_match_add_send(struct nic_match *match, struct nic_item *items, uint32_t id)
{
    const struct bcs_descriptor *send = &items[id].descriptor;

    items[id].sequence = match->n_arrived;
    list_append(&match->sends[bucket_of(send->context_id, send->source)], items, id);
    arrivals_append(match, items, id);
    set_n_sends(match, match->n_sends + 1);
    /* release: pairs with the acquire in nic_match_find_send */
    __atomic_store_n(&match->n_arrived, match->n_arrived + 1, __ATOMIC_RELEASE);
}

void nic_match_add_receive(struct nic_match *match, struct nic_item *items, uint32_t id)
{
    items[id].sequence = match->n_posted++;
    list_append(receive_list(match, &items[id].descriptor), items, id);
    match->n_receives++;
}

uint32_t nic_match_find_send(const struct nic_match *match,
                             const struct nic_item *items,
                             const struct bcs_descriptor *receive)
{
    uint64_t n_arrived;
    uint32_t id;

    if (nic_match_n_sends(match) == 0) {
        return NIC_ITEM_NONE;
    }
    /* acquire: pairs with the release in nic_match_add_send */
    n_arrived = __atomic_load_n(&match->n_arrived, __ATOMIC_ACQUIRE);
    if (receive->source < 0) {
        id = link_get(&match->arrivals.first);
        while (id != NIC_ITEM_NONE && !accepts(receive, &items[id].descriptor)) {
            id = link_get(&items[id].later);
        }
    } else {
        id = link_get(
            &match->sends[bucket_of(receive->context_id, receive->source)].first);
        while (id != NIC_ITEM_NONE && !accepts(receive, &items[id].descriptor)) {
            id = link_get(&items[id].next);
        }
    }
    return id != NIC_ITEM_NONE && items[id].sequence < n_arrived ? id : NIC_ITEM_NONE;
}

static uint32_t first_accepting(uint32_t id, const struct nic_item *items,
                                const struct bcs_descriptor *send)
{
    while (id != NIC_ITEM_NONE && !accepts(&items[id].descriptor, send)) {
        id = items[id].next;
    }
    return id;
}

uint32_t nic_match_find_receive(const struct nic_match *match,
                                const struct nic_item *items,
                                const struct bcs_descriptor *send)
{
    uint32_t named, any;

    if (match->n_receives == 0) {
        return NIC_ITEM_NONE;
    }
    named = first_accepting(
        match->receives[bucket_of(send->context_id, send->source)].first, items, send);
    any = first_accepting(match->wildcards.first, items, send);
    if (named == NIC_ITEM_NONE || any == NIC_ITEM_NONE) {
        return named == NIC_ITEM_NONE ? any : named;
    }
    return items[named].sequence < items[any].sequence ? named : any;
}

static uint32_t first_with_cell(uint32_t id, const struct nic_item *items,
                                uint32_t cell)
{
    while (id != NIC_ITEM_NONE && items[id].descriptor.cell != cell) {
        id = items[id].next;
    }
    return id;
}

uint32_t nic_match_find_cell(const struct nic_match *match,
                             const struct nic_item *items, uint32_t cell)
{
    uint32_t id = first_with_cell(match->wildcards.first, items, cell);

    for (int i = 0; i < NIC_MATCH_BUCKETS && id == NIC_ITEM_NONE; i++) {
        id = first_with_cell(match->receives[i].first, items, cell);
    }
    return id;
}

void nic_match_remove_send(struct nic_match *match, struct nic_item *items, uint32_t id)
{
    const struct bcs_descriptor *send = &items[id].descriptor;

    list_remove(&match->sends[bucket_of(send->context_id, send->source)], items, id);
    arrivals_remove(match, items, id);
    set_n_sends(match, match->n_sends - 1);
}

void nic_match_remove_receive(struct nic_match *match, struct nic_item *items,
                              uint32_t id)
{
    list_remove(receive_list(match, &items[id].descriptor), items, id);
    match->n_receives--;
}
