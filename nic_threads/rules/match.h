/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching of sends with receives for one port: pure code over items that are named by
 * number, so that it works in shared memory and in a unit test alike. Used by the
 * buffer receiver under the desk's engine lock.
 *
 * Invariant: no send in a queue matches a receive in it. A receive takes the oldest
 * send that matches it, a send the oldest receive; that is MPI's non-overtaking rule.
 */
#ifndef NIC_THREADS_RULES_MATCH_H
#define NIC_THREADS_RULES_MATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libbcs/fabric/ring/descriptor.h"
#include "libbcs/fabric/ring/region.h"

#define NIC_ITEM_NONE UINT32_MAX

/** A descriptor that has to stay beyond its slice, and what the engine keeps of it. */
struct nic_item {
    _Alignas(BCS_CACHE_LINE) struct bcs_descriptor descriptor;
    uint32_t port; /* who posted it, number in the job */
    uint32_t next; /* in its bucket, schedule, slot or free list */
    uint32_t previous;
    uint32_t later; /* sends: in arrival order of the destination port */
    uint32_t earlier;
    uint16_t is_local;  /* transfers: both ends are on this node */
    uint16_t is_shared; /* transfers: the sender waits for this one */
    uint64_t sequence;  /* sends: order of arrival; receives: of posting */
    /* Transfers, whose descriptor is the receive's: */
    uint64_t total;       /* bytes to move */
    uint64_t granted;     /* bytes that slices have taken so far */
    uint64_t chunk_limit; /* largest piece of a chunk */
    uint64_t chunk_left;  /* of its chunk of the slice chunk_slice */
    uint64_t chunk_slice;
    uint32_t peer; /* port of the sender */
    uint32_t peer_cell;
    uint64_t peer_address; /* the sender's buffer, or its eager block */
    uint64_t stored;       /* bytes that the receiver has taken out of blocks */
    uint64_t loaded_block; /* queue of chunks that wait for the receiver: first, or 0 */
    uint64_t loaded_last;
    uint8_t is_block;            /* the sender's data are in an eager block */
    uint8_t is_loading;          /* a grant is on its way */
    uint8_t is_storing;          /* the receiver has a chunk to copy */
    uint8_t is_queued;           /* waits in the schedule */
    uint8_t is_open;             /* the endpoints have been told to copy */
    uint8_t is_loaded_by_sender; /* nobody else can read its memory; may be found out */
    uint8_t is_stored_by_receiver; /* nobody else can write its memory; the same */
    uint8_t both_stay; /* both processes do, in their calls, until it is done */
};

/** Whether a transfer goes on only when the process at one of its ends takes part. */
static inline bool nic_item_needs_ends(const struct nic_item *item)
{
    return item->is_loaded_by_sender || item->is_stored_by_receiver;
}

_Static_assert(sizeof(struct nic_item) == 4 * BCS_CACHE_LINE, "its number is shifted");

/** The items of a node, by number; where there are all of them in one piece, region and
 *  core are not used. */
struct nic_items {
    struct nic_item *first; /* the first n_first of them */
    uint32_t n_first;
    struct nic_region region;
    struct bcs_core *core;
};

static inline struct nic_item *nic_item_at(const struct nic_items *items, uint32_t id)
{
    return __builtin_expect(id < items->n_first, 1)
               ? &items->first[id]
               : nic_region_at(&items->region, items->core, id);
}

enum { NIC_MATCH_BUCKETS = 16 };

/** Oldest and newest item of a list. */
struct nic_list {
    uint32_t first;
    uint32_t last;
};

/** Pending sends to, and receives of, one port. */
struct nic_match {
    struct nic_list sends[NIC_MATCH_BUCKETS];    /* by context and source */
    struct nic_list receives[NIC_MATCH_BUCKETS]; /* with a named source */
    struct nic_list arrivals;                    /* all sends, oldest first */
    struct nic_list wildcards;                   /* receives of any source */
    uint64_t n_arrived; /* sends ever queued; those before are in both of their lists */
    uint64_t n_posted;  /* receives ever queued */
    uint32_t n_sends, n_receives;
    /* What matched probes have taken and no receive has got yet: sends that stand in no
     * other list. */
    struct nic_list taken;
    /* While somebody holds it, no send is taken back: see nic_match_hold. */
    _Atomic uint32_t is_held;
};

/** Where sends of a source in a context are looked for, and receives that name it. */
static inline uint32_t nic_match_bucket(uint64_t context_id, int32_t source)
{
    uint64_t key = (context_id ^ (context_id >> 20)) + (uint32_t)source;

    return (uint32_t)(key + (key >> 4)) % NIC_MATCH_BUCKETS;
}

/** Whether a receive, or probe, and a send go together. */
static inline bool nic_match_accepts(const struct bcs_descriptor *receive,
                                     const struct bcs_descriptor *send)
{
    return receive->context_id == send->context_id &&
           (receive->source < 0 || receive->source == send->source) &&
           (receive->tag < 0 || receive->tag == send->tag);
}

/** Lead a link of a list to an item. release: pairs with nic_list_follow */
static inline void nic_list_lead(uint32_t *link, uint32_t id)
{
    __atomic_store_n(link, id, __ATOMIC_RELEASE);
}

/** Where a link leads. acquire: pairs with nic_list_lead */
static inline uint32_t nic_list_follow(const uint32_t *link)
{
    return __atomic_load_n(link, __ATOMIC_ACQUIRE);
}

/** Put an item, number id, at the end of its bucket. */
static inline void nic_list_append(struct nic_list *list, const struct nic_items *items,
                                   struct nic_item *item, uint32_t id)
{
    uint32_t last = list->last;

    item->next = NIC_ITEM_NONE;
    item->previous = last;
    nic_list_lead(
        last == NIC_ITEM_NONE ? &list->first : &nic_item_at(items, last)->next, id);
    list->last = id;
}

/** Take an item out of its bucket. */
static inline void nic_list_remove(struct nic_list *list, const struct nic_items *items,
                                   const struct nic_item *item)
{
    uint32_t previous = item->previous, next = item->next;

    nic_list_lead(previous == NIC_ITEM_NONE ? &list->first
                                            : &nic_item_at(items, previous)->next,
                  next);
    if (next == NIC_ITEM_NONE) {
        list->last = previous;
    } else {
        nic_item_at(items, next)->previous = previous;
    }
}

/** Where a receive, or probe, waits. */
static inline struct nic_list *nic_match_receives(struct nic_match *match,
                                                  const struct bcs_descriptor *receive)
{
    if (receive->source < 0) {
        return &match->wildcards;
    }
    return &match->receives[nic_match_bucket(receive->context_id, receive->source)];
}

/** Make an empty queue. */
void nic_match_init(struct nic_match *match);

/** How many sends are queued; also read without the lock. */
static inline uint32_t nic_match_n_sends(const struct nic_match *match)
{
    return __atomic_load_n(&match->n_sends, __ATOMIC_RELAXED);
}

/**
 * Hold the queue: by its owner while it looks without the desk's lock, and by who takes
 * a send back, with that lock. Each does so for some steps that wait for nobody.
 *
 * @return false: it is held
 */
static inline bool nic_match_hold(struct nic_match *match)
{
    /* acquire: pairs with nic_match_let_go */
    return atomic_exchange_explicit(&match->is_held, 1, memory_order_acquire) == 0;
}

/** release: pairs with nic_match_hold */
static inline void nic_match_let_go(struct nic_match *match)
{
    atomic_store_explicit(&match->is_held, 0, memory_order_release);
}

/** Put a send that found no receive at the end of the queue. */
void nic_match_add_send(struct nic_match *match, const struct nic_items *items,
                        uint32_t id);

/** Put a receive or a waiting probe that found no send at the end of the queue. */
static inline void nic_match_add_receive(struct nic_match *match,
                                         const struct nic_items *items, uint32_t id)
{
    struct nic_item *item = nic_item_at(items, id);

    item->sequence = match->n_posted++;
    nic_list_append(nic_match_receives(match, &item->descriptor), items, item, id);
    match->n_receives++;
}

/** nic_match_find_send where there are some. */
uint32_t nic_match_search_sends(const struct nic_match *match,
                                const struct nic_items *items,
                                const struct bcs_descriptor *receive);

/**
 * The oldest send that a receive or probe accepts, left in place, or NIC_ITEM_NONE. The
 * port's owner may call it without the desk's lock while nothing that it has posted can
 * take sends out of the queue (bcs_poster_is_settled), and while it holds the queue:
 * then the queue only grows.
 */
static inline uint32_t nic_match_find_send(const struct nic_match *match,
                                           const struct nic_items *items,
                                           const struct bcs_descriptor *receive)
{
    return nic_match_n_sends(match) == 0
               ? NIC_ITEM_NONE
               : nic_match_search_sends(match, items, receive);
}

/** nic_match_find_receive where there are some. */
uint32_t nic_match_search_receives(const struct nic_match *match,
                                   const struct nic_items *items,
                                   const struct bcs_descriptor *send);

/** The oldest receive or probe that accepts a send, left in place, or NIC_ITEM_NONE. */
static inline uint32_t nic_match_find_receive(const struct nic_match *match,
                                              const struct nic_items *items,
                                              const struct bcs_descriptor *send)
{
    return match->n_receives == 0 ? NIC_ITEM_NONE
                                  : nic_match_search_receives(match, items, send);
}

/** The pending receive or probe with this completion cell, or NIC_ITEM_NONE. */
uint32_t nic_match_find_cell(const struct nic_match *match,
                             const struct nic_items *items, uint32_t cell);

/** Take a send out of the queue. */
void nic_match_remove_send(struct nic_match *match, const struct nic_items *items,
                           uint32_t id);

/** A matched probe has taken a send, which is in no queue: keep it until it is
 *  received. */
void nic_match_take(struct nic_match *match, const struct nic_items *items,
                    uint32_t id);

/** It is received. */
void nic_match_yield(struct nic_match *match, const struct nic_items *items,
                     uint32_t id);

/** Take a receive or probe out of the queue. */
static inline void nic_match_remove_receive(struct nic_match *match,
                                            const struct nic_items *items, uint32_t id)
{
    const struct nic_item *item = nic_item_at(items, id);

    nic_list_remove(nic_match_receives(match, &item->descriptor), items, item);
    match->n_receives--;
}

/**
 * The receive or probe that a send finds at the first look: the oldest one that names
 * its source (or one of another source in the same bucket), if none waits for any
 * source, or the oldest one for any source, if none is in that bucket. @return
 * NIC_ITEM_NONE: nic_match_find_receive knows
 */
static inline uint32_t nic_match_first_receive(const struct nic_match *match,
                                               const struct nic_items *items,
                                               const struct bcs_descriptor *send)
{
    uint32_t named =
        match->receives[nic_match_bucket(send->context_id, send->source)].first;
    uint32_t any = match->wildcards.first;
    uint32_t id = named == NIC_ITEM_NONE ? any : named;

    return (named == NIC_ITEM_NONE || any == NIC_ITEM_NONE) && id != NIC_ITEM_NONE &&
                   nic_match_accepts(&nic_item_at(items, id)->descriptor, send)
               ? id
               : NIC_ITEM_NONE;
}

#endif
