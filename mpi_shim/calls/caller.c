/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who has called the Fortran bindings, or mpi4py; see caller.h.
 *
 * A frame is taken apart by the unwinder once only for each place in the bindings that
 * calls us: how far the frame's own return address is from that of the call is the same
 * each time, since these functions have frames of a fixed length. That distance is kept
 * by the place, which is then two loads away. A frame where nothing was found out keeps
 * the distance 0, and the place is in the bindings. Where a return address is not on
 * the stack (other processors), all are.
 *
 * Entries of the table are added under a lock and never changed: address, stored last,
 * publishes the distance.
 */
#include "mpi_shim/calls/caller.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "mpi_shim/calls/python_place.h"

enum { RANGES_MOST = 8, FRAMES_MOST = 1024, DEPTH_MOST = 4 };

/** The code of a library. */
struct range {
    uintptr_t begin, end;
};

/** A place in the bindings that calls. */
struct frame {
    _Atomic uintptr_t address; /* 0: the entry is free */
    uintptr_t distance; /* of the two return addresses on the stack; 0: unknown */
};

struct shim_callers {
    struct range bindings[RANGES_MOST];
    uint32_t n_bindings;
    uint32_t n_frames;
    struct shim_python_places *python; /* NULL: there is none */
    pthread_mutex_t lock;              /* of those who add frames */
    struct frame frames[FRAMES_MOST];
};

/** Whether a file has bindings: all of Open MPI's are called so, the library itself is
 *  not. */
static bool is_binding(const char *path)
{
    const char *name = strrchr(path, '/');

    return strncmp(name == NULL ? path : name + 1, "libmpi_", strlen("libmpi_")) == 0;
}

/** A dl_iterate_phdr function. */
static int add_bindings(struct dl_phdr_info *info, size_t n_bytes, void *arg)
{
    struct shim_callers *callers = arg;

    (void)n_bytes;
    for (int i = 0; is_binding(info->dlpi_name) && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 &&
            callers->n_bindings < RANGES_MOST) {
            uintptr_t begin = info->dlpi_addr + segment->p_vaddr;

            callers->bindings[callers->n_bindings++] =
                (struct range){begin, begin + segment->p_memsz};
        }
    }
    return 0;
}

void shim_caller_setup(void)
{
    struct shim_callers *callers = calloc(1, sizeof(*callers));

    if (callers == NULL) {
        return; /* whatever calls us is the place, then */
    }
    dl_iterate_phdr(add_bindings, callers);
    callers->python = shim_python_places_make();
    if (callers->n_bindings == 0 && callers->python == NULL) {
        free(callers);
        return;
    }
    pthread_mutex_init(&callers->lock, NULL);
    shim_state.callers = callers;
}

void shim_caller_teardown(void)
{
    struct shim_callers *callers = shim_state.callers;

    shim_state.callers = NULL;
    if (callers != NULL) {
        shim_python_places_free(callers->python);
        pthread_mutex_destroy(&callers->lock);
        free(callers);
    }
}

static bool is_in_bindings(const struct shim_callers *callers, uintptr_t address)
{
    for (uint32_t i = 0; i < callers->n_bindings; i++) {
        if (address >= callers->bindings[i].begin &&
            address < callers->bindings[i].end) {
            return true;
        }
    }
    return false;
}

#ifdef __x86_64__

/** A frame that is looked for. */
struct search {
    uintptr_t address, slot; /* where it goes on, and where that stands */
    bool is_found;
    uintptr_t next_slot; /* where that of the next frame stands; 0: not found */
};

/** An _Unwind_Backtrace function. What the unwinder calls the address of a frame is
 *  where the stack was before the call to the frame below it: behind the return address
 *  into it. */
static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *arg)
{
    struct search *search = arg;
    uintptr_t slot = _Unwind_GetCFA(context) - sizeof(uintptr_t);

    if (search->is_found) {
        search->next_slot = slot;
        return _URC_NORMAL_STOP;
    }
    search->is_found =
        _Unwind_GetIP(context) == search->address && slot == search->slot;
    return _URC_NO_REASON;
}

/** How far a frame's own return address is above slot, where the one of its call is. */
static uintptr_t measure(uintptr_t address, uintptr_t slot)
{
    struct search search = {.address = address, .slot = slot};

    _Unwind_Backtrace(look_at_frame, &search);
    return search.next_slot > slot ? search.next_slot - slot : 0;
}

#else

static uintptr_t measure(uintptr_t address, uintptr_t slot)
{
    (void)address;
    (void)slot;
    return 0;
}

#endif

/** The entry of a place, or the free one where it would be. */
static struct frame *find_frame(struct shim_callers *callers, uintptr_t address)
{
    uint32_t i = (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % FRAMES_MOST;

    for (;;) {
        /* acquire: pairs with the release in add_frame */
        uintptr_t found =
            atomic_load_explicit(&callers->frames[i].address, memory_order_acquire);
        if (found == address || found == 0) {
            return &callers->frames[i];
        }
        i = (i + 1) % FRAMES_MOST;
    }
}

/** @return the distance of a place that was not known; 0 if it cannot be told */
static uintptr_t add_frame(struct shim_callers *callers, uintptr_t address,
                           uintptr_t slot)
{
    uintptr_t distance = measure(address, slot);
    struct frame *frame;

    pthread_mutex_lock(&callers->lock);
    frame = find_frame(callers, address);
    /* relaxed: entries change under the lock only. One stays free for searches to
     * end. */
    if (atomic_load_explicit(&frame->address, memory_order_relaxed) == 0 &&
        callers->n_frames < FRAMES_MOST - 1) {
        callers->n_frames++;
        frame->distance = distance;
        /* release: pairs with the acquire in find_frame */
        atomic_store_explicit(&frame->address, address, memory_order_release);
    }
    pthread_mutex_unlock(&callers->lock);
    return distance;
}

const void *shim_caller_outside(const void *address, const void *cfa,
                                const char **words_out)
{
    struct shim_callers *callers = shim_state.callers;
    uintptr_t at = (uintptr_t)address;
    uintptr_t slot = (uintptr_t)cfa - sizeof(uintptr_t);

    for (int depth = 0; depth < DEPTH_MOST && is_in_bindings(callers, at); depth++) {
        struct frame *frame = find_frame(callers, at);
        /* acquire: as in find_frame, which may have found it free before */
        uintptr_t distance =
            atomic_load_explicit(&frame->address, memory_order_acquire) == at
                ? frame->distance
                : add_frame(callers, at, slot);

        if (distance == 0) {
            break;
        }
        slot += distance;
        at = *(const uintptr_t *)slot;
    }
    return (const void *)(callers->python == NULL
                              ? at
                              : shim_python_place(callers->python, at, words_out));
}
