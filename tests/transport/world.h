/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fixture of the transport suite: global memory of a few nodes over one transport,
 * and actors, each a process of its own (with -DWORLD_THREADS a thread, so that
 * ThreadSanitizer sees both sides). Every test is run with every transport.
 */
#ifndef TESTS_TRANSPORT_WORLD_H
#define TESTS_TRANSPORT_WORLD_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <bcs/primitives.h>

#define WORLD_N_NODES 4
#define WORLD_MAX_ACTORS 8
#define WORLD_HEAP_BYTES (UINT64_C(1) << 20)
#define WORLD_N_WORDS 512

/** The memory that actors share besides global memory, zero at first. */
struct world_shared {
    struct bcs_memory_address addresses[WORLD_N_NODES]; /* of apart heaps */
    uint32_t n_made, n_connected;                       /* of them; by atomics */
    uint32_t n_errors;
    uint64_t words[WORLD_N_WORDS]; /* for the test's use, by atomics */
};

/** Global memory, and what all actors know of it. */
struct world {
    const char *transport;
    struct bcs_memory *memory; /* of all nodes; NULL if they are apart */
    struct world_apart *apart; /* each node for itself, far from the others */
    struct bcs_heap heap;
    struct bcs_node_set all;
    struct world_shared *shared;
    uint32_t n_actors;
    uint32_t n_rounds; /* of tests that repeat: less where a call takes long */
    uint64_t barrier_gva;
    uint64_t put_gvas[WORLD_MAX_ACTORS + 1]; /* an event for each actor's own puts */
};

/** One actor; the test itself is the last. */
struct actor {
    struct world *world;
    struct bcs_core *core;
    uint32_t index;
    uint64_t n_puts;
    uint64_t n_barriers;
    uint64_t n_meetings;
    uint64_t seed;
};

/** What an actor does; it reports by actor_expect, as Check's assertions are not for
 *  threads and children. */
typedef void (*actor_fn)(struct actor *me);

/** Create global memory over transport number `index` of bcs_transport_names. Over one
 *  that connects machines each node is one of its own: a process of its own makes its
 *  heap, and whoever acts as it has no other one. */
void world_init(struct world *world, int index);

/** Whether the nodes of a transport, by its number, are apart. */
bool world_is_apart(int index);

/** The process that serves a node that is apart. */
pid_t world_server(const struct world *world, uint32_t node);

/** Free what world_init made. */
void world_fini(struct world *world);

/** Reserve global memory; fails the test if there is none. */
uint64_t world_reserve(struct world *world, size_t n_bytes, size_t align);

/** Reserve an event. */
uint64_t world_event(struct world *world);

/** A handle that acts as the node; of the calling process. */
struct bcs_core *world_core(const struct world *world, uint32_t node);

/** Run actors 0 to n_actors - 1 to their ends and assert that none met an error. */
void world_run(struct world *world, uint32_t n_actors, actor_fn fn);

/** Start one actor as a process, also with WORLD_THREADS; the caller waits for it. */
pid_t world_fork(struct world *world, uint32_t index, actor_fn fn);

/** Wait for one actor of world_fork and assert that it ended well. */
void world_join(const struct world *world, pid_t pid);

/** Make the calling process an actor; the test itself is number WORLD_MAX_ACTORS. It
 *  acts as node index modulo WORLD_N_NODES. */
void actor_init(struct actor *me, struct world *world, uint32_t index);

/** Free what actor_init made. */
void actor_fini(struct actor *me);

/** Count and print an error unless is_ok. */
void actor_expect(struct actor *me, bool is_ok, const char *what);

/** Wait for all actors of world_run. */
void actor_barrier(struct actor *me);

/** A random number, the same in every run. */
uint32_t actor_random(struct actor *me);

/**
 * Put a block on every node of the set, signal the remote event if there is one, and
 * wait until src is free again.
 *
 * @return the result of bcs_xfer_and_signal
 */
int actor_put(struct actor *me, const struct bcs_node_set *dests, uint64_t gva,
              const void *src, size_t n_bytes, uint64_t remote_event_gva);

/** Put one word on every node of the set; expected to succeed. */
void actor_put_word(struct actor *me, const struct bcs_node_set *dests, uint64_t gva,
                    uint64_t value);

/** Whether a variable has the value on all nodes of the set; expected to succeed. */
bool actor_query(struct actor *me, const struct bcs_node_set *dests, uint64_t gva,
                 uint64_t value);

/** Compare for equality and write; expected to succeed. @return whether it was equal */
bool actor_swap(struct actor *me, const struct bcs_node_set *dests, uint64_t gva,
                uint64_t value, uint64_t new_value);

/** The set of the nodes whose bit is set in a mask, of at most 1 + WORLD_N_NODES bits;
 *  with marks. */
struct bcs_node_set set_of_mask(uint32_t mask);

/** The set of two nodes, the same way. */
struct bcs_node_set set_of_two(uint32_t a, uint32_t b);

/** The word of the handle's node, read by address. */
uint64_t word_on(const struct bcs_core *core, uint64_t gva);

/** The tests of test_primitives.c, each run with transports 0 to n_transports - 1. */
TCase *primitives_tcase(int n_transports);

/** Those of test_bounds.c. */
TCase *bounds_tcase(int n_transports);

/** Those of test_consistency.c. */
TCase *consistency_tcase(int n_transports);

/** Those of test_waiting.c. */
TCase *waiting_tcase(int n_transports);

/** Those of test_death.c. */
TCase *death_tcase(int n_transports);

#endif
