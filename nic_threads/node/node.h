/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of one node's NIC engine in NIC memory, and a process's view of it. Whoever
 * holds the lock (engine_lock.h) may read and write everything here that is not atomic;
 * atomic words are read by others, each as it says.
 */
#ifndef NIC_THREADS_NODE_NODE_H
#define NIC_THREADS_NODE_NODE_H

#include <assert.h>
#include <bcs/primitives.h>
#include <stdbool.h>
#include <stddef.h>

#include "libbcs/fabric/base/machine_jobs.h"
#include "libbcs/fabric/ring/near_line.h"
#include "libbcs/fabric/ring/nic_memory.h"
#include "libbcs/fabric/ring/port.h"
#include "libbcs/fabric/ring/port_map.h"
#include "libbcs/fabric/ring/sleep.h"
#include "libbcs/fabric/ring/stand.h"
#include "nic_threads/nic_config.h"
#include "nic_threads/node/desk.h"
#include "nic_threads/node/letter.h"
#include "nic_threads/node/monitor.h"
#include "nic_threads/node/recall.h"
#include "nic_threads/node/slot.h"
#include "nic_threads/node/tables.h"
#include "nic_threads/rules/match.h"
#include "nic_threads/rules/schedule.h"
#include "nic_threads/rules/slice.h"
#include "nic_threads/rules/strobe_clock.h"

/** Kinds of descriptors that only engines exchange; continue enum
 *  bcs_descriptor_kind. */
enum nic_wire_kind {
    NIC_WIRE_GRANT =
        64,           /* receiver's node asks for .chunk; .port, .cell: the sender's */
    NIC_WIRE_DATA,    /* .chunk is in the stage block that was asked for */
    NIC_WIRE_REFUSED, /* .chunk was not copied; it must be loaded by the sender */
    NIC_WIRE_MATCHED, /* the synchronous send of .port, .cell has been matched */
    /* to the master of a collective: a member's operand of a reduction, or the root's
     * data of a broadcast; .address: the number of the collective */
    NIC_WIRE_PART,
    NIC_WIRE_STAMP, /* to it as well: .stamp is the latest of a node's members; .address
                       as before */
};

enum { NIC_DEMAND_WORDS = 2 };

/** What a node has besides its desks: the slices of all nodes, and their
 *  collectives. */
struct nic_node {
    /* Collective slots whose local members have all arrived, and which wait for other
     * nodes; by next_active, the oldest first. */
    struct nic_list active;
    bool has_more_ready;          /* some of them could go, but the batch was full */
    struct nic_slice_state phase; /* of the strobe sender: node 0 */
    bool is_open;                 /* timed, node 0: the slice may have more rounds */
    uint64_t round;               /* that runs or ran last on this node */
    /* global: the bell, rung by whoever leaves work here that nobody may be looking
     * for. Driver `threads`: the strobe receiver waits for it, and on node 0 the strobe
     * sender. */
    _Alignas(BCS_CACHE_LINE) struct bcs_event bell;

    /* The slice protocol between nodes; see strobe_sender.c. */
    /* global: last microstrobe, put by the SS */
    _Alignas(BCS_CACHE_LINE) uint64_t strobe;
    uint64_t done;           /* global: last microstrobe carried out here */
    uint64_t has_later_work; /* global: after MSM, whether PM to RM have work */
    uint64_t demanded;       /* the round that this node has asked node 0 for */
    _Alignas(16) struct bcs_event result_event; /* global: results put here */
    uint64_t results_seen;
    /* global: put by a far process that waits outside of us, another value each time;
     * see libbcs/api/message/external.h */
    uint64_t called;
    struct nic_recall_box recall_box;
    /* global, node 0: the rounds that nodes want next; see strobe_sender.c */
    uint64_t demand[NIC_DEMAND_WORDS];
    /* global: wires that other nodes have begun to use */
    _Alignas(16) struct bcs_event announcements;
    uint64_t n_announcements_seen;
    uint32_t n_outbox; /* wire entries that found no room, to all nodes */
    /* The referee and its witnesses; see nic_threads/referee/witness.c. */
    /* global, the first node of a machine: what the referee asks its witness */
    _Alignas(16) struct nic_letter question;
    struct nic_letter answer;      /* global, node 0: the last answer of a witness */
    struct bcs_event roused;       /* global, node 0: the referee is to look */
    struct bcs_event record_event; /* local one of the puts of the witness */

    struct nic_strobe_counts strobes; /* node 0 */
};

_Static_assert(
    offsetof(struct nic_node, bell) % sizeof(struct bcs_event) == 0 &&
        offsetof(struct nic_node, result_event) % sizeof(struct bcs_event) == 0 &&
        offsetof(struct nic_node, announcements) % sizeof(struct bcs_event) == 0 &&
        offsetof(struct nic_node, roused) % sizeof(struct bcs_event) == 0 &&
        offsetof(struct nic_node, record_event) % sizeof(struct bcs_event) == 0,
    "events are aligned");

/** Global address of a member of struct nic_node. */
#define NIC_NODE_GVA(view, member)                                                     \
    ((view)->engine->layout.node_gva + offsetof(struct nic_node, member))

/** Global address of a member of the view's struct nic_desk; the same on all nodes for
 *  the desks of one number. */
#define NIC_DESK_GVA(view, member) nic_view_gva(view, &(view)->desk->member)

/** A process's view of one desk and its node: plain pointers into the first part of its
 *  heap; what is behind that is found by the core, which maps it. */
struct nic_view {
    struct nic_engine *engine; /* NULL: the view has not been made */
    struct nic_desk *desk;
    struct nic_node *node;
    struct nic_items items;
    struct nic_per_port per_port;
    struct nic_per_node per_node;
    char *heap;
    uint64_t whole_bytes;    /* of the first part */
    struct nic_region links; /* to the desk, if there are any, */
    uint32_t n_links;        /* of ports and of desks, */
    uint32_t n_post_links;   /* of ports only, which come first */
    uint32_t first_writer;   /* the port whose link is number 0 */
    char *ports;             /* first parts of the ports */
    uint64_t port_stride_bytes;
    uint32_t n_first_cells; /* of each port, in its first part */
    struct bcs_core *core;  /* acting as this node */
    uint32_t index;
    uint32_t first_port; /* number in the job of the node's port 0 */
    uint32_t n_local;
    uint32_t first_served; /* of the node's ports, the first one that the desk serves */
    uint32_t n_served;
    uint32_t n_words;   /* of bits for its ports */
    uint32_t ring_mask; /* of its ports' rings, */
    uint32_t link_mask; /* and of links */
    bool is_alone;      /* it works by itself: no other desk takes part in its slices */
    /* it serves one port, and neither other nodes nor a recorder nor a crew have a part
     * in what it does: it may carry out at once what it takes
     * (nic_threads/roles/at_once.h) */
    bool is_at_once;
    bool is_late;          /* its transport */
    bool must_push;        /* what it puts stays here until it is flushed */
    bool owes_flush;       /* has put something late since its transport was flushed */
    size_t n_copied_bytes; /* its transport copies blocks up to this length at once */
    /* bits: local ports that the runner has completed something for, to be woken after
     * unlocking; of all views of the node */
    uint64_t *wake;
    struct nic_region partners;    /* see nic_view_partner */
    uint8_t *scratch;              /* see nic_view_scratch; NULL: not needed yet */
    struct nic_recorder *recorder; /* of the desk's slices; NULL: none */
    struct nic_view *next_made;
};

struct nic_crew;
struct nic_crew_ops;
struct nic_mover;

/** One process's engine. A node is near if it is on this process's machine, so that its
 *  heap is mapped, else far. The engine has views of the desks of near nodes only; what
 *  is far has a name (node, global address), and is reached by the primitives. */
struct nic_engine {
    struct nic_layout layout;
    struct bcs_machine *machine;
    struct bcs_own_slot own_slot;
    const struct nic_config *config;
    const struct bcs_port_map *map; /* NULL: each rank is its own port */
    uint32_t port;                  /* this process */
    uint32_t n_nodes;               /* of the job */
    uint32_t first_near;            /* near nodes follow each other */
    uint32_t n_near;
    uint32_t n_views; /* of the desks of near nodes, in the order of their numbers */
    uint32_t
        first_desk; /* the number of the first of these desks, among those of the job */
    uint32_t home;  /* this process's node, */
    uint32_t own;   /* and its desk, among those of the job */
    bool is_direct; /* endpoints may copy each other's memory */
    bool is_threaded;        /* several threads of this process may wait at once */
    bool is_timed;           /* slices by the clock; completions wait for a strobe */
    bool is_background;      /* not a port's: a thread's of the library */
    struct nic_mover *mover; /* the engine's own, if it copies by itself; else NULL */
    /* Threads for the roles, and what they can do (roles.h); NULL: called directly. */
    struct nic_crew *crew;
    const struct nic_crew_ops *crew_ops;
    uint64_t spin_ticks;  /* how long a waiter polls before it offers its core */
    uint64_t stay_ticks;  /* how long it stays awake, if it has a core to itself */
    uint64_t *wake_words; /* of near nodes */
    /* Of this process, that keeps the lock of its own desk between its turns; or NULL.
     * What posts meanwhile, and finds a ring full, has it let go. */
    struct bcs_waiter *poller;
    /* What this process has under way at near desks of others, and at which: bits by
     * view, cleared when there is nothing any more (pending_desks.h). */
    uint32_t n_pending_desks;
    uint64_t *pending_desks;
    bool is_in_round; /* one of these is a part of a collective of several nodes */
    /* Questions to far nodes for sends that this process wants back (far_recall.h): how
     * many there were, and the number of the one that is open, or 0. */
    uint64_t n_recalls;
    uint64_t open_recall;
    /* Near desks for which this engine has put something that is not for their ports:
     * bits by view. Whoever runs it looks after them when it has unlocked (turn.c). */
    bool has_visits;
    uint64_t *visits;
    /* [n_views] by number, each made when it is first asked for (nic_engine_desk): a
     * process looks at few desks of a large job. The table costs address space. */
    struct nic_view *views;
    struct nic_view *first_made; /* the views that have been made, by next_made */
    struct nic_view *own_view;   /* that of own */
    struct bcs_memory *memory;   /* the nodes' heaps */
    /* What records slices, of each view and then of the strobe sender; NULL: nobody. */
    struct nic_recorder *recorders;
    struct nic_view guest; /* see nic_view_for_turn */
};

/** What records the strobe sender's slices; NULL: nothing does. */
static inline const struct nic_recorder *
nic_engine_sender_recorder(const struct nic_engine *engine)
{
    return engine->recorders == NULL ? NULL : &engine->recorders[engine->n_views];
}

/** The sizes in use. */
static inline const struct bcs_limits *nic_view_limits(const struct nic_view *view)
{
    return &view->engine->layout.shape.limits;
}

/** Whether each port has a desk of its own, which others reach by links. */
static inline bool nic_is_linked(const struct nic_engine *engine)
{
    return engine->layout.n_links > 0;
}

/** Whether desks take part in each other's slices, which strobes begin. */
static inline bool nic_has_strobes(const struct nic_engine *engine)
{
    return engine->n_nodes > 1 || engine->is_timed;
}

/** Sends that a desk keeps for want of a receive before it takes no more from the
 *  rings; their senders wait then. */
static inline uint32_t nic_send_limit(const struct nic_view *view)
{
    return view->engine->layout.send_limit;
}

/** Say that a send stays where it is, as the view's desk keeps so many. */
void nic_view_hold(const struct nic_view *view);

/** Whether the desk keeps so many sends. Also read without the lock. */
static inline bool nic_view_is_full(const struct nic_view *view)
{
    return __atomic_load_n(&view->desk->n_sends_kept, __ATOMIC_RELAXED) >=
           nic_send_limit(view);
}

/** Whether sends stay in a ring. What is held does not count while the desk is full, or
 *  slice would follow slice without end and without effect. */
static inline bool nic_ring_is_held_back(const struct nic_view *view,
                                         const struct bcs_ring *ring)
{
    return __atomic_load_n(&ring->is_held, __ATOMIC_RELAXED) && nic_view_is_full(view);
}

/** What stays in a ring is to be looked at again. Under the lock. */
static inline void nic_ring_let_go(struct bcs_ring *ring)
{
    if (__builtin_expect(ring->is_held, 0)) {
        __atomic_store_n(&ring->is_held, false, __ATOMIC_RELAXED);
    }
}

/** What is at a global address of the node. */
static inline void *nic_view_at(const struct nic_view *view, uint64_t gva)
{
    return __builtin_expect(gva < view->whole_bytes, 1)
               ? view->heap + gva
               : bcs_core_address(view->core, gva);
}

/** Global address of what is in the first part of the view's heap. */
static inline uint64_t nic_view_gva(const struct nic_view *view, const void *address)
{
    uint64_t gva = (uint64_t)((const char *)address - view->heap);

    assert(gva < view->whole_bytes);
    return gva;
}

static inline const struct bcs_descriptor *
nic_posted_descriptor(const struct nic_view *view, const struct nic_posted *posted)
{
    return nic_view_at(view, posted->gva);
}

static inline struct nic_item *nic_view_item(const struct nic_view *view, uint32_t id)
{
    return nic_item_at(&view->items, id);
}

/** Global address of the descriptor in an item, number id. */
static inline uint64_t nic_view_item_gva(const struct nic_view *view,
                                         const struct nic_item *item, uint32_t id)
{
    return __builtin_expect(id < view->items.n_first, 1)
               ? nic_view_gva(view, &item->descriptor)
               : nic_region_gva(&view->items.region, id);
}

/** A block of the node: of one of its ports, or one where chunks land. */
static inline struct bcs_block *nic_view_block(const struct nic_view *view,
                                               uint64_t gva)
{
    return nic_view_at(view, gva);
}

/** Put a block of the node behind the others of a queue. @param first,last 0 if there
 *  is none */
void nic_view_queue_block(const struct nic_view *view, uint64_t *first, uint64_t *last,
                          uint64_t gva);

static inline struct bcs_port *nic_view_port(const struct nic_view *view,
                                             uint32_t local)
{
    return (struct bcs_port *)(view->ports + local * view->port_stride_bytes);
}

/** The ring of the port at a place of the desk. */
static inline struct bcs_ring *nic_view_ring(const struct nic_view *view, uint32_t seat)
{
    return bcs_port_ring(nic_view_port(view, view->first_served + seat));
}

/** A link to the desk. */
static inline struct bcs_ring *nic_view_link(const struct nic_view *view, uint32_t link)
{
    return nic_view_at(view, nic_region_gva(&view->links, link));
}

/** What the desk keeps of a port on another node. */
static inline struct nic_partner *nic_view_partner(const struct nic_view *view,
                                                   uint32_t port)
{
    return nic_view_at(view, nic_region_gva(&view->partners, port));
}

/** Global address of what each node keeps of the wires between it and another one. */
static inline uint64_t nic_view_wire_end_gva(const struct nic_view *view, uint32_t node)
{
    return nic_region_gva(&view->engine->layout.wire_ends, node);
}

/** What the view's node keeps of them. */
static inline struct nic_wire_end *nic_view_wire_end(const struct nic_view *view,
                                                     uint32_t node)
{
    return nic_view_at(view, nic_view_wire_end_gva(view, node));
}

/** The port whose link it is, or whose desk's. */
static inline uint32_t nic_view_writer(const struct nic_view *view, uint32_t link)
{
    return view->first_writer +
           (link < view->n_post_links ? link : link - view->n_post_links);
}

/** A cell of a local port that is not one of the first. */
struct bcs_cell *nic_view_later_cell(const struct nic_view *view, uint32_t port,
                                     uint32_t cell);

/** The cell of a local port, by the port's number in the job. */
static inline struct bcs_cell *nic_view_cell(const struct nic_view *view, uint32_t port,
                                             uint32_t cell)
{
    return __builtin_expect(cell < view->n_first_cells, 1)
               ? bcs_port_cell(nic_view_port(view, port - view->first_port), cell)
               : nic_view_later_cell(view, port, cell);
}

/** Whether a node is near. */
static inline bool nic_engine_is_near(const struct nic_engine *engine, uint32_t node)
{
    return node - engine->first_near < engine->n_near;
}

/** Whether some node is far. */
static inline bool nic_engine_has_far(const struct nic_engine *engine)
{
    return engine->n_near < engine->n_nodes;
}

/** Whether a desk, by its number in the job, is one of a near node. */
static inline bool nic_engine_is_near_desk(const struct nic_engine *engine,
                                           uint32_t desk)
{
    return desk - engine->first_desk < engine->n_views;
}

/** Ranks of the job. */
static inline uint32_t nic_engine_n_ranks(const struct nic_engine *engine)
{
    return engine->map == NULL ? engine->layout.shape.n_ports : engine->map->n_ranks;
}

/** The port of a rank. */
static inline uint32_t nic_engine_port_of(const struct nic_engine *engine,
                                          uint32_t rank)
{
    return engine->map == NULL ? rank : bcs_port_of(engine->map, rank);
}

/** The rank of a port. */
static inline uint32_t nic_engine_rank_of(const struct nic_engine *engine,
                                          uint32_t port)
{
    return engine->map == NULL ? port : bcs_rank_of(engine->map, port);
}

/** The number of a port among those that the view's desk serves: its place in
 *  per_port. */
static inline uint32_t nic_view_seat(const struct nic_view *view, uint32_t port)
{
    return port - view->first_port - view->first_served;
}

/** The port at a place of the desk, number in the job. */
static inline uint32_t nic_view_served(const struct nic_view *view, uint32_t seat)
{
    return view->first_port + view->first_served + seat;
}

/** Whether a port is one of the view's node. */
static inline bool nic_view_has(const struct nic_view *view, uint32_t port)
{
    return port - view->first_port < view->n_local;
}

/** Make the room of nic_view_scratch. */
void nic_view_make_scratch(struct nic_view *view);

/** Room for an operand of each process of the job, in rank order, for reductions that
 *  this process carries out on the view's node. In whole cache lines. If there is no
 *  memory for it the process ends (logged). */
static inline uint8_t *nic_view_scratch(struct nic_view *view)
{
    if (__builtin_expect(view->scratch == NULL, 0)) {
        nic_view_make_scratch(view);
    }
    return view->scratch;
}

/** Global address of a collective slot. */
static inline uint64_t nic_view_slot_gva(const struct nic_view *view, uint32_t slot)
{
    return nic_region_gva(&view->engine->layout.slots, slot);
}

/** A block of lines of a slot's near collectives, by its number among those of all
 *  levels. */
static inline struct bcs_near_block *nic_view_near_block(const struct nic_view *view,
                                                         uint32_t slot, uint32_t number)
{
    const struct nic_layout *layout = &view->engine->layout;

    return nic_view_at(
        view, nic_region_gva(&layout->near, (uint64_t)slot * layout->n_near + number));
}

static inline struct nic_slot *nic_view_slot(const struct nic_view *view, uint32_t slot)
{
    return nic_view_at(view, nic_view_slot_gva(view, slot));
}

static inline enum bcs_collective_kind
nic_collective_kind(const struct bcs_descriptor *descriptor)
{
    return bcs_operation_kind(descriptor->operation);
}

/** Whether the members' data are combined. */
static inline bool nic_is_reduction(const struct bcs_descriptor *descriptor)
{
    return nic_collective_kind(descriptor) >= BCS_COLLECTIVE_REDUCE;
}

/** Whether the engine copies at an end of a transfer, or at both: it has a thread for
 *  that, and no process must do it by itself. */
static inline bool nic_view_copies(const struct nic_view *view, bool needs_owner)
{
    return view->engine->mover != NULL && !needs_owner;
}

/** Clear the bits of n ports, and do something for each port whose bit was set,
 *  ascending. */
static inline void nic_view_take_marks(struct nic_view *view, uint64_t *words,
                                       uint32_t n,
                                       void (*act)(struct nic_view *view, uint32_t i))
{
    for (uint32_t word = 0; word < nic_port_words(n); word++) {
        uint64_t bits = words[word];

        words[word] = 0;
        for (; bits != 0; bits &= bits - 1) {
            act(view, word * 64 + (uint32_t)__builtin_ctzll(bits));
        }
    }
}

/** Remember to see that a port's desk on another node is looked after. If the node is
 *  far, it has been told by its bell. */
static inline void nic_view_visit(const struct nic_view *view, uint32_t port)
{
    struct nic_engine *engine = view->engine;
    uint32_t desk = nic_layout_desk(&engine->layout, port);

    if (nic_engine_is_near_desk(engine, desk)) {
        nic_mark(engine->visits, desk - engine->first_desk);
        engine->has_visits = true;
    }
}

#endif
