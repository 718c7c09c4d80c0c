/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fixture of the engine tests.
 */
#include "tests/engine/job.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/api/collective/plan.h"
#include "libbcs/api/message/post.h"
#include "libbcs/api/movers.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/session/mapping.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/roles.h"
#include "nic_threads/roles/turn.h"

enum {
    N_CPUS = 2,
    SPIN_TICKS = 5000,
    STAY_TICKS = 20000, /* soon: they are to sleep, too */
    SLICE_NS = 50000,
    SLICE_TICKS = 100000,
    N_PRINTED_ERRORS = 20
};

static void *shared_map(size_t n_bytes)
{
    void *base = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    ck_assert_ptr_ne(base, MAP_FAILED);
    return base;
}

/* Short chunks and slices, so that long messages take several of them. */
static void configure(struct job *job)
{
    const struct job_shape *shape = &job->shape;
    char error[256];

    ck_assert_int_eq(
        bcs_config_read(&nic_config_table, &job->config, error, sizeof(error)), 0);
    job->config.node_ranks = shape->node_ranks;
    job->config.copy = shape->is_direct ? NIC_COPY_AUTO : NIC_COPY_POOLED;
    job->config.strobe = shape->is_timed ? NIC_STROBE_TIMED : NIC_STROBE_DEMAND;
    job->config.slice_ns = SLICE_NS;
    job->config.driver = shape->has_crew ? NIC_DRIVER_THREADS : NIC_DRIVER_INLINE;
    job->config.buffering = shape->buffering;
    job->config.chunk_bytes = shape->chunk_bytes != 0 ? shape->chunk_bytes : 48 << 10;
    job->config.slice_bytes = 128 << 10;
    job->config.record = shape->record;
    if (shape->limits != NULL) {
        const char *bad;

        ck_assert(bcs_limits_parse(shape->limits, &job->config.limits, &bad));
    }
    if (shape->defer != 0) {
        job->config.defer = shape->defer;
    }
    job->config.far = shape->is_threaded ? 0 : shape->far;
    job->config.far_map = shape->is_threaded ? NIC_FAR_BLOCK : shape->far_map;
    if (shape->descriptors > 0) {
        job->config.descriptors = shape->descriptors;
    }
}

static struct bcs_memory *job_memory(const struct nic_config *config,
                                     const struct nic_layout *layout)
{
    struct bcs_memory_params params = {
        .transport = nic_config_transport(config, false),
        .n_nodes = layout->n_nodes,
        .heap_bytes = layout->heap_bytes,
        .whole_bytes = layout->whole_bytes,
        .window_bytes = config->limits.window,
        .seed = config->defer,
    };
    struct bcs_memory *memory;

    params.makes = bcs_node_set_range(0, layout->n_nodes);
    ck_assert_int_eq(bcs_memory_create(&params, &memory), 0);
    return memory;
}

static void job_init(struct job *job, const struct job_shape *shape)
{
    struct nic_layout layout;
    pthread_barrierattr_t attributes;

    *job = (struct job){.shape = *shape, .shared = shared_map(sizeof(*job->shared))};
    configure(job);
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&job->shared->barrier, &attributes, shape->n_ranks);
    if (shape->is_threaded) {
        ck_assert_int_eq(nic_engine_layout(shape->n_ranks, &job->config, &layout), 0);
        job->memory = job_memory(&job->config, &layout);
    }
}

static void job_fini(struct job *job)
{
    bcs_memory_destroy(job->memory);
    pthread_barrier_destroy(&job->shared->barrier);
    munmap(job->shared, sizeof(*job->shared));
}

/* What bcs_attach does, but over memory that is mapped already: once for all threads,
 * so that a word has one address. Collective only in that all must be made before
 * anyone takes a turn. */
static int job_context_create(const struct job *job, uint32_t rank,
                              struct bcs_context **context_out)
{
    struct bcs_context *context = calloc(1, sizeof(*context));
    const struct nic_engine_params params = {
        .memory = job->memory,
        .machine = &job->shared->machine,
        .n_ports = job->shape.n_ranks,
        .port = rank,
        .config = &context->config,
        .is_direct = job->shape.is_direct,
    };
    int rc = -ENOMEM;

    if (context == NULL) {
        return rc;
    }
    context->config = job->config;
    context->rank = context->port = rank;
    context->size = job->shape.n_ranks;
    context->movers = bcs_movers;
    context->find_needs = bcs_plans_find_needs;
    rc = nic_engine_create(&params, &context->engine);
    if (rc == 0) {
        rc = bcs_post_init(context);
    }
    if (rc == 0) {
        rc = bcs_stand_init(context);
    }
    if (rc < 0) {
        bcs_detach(context);
        return rc;
    }
    context->poster.port->pid = getpid();
    context->poster.port->rank = rank;
    if (rank == 0) {
        context->engine->machine->n_cpus =
            job->shape.n_cpus != 0 ? job->shape.n_cpus : N_CPUS;
        context->engine->machine->n_ports = context->size;
        context->engine->machine->n_sharing = job->shape.n_sharing;
        context->engine->machine->began = bcs_clock_moment();
        context->engine->machine->slice_ticks = SLICE_TICKS;
    }
    context->driver = nic_driver_find(&context->config);
    *context_out = context;
    return 0;
}

static void rank_init(struct rank *me, struct job *job, struct bcs_context *context)
{
    uint32_t *ports = calloc(context->size, sizeof(*ports));
    uint32_t *ranks = calloc(context->size, sizeof(*ranks));

    if (ports == NULL || ranks == NULL) {
        abort();
    }
    *me = (struct rank){
        .job = job,
        .context = context,
        .rank = (int32_t)context->rank,
        .size = (int32_t)context->size,
        .seed = context->rank + 1,
        .ports = ports,
        .ranks = ranks,
    };
    context->engine->spin_ticks = SPIN_TICKS;
    context->engine->stay_ticks = STAY_TICKS;
    me->world = (struct bcs_group){
        .context_id = 2,
        .rank = me->rank,
        .size = me->size,
        .ports = ports,
        .ranks = ranks,
    };
    for (uint32_t i = 0; i < context->size; i++) {
        ports[i] = nic_engine_port_of(context->engine, i);
        ranks[i] = i;
        me->world.n_local += nic_layout_node(&context->engine->layout, ports[i]) ==
                             context->engine->home;
    }
}

static void rank_fini(struct rank *me)
{
    bcs_detach(me->context);
    free(me->ports);
    free(me->ranks);
}

void job_open(struct job *job, const struct job_shape *shape, struct rank ranks[])
{
    job_init(job, shape);
    for (uint32_t i = 0; i < shape->n_ranks; i++) {
        struct bcs_context *context;

        ck_assert_int_eq(job_context_create(job, i, &context), 0);
        rank_init(&ranks[i], job, context);
    }
}

void job_open_awake(struct job *job, uint32_t n_ranks, struct rank ranks[])
{
    const struct job_shape shape = {
        .n_ranks = n_ranks,
        .is_direct = true,
        .is_threaded = true,
        .n_cpus = 2 * n_ranks,
    };

    job_open(job, &shape, ranks);
    for (uint32_t i = 0; i < n_ranks; i++) {
        ranks[i].context->engine->spin_ticks = UINT64_MAX;
        ranks[i].context->engine->stay_ticks = UINT64_MAX;
    }
}

struct nic_engine *job_open_background(const struct job *job, bool is_mover)
{
    const struct nic_engine_params params = {
        .memory = job->memory,
        .machine = &job->shared->machine,
        .n_ports = job->shape.n_ranks,
        .config = &job->config,
        .is_direct = job->shape.is_direct,
        .is_background = true,
        .is_mover = is_mover,
    };
    struct nic_engine *engine;

    ck_assert_int_eq(nic_engine_create(&params, &engine), 0);
    return engine;
}

void job_turn(struct nic_engine *engine)
{
    struct nic_view *first = nic_engine_node(engine, 0);

    nic_engine_turn_all(engine);
    for (int i = 0; i < 2 && engine->is_timed && !nic_strobe_sender_has_work(first);
         i++) {
        nic_strobe_sender_open_slice(first);
        nic_engine_turn_all(engine);
    }
}

void job_close(struct job *job, struct rank ranks[])
{
    for (uint32_t i = 0; i < job->shape.n_ranks; i++) {
        rank_fini(&ranks[i]);
    }
    job_fini(job);
}

void rank_open_world(struct rank *me)
{
    rank_expect(me, bcs_group_open(me->context, &me->world, 1) == 0,
                "a group is closed");
}

/* ---- threads */

struct thread_start {
    struct job *job;
    uint32_t rank;
    rank_fn fn;
};

/** As bcs_attach does, once all have set up their nodes. */
static void open_service(struct rank *me)
{
    const struct nic_engine_params params = {
        .memory = me->job->memory,
        .machine = &me->job->shared->machine,
        .n_ports = me->job->shape.n_ranks,
        .port = (uint32_t)me->rank,
        .config = &me->context->config,
        .is_direct = me->job->shape.is_direct,
    };

    rank_expect(me,
                nic_service_open(&params, me->context->driver->serves,
                                 &me->context->service) == 0,
                "the service does not start");
}

static void *thread_main(void *argument)
{
    const struct thread_start *start = argument;
    struct bcs_context *context = NULL;
    struct rank me;

    if (job_context_create(start->job, start->rank, &context) < 0) {
        fprintf(stderr, "no context for rank %u\n", start->rank);
        _exit(1);
    }
    rank_init(&me, start->job, context);
    rank_meet(&me);
    open_service(&me);
    start->fn(&me);
    rank_meet(&me);
    rank_fini(&me);
    return NULL;
}

static void run_threads(struct job *job, rank_fn fn)
{
    struct thread_start starts[JOB_MAX_RANKS];
    pthread_t threads[JOB_MAX_RANKS];

    for (uint32_t i = 0; i < job->shape.n_ranks; i++) {
        starts[i] = (struct thread_start){job, i, fn};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, thread_main, &starts[i]), 0);
    }
    for (uint32_t i = 0; i < job->shape.n_ranks; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* ---- processes */

struct gatherer {
    struct job *job;
    uint32_t rank;
};

static int allgather(void *arg, const void *mine, size_t n_bytes, void *all_out)
{
    const struct gatherer *self = arg;
    struct job_shared *shared = self->job->shared;

    if (n_bytes > JOB_GATHER_BYTES) {
        return -EMSGSIZE;
    }
    memcpy(shared->gathered[self->rank], mine, n_bytes);
    pthread_barrier_wait(&shared->barrier);
    for (uint32_t i = 0; i < self->job->shape.n_ranks; i++) {
        memcpy((char *)all_out + i * n_bytes, shared->gathered[i], n_bytes);
    }
    pthread_barrier_wait(&shared->barrier);
    return 0;
}

static void process_main(struct job *job, uint32_t rank, rank_fn fn)
{
    struct gatherer self = {job, rank};
    const struct bcs_bootstrap bootstrap = {
        .rank = rank,
        .size = job->shape.n_ranks,
        .n_near = job->shape.n_ranks,
        .arg = &self,
        .allgather = allgather,
    };
    struct nic_config config = job->config;
    struct bcs_port_map *map = NULL;
    struct bcs_context *context = NULL;
    struct rank me;

    if (bcs_mapping_find(&bootstrap, &config, &map) < 0 ||
        bcs_attach(&bootstrap, &config, map, &(struct bcs_hooks){0}, &context) < 0) {
        fprintf(stderr, "rank %u cannot attach\n", rank);
        _exit(1);
    }
    rank_init(&me, job, context);
    fn(&me);
    rank_meet(&me); /* it may host what the others need */
    rank_fini(&me);
}

/* A rank that fails may leave the others waiting for it; they die with the test. */
static void run_processes(struct job *job, rank_fn fn)
{
    fflush(NULL);
    for (uint32_t i = 0; i < job->shape.n_ranks; i++) {
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            process_main(job, i, fn);
            _exit(0);
        }
    }
    for (uint32_t i = 0; i < job->shape.n_ranks; i++) {
        int status = -1;

        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
}

void job_run(const struct job_shape *shape, rank_fn fn)
{
    struct job job;
    uint32_t n_errors;

    ck_assert_uint_le(shape->n_ranks, JOB_MAX_RANKS);
    job_init(&job, shape);
    if (shape->is_threaded) {
        run_threads(&job, fn);
    } else {
        run_processes(&job, fn);
    }
    n_errors = atomic_load(&job.shared->n_errors);
    ck_assert_uint_eq(n_errors, 0);
    job_fini(&job);
}

void rank_expect(struct rank *me, bool is_ok, const char *what)
{
    if (!is_ok && atomic_fetch_add(&me->job->shared->n_errors, 1) < N_PRINTED_ERRORS) {
        fprintf(stderr, "rank %d found: %s\n", me->rank, what);
    }
}

void rank_meet(struct rank *me)
{
    pthread_barrier_wait(&me->job->shared->barrier);
}

uint32_t rank_random(struct rank *me)
{
    me->seed = me->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(me->seed >> 33);
}

struct bcs_message rank_message(struct rank *me, int32_t peer, int32_t tag, void *data,
                                size_t n_bytes)
{
    return (struct bcs_message){
        .group = &me->world,
        .data = data,
        .n_bytes = n_bytes,
        .peer = peer,
        .tag = tag,
    };
}
