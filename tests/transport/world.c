/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fixture of the transport suite.
 */
#include "tests/transport/world.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef WORLD_THREADS
enum { N_ROUNDS = 60 };
#else
enum { N_ROUNDS = 3000 };
#endif
enum { N_ROUNDS_APART = 60 };

static void *shared_map(size_t n_bytes)
{
    void *base =
        mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(base, MAP_FAILED);
    return base;
}

/** What a process knows of nodes that are apart. */
struct world_apart {
    pthread_mutex_t mutex;
    pid_t owner; /* of the memories: a forked child makes its own */
    struct bcs_memory *memories[WORLD_N_NODES];
    pid_t servers[WORLD_N_NODES]; /* which have made the heaps */
};

/** @param near  and made here, or none made */
static struct bcs_memory *memory_create(const char *transport,
                                        const struct bcs_node_set *near, bool is_made)
{
    struct bcs_memory_params params = {
        .transport = transport,
        .n_nodes = WORLD_N_NODES,
        .heap_bytes = WORLD_HEAP_BYTES,
        .near = *near,
    };
    struct bcs_memory *memory;

    if (is_made) {
        params.makes = *near;
    }
    return bcs_memory_create(&params, &memory) == 0 ? memory : NULL;
}

static void await_all(const uint32_t *count)
{
    while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < WORLD_N_NODES) {
        sched_yield();
    }
}

/** A process that makes a node's heap and serves it until it is killed. */
static void serve(struct world *world, uint32_t node)
{
    struct bcs_node_set near = bcs_node_set_one(node);
    struct bcs_memory *memory;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memory = memory_create(world->transport, &near, true);
    if (memory == NULL) {
        _exit(1);
    }
    world->shared->addresses[node] = bcs_memory_address(memory, node);
    __atomic_fetch_add(&world->shared->n_made, 1, __ATOMIC_RELEASE);
    await_all(&world->shared->n_made);
    if (bcs_memory_connect(memory, world->shared->addresses) != 0) {
        _exit(1);
    }
    __atomic_fetch_add(&world->shared->n_connected, 1, __ATOMIC_RELEASE);
    for (;;) {
        pause();
    }
}

static struct world_apart *apart_new(struct world *world)
{
    struct world_apart *apart = calloc(1, sizeof(*apart));

    ck_assert_ptr_nonnull(apart);
    pthread_mutex_init(&apart->mutex, NULL);
    fflush(NULL);
    for (uint32_t i = 0; i < WORLD_N_NODES; i++) {
        apart->servers[i] = fork();
        ck_assert_int_ge(apart->servers[i], 0);
        if (apart->servers[i] == 0) {
            serve(world, i);
        }
    }
    await_all(&world->shared->n_connected);
    return apart;
}

/** The memory of a process that acts as a node that is apart. */
static struct bcs_memory *apart_memory(const struct world *world, uint32_t node)
{
    struct world_apart *apart = world->apart;
    struct bcs_node_set near = bcs_node_set_one(node);

    pthread_mutex_lock(&apart->mutex);
    if (apart->owner != getpid()) {
        apart->owner = getpid();
        memset(apart->memories, 0, sizeof(apart->memories));
    }
    if (apart->memories[node] == NULL) {
        apart->memories[node] = memory_create(world->transport, &near, false);
        if (apart->memories[node] == NULL ||
            bcs_memory_connect(apart->memories[node], world->shared->addresses) != 0) {
            fprintf(stderr, "no memory of node %u\n", node);
            _exit(1);
        }
    }
    pthread_mutex_unlock(&apart->mutex);
    return apart->memories[node];
}

static void apart_free(struct world_apart *apart)
{
    for (uint32_t i = 0; i < WORLD_N_NODES; i++) {
        if (apart->owner == getpid()) {
            bcs_memory_destroy(apart->memories[i]);
        }
        kill(apart->servers[i], SIGKILL);
        waitpid(apart->servers[i], NULL, 0);
    }
    pthread_mutex_destroy(&apart->mutex);
    free(apart);
}

bool world_is_apart(int index)
{
    return strcmp(bcs_transport_names()[index], "ucx") == 0;
}

pid_t world_server(const struct world *world, uint32_t node)
{
    return world->apart->servers[node];
}

void world_init(struct world *world, int index)
{
    *world = (struct world){
        .transport = bcs_transport_names()[index],
        .shared = shared_map(sizeof(*world->shared)),
        .all = bcs_node_set_range(0, WORLD_N_NODES),
        .n_rounds = N_ROUNDS,
    };
    if (world_is_apart(index)) {
        world->apart = apart_new(world);
        world->n_rounds = N_ROUNDS_APART;
    } else {
        world->memory = memory_create(world->transport, &world->all, true);
        ck_assert_ptr_nonnull(world->memory);
    }
    bcs_heap_init(&world->heap, WORLD_HEAP_BYTES);
    world->barrier_gva = world_event(world);
    for (int i = 0; i <= WORLD_MAX_ACTORS; i++) {
        world->put_gvas[i] = world_event(world);
    }
}

void world_fini(struct world *world)
{
    if (world->apart != NULL) {
        apart_free(world->apart);
    }
    bcs_memory_destroy(world->memory);
    munmap(world->shared, sizeof(*world->shared));
}

uint64_t world_reserve(struct world *world, size_t n_bytes, size_t align)
{
    uint64_t gva = bcs_heap_reserve(&world->heap, n_bytes, align);

    ck_assert_uint_ne(gva, 0);
    return gva;
}

uint64_t world_event(struct world *world)
{
    return world_reserve(world, sizeof(struct bcs_event), sizeof(struct bcs_event));
}

struct bcs_core *world_core(const struct world *world, uint32_t node)
{
    struct bcs_memory *memory =
        world->apart == NULL ? world->memory : apart_memory(world, node);
    struct bcs_core *core = NULL;

    if (bcs_core_create(memory, node, &core) != 0) {
        fprintf(stderr, "no handle for node %u\n", node);
        _exit(1);
    }
    return core;
}

static void actor_main(struct world *world, uint32_t index, actor_fn fn)
{
    struct actor me;

    actor_init(&me, world, index);
    fn(&me);
    actor_fini(&me);
}

pid_t world_fork(struct world *world, uint32_t index, actor_fn fn)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        actor_main(world, index, fn);
        _exit(0);
    }
    return pid;
}

void world_join(const struct world *world, pid_t pid)
{
    int status = 0;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(world->shared->n_errors, 0);
}

#ifdef WORLD_THREADS

struct thread_start {
    struct world *world;
    uint32_t index;
    actor_fn fn;
};

static void *thread_main(void *argument)
{
    struct thread_start *start = argument;

    actor_main(start->world, start->index, start->fn);
    return NULL;
}

static void actors_run(struct world *world, actor_fn fn)
{
    struct thread_start starts[WORLD_MAX_ACTORS];
    pthread_t threads[WORLD_MAX_ACTORS];

    for (uint32_t i = 0; i < world->n_actors; i++) {
        starts[i] = (struct thread_start){world, i, fn};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, thread_main, &starts[i]), 0);
    }
    for (uint32_t i = 0; i < world->n_actors; i++) {
        pthread_join(threads[i], NULL);
    }
}

#else

/* A child that fails may leave the others waiting for it; they die with the test. */
static void actors_run(struct world *world, actor_fn fn)
{
    int status = 0;

    for (uint32_t i = 0; i < world->n_actors; i++) {
        world_fork(world, i, fn);
    }
    for (uint32_t i = 0; i < world->n_actors; i++) {
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
}

#endif

void world_run(struct world *world, uint32_t n_actors, actor_fn fn)
{
    ck_assert_uint_le(n_actors, WORLD_MAX_ACTORS);
    world->n_actors = n_actors;
    actors_run(world, fn);
    ck_assert_uint_eq(world->shared->n_errors, 0);
}

void actor_init(struct actor *me, struct world *world, uint32_t index)
{
    *me = (struct actor){
        .world = world,
        .core = world_core(world, index % WORLD_N_NODES),
        .index = index,
        .seed = index + 1,
    };
}

void actor_fini(struct actor *me)
{
    bcs_core_destroy(me->core);
}

void actor_expect(struct actor *me, bool is_ok, const char *what)
{
    if (!is_ok) {
        __atomic_fetch_add(&me->world->shared->n_errors, 1, __ATOMIC_RELAXED);
        fprintf(stderr, "actor %u found: %s\n", me->index, what);
    }
}

void actor_barrier(struct actor *me)
{
    struct bcs_xfer signal = {
        .dests = &me->world->all,
        .remote_event_gva = me->world->barrier_gva,
    };
    uint64_t target = ++me->n_barriers * me->world->n_actors;

    actor_expect(me, bcs_xfer_and_signal(me->core, &signal) == 0, "a barrier failed");
    actor_expect(me,
                 bcs_test_event(me->core, me->world->barrier_gva, target, true) == 0,
                 "waiting in a barrier failed");
}

uint32_t actor_random(struct actor *me)
{
    me->seed = me->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(me->seed >> 33);
}

int actor_put(struct actor *me, const struct bcs_node_set *dests, uint64_t gva,
              const void *src, size_t n_bytes, uint64_t remote_event_gva)
{
    uint64_t event_gva = me->world->put_gvas[me->index];
    struct bcs_xfer xfer = {
        .src = src,
        .n_bytes = n_bytes,
        .dest_gva = gva,
        .dests = dests,
        .local_event_gva = event_gva,
        .remote_event_gva = remote_event_gva,
    };
    int rc;

    rc = bcs_xfer_and_signal_blocking(me->core, &xfer);
    if (rc == 0) {
        rc = bcs_test_event(me->core, event_gva, me->n_puts + 1, true);
        me->n_puts += rc == 0; /* one that fails late signals nothing */
    }
    return rc;
}

void actor_put_word(struct actor *me, const struct bcs_node_set *dests, uint64_t gva,
                    uint64_t value)
{
    actor_expect(me, actor_put(me, dests, gva, &value, sizeof(value), 0) == 0,
                 "a put failed");
}

bool actor_query(struct actor *me, const struct bcs_node_set *dests, uint64_t gva,
                 uint64_t value)
{
    struct bcs_comparison comparison = {
        .variable_gva = gva,
        .op = BCS_COMPARE_EQ,
        .value = value,
        .dests = dests,
    };
    bool is_true = false;

    actor_expect(me, bcs_compare_and_write(me->core, &comparison, &is_true) == 0,
                 "a query failed");
    return is_true;
}

bool actor_swap(struct actor *me, const struct bcs_node_set *dests, uint64_t gva,
                uint64_t value, uint64_t new_value)
{
    struct bcs_comparison comparison = {
        .variable_gva = gva,
        .op = BCS_COMPARE_EQ,
        .value = value,
        .dests = dests,
        .write_gva = gva,
        .write_value = new_value,
    };
    bool is_true = false;

    actor_expect(me, bcs_compare_and_write(me->core, &comparison, &is_true) == 0,
                 "a compare-and-write failed");
    return is_true;
}

struct bcs_node_set set_of_mask(uint32_t mask)
{
    static uint64_t marks[2 << WORLD_N_NODES];

    ck_assert_uint_lt(mask, 2 << WORLD_N_NODES);
    __atomic_store_n(&marks[mask], mask, __ATOMIC_RELAXED); /* threads store the same */
    return bcs_node_set_marked(&marks[mask],
                               mask == 0 ? 0 : 32 - (uint32_t)__builtin_clz(mask));
}

struct bcs_node_set set_of_two(uint32_t a, uint32_t b)
{
    return set_of_mask(1u << a | 1u << b);
}

uint64_t word_on(const struct bcs_core *core, uint64_t gva)
{
    /* Pairs with the release store of an aligned word by a put. */
    return __atomic_load_n((uint64_t *)bcs_core_address(core, gva), __ATOMIC_ACQUIRE);
}
