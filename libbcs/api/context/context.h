/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of a context: what a process has of its job. Internal to libbcs/api, and
 * built by tests. Used by one thread at a time.
 */
#ifndef LIBBCS_API_CONTEXT_CONTEXT_H
#define LIBBCS_API_CONTEXT_CONTEXT_H

#include "libbcs/api/context/group.h"
#include "libbcs/api/context/hooks.h"
#include "libbcs/api/context/pace.h"
#include "libbcs/api/context/payload_copy.h"
#include "libbcs/fabric/base/forked.h"
#include "libbcs/fabric/base/stamp.h"
#include "libbcs/fabric/ring/poster.h"
#include "libbcs/session/meeting.h"
#include "nic_threads/drivers/driver.h"

/** All plans of a context; see plan.h. */
struct bcs_plans {
    struct bcs_plan *first,
        *last; /* that nobody waits for, in the order of their turns */
    struct bcs_plan *free;
    struct bcs_step *free_steps;
    struct bcs_step_slab *slabs;
    bool is_moving; /* within bcs_plans_move */
};

/** Something that a process moves on while it waits or tests, whatever for. Whoever has
 *  to be called again although there is no new order, calls bcs_orders_expect. */
typedef void (*bcs_mover_fn)(struct bcs_context *context);

/** Takes what a collective needs. */
typedef void (*bcs_take_need_fn)(void *arg, const struct bcs_stand_operation *need);

/**
 * Find what collectives that go on by themselves need: of each a message without which
 * it cannot go on. Those that wait for their turn are left out: they need that one of
 * these is over.
 *
 * @param request  of the one that is meant; NULL: all
 * @param take     called for each
 * @return false: one may go on
 */
typedef bool (*bcs_find_needs_fn)(const struct bcs_context *context,
                                  const struct bcs_request *request,
                                  bcs_take_need_fn take, void *arg);

/** What a completion cell stands for. */
struct bcs_pending {
    struct bcs_request *request; /* the last that took it */
    bool is_ordered;             /* the cell is in context->ordered */
};

/** One process's attachment. Used by one thread at a time. */
struct bcs_context {
    struct bcs_poster poster;
    /* By port, once there is one: what is read for another port. NULL: all is read
     * where this process's own ring is. */
    struct bcs_ring_writer *links;
    struct bcs_ring_writer node_link;       /* to the node's own desk, if it has one */
    struct bcs_off_node_end *off_node_ends; /* by port; off_node.c */
    struct bcs_descriptor off_node_entry; /* the next entry of a link to another node */
    /* Where this process has sent last, if it has received nothing since. */
    const struct bcs_ring_writer *sent_to;
    struct nic_engine *engine;
    const struct nic_driver_ops *driver;
    struct nic_service *service; /* what the driver needs of it in this process */
    struct nic_config config;
    uint32_t n_inline_near,
        n_inline_off_node; /* sends of fewer bytes have them in descriptors */
    size_t n_long; /* receives with room for so many need prepare_further of p2p.c */
    struct bcs_stamps stamps;
    struct bcs_meeting meeting;
    struct bcs_port_map *map; /* which rank has which port; NULL: each is its own */
    uint32_t rank;            /* of this process in the job, */
    uint32_t port;            /* and its port */
    uint32_t size;            /* ranks of the job */
    struct bcs_job *job;      /* of bcs_init; NULL under MPI */
    struct mds_collect
        *collect; /* of bcs_init: where calls are recorded; NULL: they are not */
    struct bcs_pending *pending; /* by cell, as far as they have ever been used: */
    uint32_t n_pending;
    uint32_t *ordered; /* [n_pending] cells whose operations need this process */
    uint32_t n_ordered;
    uint32_t n_orders_idle; /* see wait.c */
    struct bcs_plans plans; /* collectives that go on by themselves */
    struct bcs_pace pace;   /* of long messages */
    struct bcs_payload_copy payload_copies[BCS_PAYLOAD_COPY_LENGTHS];
    uint64_t n_at_hand; /* messages that were received without a descriptor */
    uint32_t n_misuses; /* that the user was told of; misuse.c */
    uint32_t n_misses;  /* tests in a row that found nothing */
    uint32_t n_turns;   /* of waits, since the last look outside */
    bool is_called;     /* at that look another process had called; */
    uint64_t heard_ns;  /* the last such call; see external.h */
    bool is_nested;     /* a signal's handler is in a call within one; turns.h */
    bool is_moving;     /* the last look has found a transfer under way */
    /** Reasons why those who need what is not ours cannot call this process: while
     *  there is one, waits wake up now and then. */
    uint32_t n_short_sleeps;
    const bcs_mover_fn *movers;      /* what a wait moves on; see movers.h */
    struct bcs_stand_teller *teller; /* tells where waits stand; stand_tell.c */
    bcs_find_needs_fn find_needs;    /* of plans; plan_stand.c */
    struct bcs_hooks hooks;
    /* For the report of a deadlock; NULL: none. Written once, read by the referee's
     * thread. */
    char *_Atomic report_path;
    struct bcs_forked forked; /* takes all this away in a forked child */
};

/** Whether each rank is its own port. */
static inline bool bcs_ports_are_ranks(const struct bcs_context *context)
{
    return context->map == NULL || context->map->is_identity;
}

#endif
