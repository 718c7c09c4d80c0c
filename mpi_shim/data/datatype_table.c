/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptions of the datatypes in use: a hash table by handle, filled at first
 * use. Called by the shim's entry points in the application's threads.
 *
 * Look-ups take no lock. Entries are only ever added at the head of a chain, and taken
 * out under the lock; their memory is used again for other types but never given back,
 * so that a thread on its way through a chain always stands on an entry. If that entry
 * has moved to another chain meanwhile, the thread may miss the type that it looks for;
 * it then looks again under the lock.
 */
#include "mpi_shim/data/datatype.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "mpi_shim/data/datatype_internal.h"
#include "mpi_shim/real/error.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"

#define BUCKET_BITS 9
#define N_BUCKETS (1u << BUCKET_BITS)

/** One known type. type comes first: its address is the entry's. */
struct entry {
    struct shim_datatype type;
    _Atomic(uintptr_t) key; /* the handle, see key_of_freed; 0 while it is not in use */
    _Atomic(struct entry *) next;
    uint32_t n_holders;
    bool is_freed; /* by the program, but still held */
};

/** All that are known. */
struct shim_types {
    _Atomic(struct entry *) buckets[N_BUCKETS];
    pthread_mutex_t lock; /* for all changes, n_holders and is_freed */
    struct entry *unused;
};

static _Atomic(struct entry *) *bucket_of(MPI_Datatype handle)
{
    uint64_t mixed = (uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);

    return &shim_state.types->buckets[mixed >> (64 - BUCKET_BITS)];
}

/* The acquire loads pair with the release stores of insert. */
static inline struct entry *search(MPI_Datatype handle, uintptr_t key)
{
    struct entry *entry = atomic_load_explicit(bucket_of(handle), memory_order_acquire);

    while (entry != NULL &&
           atomic_load_explicit(&entry->key, memory_order_acquire) != key) {
        entry = atomic_load_explicit(&entry->next, memory_order_acquire);
    }
    return entry;
}

static struct entry *lookup(MPI_Datatype handle)
{
    return search(handle, (uintptr_t)handle);
}

/* Of a type that the program has freed, and that somebody holds: it is not to be found
 * any more, though the real library still has it. */
static uintptr_t key_of_freed(MPI_Datatype handle)
{
    return (uintptr_t)handle | 1;
}

static bool is_freed(MPI_Datatype handle)
{
    return search(handle, key_of_freed(handle)) != NULL;
}

/* Under the lock. */
static struct entry *insert(const struct shim_datatype *type)
{
    _Atomic(struct entry *) *bucket = bucket_of(type->handle);
    struct shim_types *types = shim_state.types;
    struct entry *entry = types->unused;

    if (entry != NULL) {
        types->unused = atomic_load_explicit(&entry->next, memory_order_relaxed);
    } else {
        entry = calloc(1, sizeof(*entry));
        if (entry == NULL) {
            return NULL;
        }
    }
    entry->type = *type;
    entry->n_holders = 0;
    entry->is_freed = false;
    atomic_store_explicit(&entry->key, (uintptr_t)type->handle, memory_order_release);
    atomic_store_explicit(&entry->next,
                          atomic_load_explicit(bucket, memory_order_relaxed),
                          memory_order_release);
    atomic_store_explicit(bucket, entry, memory_order_release);
    return entry;
}

/* Take an entry out of its chain, under the lock; it may still be held. */
static void unlink_entry(struct entry *entry)
{
    _Atomic(struct entry *) *link = bucket_of(entry->type.handle);

    while (atomic_load_explicit(link, memory_order_relaxed) != entry) {
        link = &atomic_load_explicit(link, memory_order_relaxed)->next;
    }
    atomic_store_explicit(link,
                          atomic_load_explicit(&entry->next, memory_order_relaxed),
                          memory_order_release);
    atomic_store_explicit(&entry->key, 0, memory_order_release);
}

/* Under the lock, after unlink_entry and when nobody holds it. */
static void recycle(struct entry *entry)
{
    free(entry->type.layout);
    entry->type.layout = NULL;
    atomic_store_explicit(&entry->next, shim_state.types->unused, memory_order_release);
    shim_state.types->unused = entry;
}

static int insert_predefined(const struct shim_predefined_type *predefined)
{
    MPI_Datatype handle = shim_handle_find(predefined->symbol);
    struct shim_datatype type;
    int status;

    if (handle == NULL || lookup(handle) != NULL) {
        return 0;
    }
    shim_datatype_measure(handle, &type);
    if (type.size == 0) {
        return 0; /* a Fortran type that the library was built without */
    }
    status = shim_datatype_look_inside(&type);
    if (status != 0) {
        return status;
    }
    type.is_predefined = true;
    type.reduce_ops = predefined->ops;
    type.reduce_type = shim_number_reduce_type(predefined->number, type.size);
    return insert(&type) != NULL ? 0 : -ENOMEM;
}

int shim_datatype_setup(void)
{
    int status;

    shim_state.types = calloc(1, sizeof(*shim_state.types));
    if (shim_state.types == NULL) {
        return -ENOMEM;
    }
    pthread_mutex_init(&shim_state.types->lock, NULL);
    status = shim_pack_setup();
    for (const struct shim_predefined_type *predefined = shim_predefined_types;
         status == 0 && predefined->symbol != NULL; predefined++) {
        status = insert_predefined(predefined);
    }
    return status;
}

static void free_chain(struct entry *entry)
{
    while (entry != NULL) {
        struct entry *next = atomic_load_explicit(&entry->next, memory_order_relaxed);

        free(entry->type.layout);
        free(entry);
        entry = next;
    }
}

void shim_datatype_teardown(void)
{
    struct shim_types *types = shim_state.types;

    for (unsigned i = 0; i < N_BUCKETS; i++) {
        free_chain(atomic_load_explicit(&types->buckets[i], memory_order_relaxed));
    }
    free_chain(types->unused);
    pthread_mutex_destroy(&types->lock);
    free(types);
    shim_state.types = NULL;
}

static struct entry *find_slowly(MPI_Datatype handle)
{
    struct shim_datatype type;
    struct entry *entry;

    pthread_mutex_lock(&shim_state.types->lock);
    entry = lookup(handle);
    if (entry == NULL && !is_freed(handle) &&
        shim_datatype_describe(handle, &type) == 0) {
        entry = insert(&type);
        if (entry == NULL) {
            free(type.layout);
        }
    }
    pthread_mutex_unlock(&shim_state.types->lock);
    return entry;
}

const struct shim_datatype *shim_datatype_find(MPI_Datatype handle)
{
    struct entry *entry = lookup(handle);

    if (entry == NULL && handle != NULL && handle != shim_handles.datatype_null) {
        entry = find_slowly(handle);
    }
    return entry != NULL ? &entry->type : NULL;
}

static struct entry *entry_of(const struct shim_datatype *type)
{
    return (struct entry *)(uintptr_t)type;
}

void shim_datatype_hold(const struct shim_datatype *type)
{
    if (type->is_predefined) {
        return;
    }
    pthread_mutex_lock(&shim_state.types->lock);
    entry_of(type)->n_holders++;
    pthread_mutex_unlock(&shim_state.types->lock);
}

void shim_datatype_release(const struct shim_datatype *type)
{
    struct entry *entry = entry_of(type);
    MPI_Datatype handle = type->handle;
    bool is_last;

    if (type->is_predefined) {
        return;
    }
    pthread_mutex_lock(&shim_state.types->lock);
    entry->n_holders--;
    is_last = entry->n_holders == 0 && entry->is_freed;
    if (is_last) {
        unlink_entry(entry);
        recycle(entry);
    }
    pthread_mutex_unlock(&shim_state.types->lock);
    if (is_last) {
        shim_real.Type_free(&handle);
    }
}

int shim_datatype_free(MPI_Datatype *handle)
{
    struct entry *entry;
    bool is_held = false, was_freed;

    if (handle == NULL || *handle == NULL) {
        return shim_real.Type_free(handle);
    }
    pthread_mutex_lock(&shim_state.types->lock);
    entry = lookup(*handle);
    was_freed = entry == NULL && is_freed(*handle);
    if (entry != NULL && !entry->type.is_predefined) {
        is_held = entry->n_holders > 0;
        if (is_held) {
            entry->is_freed = true;
            atomic_store_explicit(&entry->key, key_of_freed(*handle),
                                  memory_order_release);
        } else {
            unlink_entry(entry);
            recycle(entry);
        }
    }
    pthread_mutex_unlock(&shim_state.types->lock);
    if (was_freed) {
        return shim_error(NULL, MPI_ERR_TYPE);
    }
    if (is_held) {
        *handle = shim_handles.datatype_null;
        return MPI_SUCCESS;
    }
    return shim_real.Type_free(handle);
}
