/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notes of lint.h: a table of objects by their handles, and for each request of
 * ours, by its number in the arena, which call made it. Whether a request is left, the
 * arena knows. Under a lock of its own, as local functions are called by several
 * threads at once.
 */
#include "mpi_shim/calls/lint.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "libbcs/fabric/base/log.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/request/request.h"

enum { N_BUCKETS = 4096, FIRST_REQUESTS = 1024 };

struct shim_lint {
    pthread_mutex_t lock;
    struct shim_lint_origin *requests; /* [n_requests] */
    uint32_t n_requests;
    struct shim_lint_call *calls; /* [n_calls], of n_calls_room */
    uint32_t n_calls, n_calls_room;
    bool is_short; /* of memory, which has been told */
    struct shim_lint_object *buckets[N_BUCKETS];
};

int shim_lint_start(void)
{
    struct shim_lint *lint = calloc(1, sizeof(*lint));

    if (lint == NULL) {
        return -ENOMEM;
    }
    pthread_mutex_init(&lint->lock, NULL);
    shim_state.lint = lint;
    return 0;
}

static struct shim_lint_object **bucket_of(struct shim_lint *lint, uintptr_t handle)
{
    return &lint->buckets[(handle >> 4 ^ handle >> 16 ^ handle) % N_BUCKETS];
}

/** The last object of a kind with a handle, where it hangs. */
static struct shim_lint_object **find(struct shim_lint *lint, enum shim_lint_kind kind,
                                      uintptr_t handle)
{
    struct shim_lint_object **link = bucket_of(lint, handle);

    while (*link != NULL && ((*link)->kind != kind || (*link)->handle != handle)) {
        link = &(*link)->next;
    }
    return link;
}

/** Whether a handle is one that nobody frees. */
static bool is_predefined(enum shim_lint_kind kind, uintptr_t handle)
{
    switch (kind) {
    case SHIM_LINT_COMM:
        return handle == (uintptr_t)shim_handles.comm_null;
    case SHIM_LINT_GROUP:
        return handle == (uintptr_t)shim_handles.group_null ||
               handle == (uintptr_t)shim_handles.group_empty;
    default:
        return false;
    }
}

static void tell_no_memory(struct shim_lint *lint)
{
    if (!lint->is_short) {
        lint->is_short = true;
        bcs_warn(
            "BCS_REFEREE_LINT: no memory to note what the program has made; some of "
            "it will not be told");
    }
}

static void note_object(struct shim_lint *lint, enum shim_lint_kind kind,
                        struct shim_lint_origin origin, uintptr_t handle)
{
    struct shim_lint_object **head = bucket_of(lint, handle);
    struct shim_lint_object *object = malloc(sizeof(*object));

    if (object == NULL) {
        tell_no_memory(lint);
        return;
    }
    *object = (struct shim_lint_object){
        .kind = kind, .handle = handle, .origin = origin, .next = *head};
    *head = object;
}

/** Make room for a request's number. @return whether there is */
static bool make_room(struct shim_lint *lint, uint32_t number)
{
    uint32_t n = lint->n_requests == 0 ? FIRST_REQUESTS : lint->n_requests;
    struct shim_lint_origin *larger;

    while (n <= number) {
        n *= 2;
    }
    larger = n == lint->n_requests ? lint->requests
                                   : realloc(lint->requests, n * sizeof(*larger));
    if (larger == NULL) {
        tell_no_memory(lint);
        return false;
    }
    for (uint32_t i = lint->n_requests; i < n; i++) {
        larger[i] = (struct shim_lint_origin){0};
    }
    lint->requests = larger;
    lint->n_requests = n;
    return true;
}

static void note_request(struct shim_lint *lint, struct shim_lint_origin origin,
                         uintptr_t handle)
{
    const struct shim_request *request = shim_request_find((MPI_Request)handle);
    uint32_t number;

    if (request != NULL) { /* else it is the real library's */
        number = (uint32_t)(request->fortran_handle - SHIM_FORTRAN_BASE);
        if (make_room(lint, number)) {
            lint->requests[number] = origin;
        }
    }
}

void shim_lint_made(enum shim_lint_kind kind, const char *call, uintptr_t handle)
{
    const struct shim_lint_origin origin = {call, mds_call.address, mds_call.words};
    struct shim_lint *lint = shim_state.lint;

    if (lint == NULL || is_predefined(kind, handle)) {
        return;
    }
    pthread_mutex_lock(&lint->lock);
    if (kind == SHIM_LINT_REQUEST) {
        note_request(lint, origin, handle);
    } else if (kind == SHIM_LINT_COMMIT) {
        struct shim_lint_object *type = *find(lint, SHIM_LINT_TYPE, handle);

        if (type != NULL) {
            type->is_committed = true;
        }
    } else {
        note_object(lint, kind, origin, handle);
    }
    pthread_mutex_unlock(&lint->lock);
}

void shim_lint_freed(enum shim_lint_kind kind, uintptr_t handle)
{
    struct shim_lint *lint = shim_state.lint;
    struct shim_lint_object **link, *object;

    if (lint == NULL) {
        return;
    }
    pthread_mutex_lock(&lint->lock);
    link = find(lint, kind, handle);
    object = *link;
    if (object != NULL) {
        *link = object->next;
        free(object);
    }
    pthread_mutex_unlock(&lint->lock);
}

struct shim_lint_origin shim_lint_request_origin(uint32_t number)
{
    const struct shim_lint *lint = shim_state.lint;

    return number < lint->n_requests ? lint->requests[number]
                                     : (struct shim_lint_origin){0};
}

/** Make room for one more collective. @return whether there is */
static bool make_room_for_call(struct shim_lint *lint)
{
    uint32_t n = lint->n_calls_room == 0 ? FIRST_REQUESTS : 2 * lint->n_calls_room;
    struct shim_lint_call *larger;

    if (lint->n_calls < lint->n_calls_room) {
        return true;
    }
    larger = realloc(lint->calls, n * sizeof(*larger));
    if (larger == NULL) {
        tell_no_memory(lint);
        return false;
    }
    lint->calls = larger;
    lint->n_calls_room = n;
    return true;
}

void shim_lint_called(uint64_t context_id, uint8_t sent, uint8_t received)
{
    struct shim_lint *lint = shim_state.lint;

    pthread_mutex_lock(&lint->lock);
    if (lint->n_calls < SHIM_LINT_CALLS_MOST && make_room_for_call(lint)) {
        lint->calls[lint->n_calls++] = (struct shim_lint_call){
            .context_id = context_id,
            .origin = {mds_call.function, mds_call.address, mds_call.words},
            .sent = sent,
            .received = received,
        };
    }
    pthread_mutex_unlock(&lint->lock);
}

const struct shim_lint_call *shim_lint_calls(uint32_t *n_out)
{
    *n_out = shim_state.lint->n_calls;
    return shim_state.lint->calls;
}

void shim_lint_each(void (*look)(const struct shim_lint_object *object, void *arg),
                    void *arg)
{
    for (uint32_t i = 0; i < N_BUCKETS; i++) {
        const struct shim_lint_object *object = shim_state.lint->buckets[i];

        for (; object != NULL; object = object->next) {
            look(object, arg);
        }
    }
}

void shim_lint_stop(void)
{
    struct shim_lint *lint = shim_state.lint;

    shim_state.lint = NULL;
    for (uint32_t i = 0; lint != NULL && i < N_BUCKETS; i++) {
        while (lint->buckets[i] != NULL) {
            struct shim_lint_object *object = lint->buckets[i];

            lint->buckets[i] = object->next;
            free(object);
        }
    }
    if (lint != NULL) {
        pthread_mutex_destroy(&lint->lock);
        free(lint->requests);
        free(lint->calls);
        free(lint);
    }
}
