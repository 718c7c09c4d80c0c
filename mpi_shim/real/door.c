/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The door to the API. Run by every thread of the program that calls MPI.
 *
 * With MPI_THREAD_MULTIPLE threads take turns under a lock, which waits let go now and
 * then.
 *
 * Below, one thread enters and leaves, the owner, which has initialised MPI, and takes
 * no lock: `free_for` is its own pointer while it is outside, and NULL while it is
 * inside; so one comparison finds all who should not be here, and no thread but the
 * owner makes it that pointer.
 *
 * - Another thread, while the owner is outside. With MPI_THREAD_SERIALIZED it may, and
 *   is the owner from then on: the program sees to it that the two do not meet. Else it
 *   is told of.
 * - Another thread, while the owner is inside: it is told of. It waits until the owner
 *   leaves, or is at a place in a wait where it lets others in, as with
 *   MPI_THREAD_MULTIPLE; a sleeping owner is woken. From then on all take turns under
 *   the lock. An owner that is just on its way in, between the comparison and the
 *   store, is not seen: two calls may then meet once, as they do natively.
 * - The owner once more: a handler of a signal calls, within a call. Natively that
 *   works as long as the call waits, and so it does here, without a lock. Or the last
 *   call was left by longjmp: then it is nowhere on the stack any more, and what it had
 *   taken is given back.
 */
#include "mpi_shim/real/door.h"

#include <sys/auxv.h>
#include <unistd.h>
#include <unwind.h>

#include "libbcs/api/message/misuse.h"
#include "libbcs/api/message/turns.h"
#include "libbcs/fabric/base/park.h"
#include "mpi_shim/real/state.h"

#define GUEST_NS 20000u    /* between two looks whether the owner lets somebody in */
enum { START_BYTES = 64 }; /* of the function in which a program starts, at least */

/* Of this library, by the linker. */
extern const char __ehdr_start[], etext[];

/* Calls of handlers within a call of this thread. */
static _Thread_local uint32_t n_nested __attribute__((tls_model("initial-exec")));

static void *self(void)
{
    return __builtin_thread_pointer();
}

/** Take the lock. */
static void take(void)
{
    atomic_fetch_add_explicit(&shim_state.n_at_door, 1, memory_order_relaxed);
    pthread_mutex_lock(&shim_state.door.lock);
    atomic_fetch_sub_explicit(&shim_state.n_at_door, 1, memory_order_relaxed);
    /* relaxed: only compared with oneself */
    atomic_store_explicit(&shim_state.door.holder, self(), memory_order_relaxed);
}

static bool holds(void)
{
    return atomic_load_explicit(&shim_state.door.holder, memory_order_relaxed) ==
           self();
}

static void give(void)
{
    atomic_store_explicit(&shim_state.door.holder, NULL, memory_order_relaxed);
    pthread_mutex_unlock(&shim_state.door.lock);
}

/* ----------------------------------------------------------------- between two
 * turns */

/** Hook: whether a thread waits to be let in. */
static bool is_wanted(void)
{
    return atomic_load_explicit(&shim_state.n_at_door, memory_order_relaxed) > 0;
}

/** Hook: let one in. The owner, which has no lock, says where it stands before, for who
 *  is to tell of it. */
static void let_in(void)
{
    struct shim_door *door = &shim_state.door;

    if (holds()) {
        give();
    } else if (!atomic_load_explicit(&door->has_let_in, memory_order_relaxed)) {
        bcs_misuse_stand(shim_context(), &door->placed);
        /* release: pairs with the acquire in await_owner */
        atomic_store_explicit(&door->has_let_in, true, memory_order_release);
    }
}

/** Hook: come back. An owner that was asked to only now has not let anybody in yet. */
static void come_back(void)
{
    if (shim_is_threaded() ||
        atomic_load_explicit(&shim_state.door.has_let_in, memory_order_relaxed)) {
        take();
    }
}

static const struct bcs_turns turns = {
    .is_wanted = is_wanted,
    .pause = let_in,
    .resume = come_back,
    .door = &shim_state.door.lock,
};

void shim_door_add_hooks(struct bcs_hooks *hooks)
{
    hooks->turns = &turns;
}

void shim_door_open(int level)
{
    struct shim_door *door = &shim_state.door;

    door->level = level;
    door->owner = self();
    door->owner_id = (uint32_t)gettid();
    shim_state.leaving.is_threaded = level == MPI_THREAD_MULTIPLE;
    atomic_store_explicit(&shim_state.free_for,
                          level == MPI_THREAD_MULTIPLE ? NULL : door->owner,
                          memory_order_release);
}

/* --------------------------------------------------- a thread that should not be
 * here */

/** Say once of a process that it uses MPI otherwise than it has said. */
static void tell_guest(void)
{
    const struct shim_door *door = &shim_state.door;
    struct bcs_context *context = shim_context();

    if (!bcs_misuse_is_told(context)) {
        return;
    }
    if (door->level == MPI_THREAD_SERIALIZED) {
        bcs_misuse_tell(context, NULL, "MPI-3.1, 12.4.3: only one at a time may call",
                        "threads %u and %d are in MPI at once, but this rank has "
                        "MPI_THREAD_SERIALIZED",
                        door->owner_id, gettid());
    } else {
        bcs_misuse_tell(context, NULL,
                        "MPI-3.1, 12.4.3: only the thread that has initialised MPI may "
                        "call",
                        "thread %d is in MPI, but this rank has MPI_THREAD_%s: only "
                        "thread %u may call",
                        gettid(),
                        door->level == MPI_THREAD_FUNNELED ? "FUNNELED" : "SINGLE",
                        door->owner_id);
    }
}

/** Wait until the owner is outside, or has let this thread in. */
static void await_owner(void)
{
    struct shim_door *door = &shim_state.door;

    atomic_fetch_add_explicit(&shim_state.n_at_door, 1, memory_order_relaxed);
    bcs_context_ask_in(shim_context(), &turns);
    shim_state.leaving.is_awaited = 1;
    /* seq_cst, acquire: pair with the releases of the owner in shim_leave and let_in */
    while (atomic_exchange_explicit(&shim_state.free_for, NULL, memory_order_seq_cst) ==
               NULL &&
           !atomic_load_explicit(&door->has_let_in, memory_order_acquire)) {
        bcs_context_wake_referee(shim_context());
        bcs_rest(GUEST_NS);
    }
    atomic_fetch_sub_explicit(&shim_state.n_at_door, 1, memory_order_relaxed);
}

/** Enter as another thread than the owner. */
static void enter_as_guest(void)
{
    struct shim_door *door = &shim_state.door;
    void *owner = door->owner;

    pthread_mutex_lock(&door->lock);
    if (shim_is_threaded()) { /* another one has come meanwhile */
        give();
        take();
        return;
    }
    /* seq_cst: pairs with the release of the owner in shim_leave */
    if (door->level == MPI_THREAD_SERIALIZED &&
        atomic_compare_exchange_strong(&shim_state.free_for, &owner, NULL)) {
        door->owner = self();
        door->owner_id = (uint32_t)gettid();
        pthread_mutex_unlock(&door->lock);
        return;
    }
    await_owner();
    atomic_store_explicit(&door->holder, self(), memory_order_relaxed);
    shim_state.leaving.is_threaded = 1;
    bcs_context_take_turns(shim_context());
    tell_guest();
    bcs_misuse_withdraw(shim_context(), &door->placed);
}

/* ------------------------------------------------------------- the same thread
 * again */

/** What is looked for on a stack. */
struct search {
    bool is_outside; /* frames of others have been met */
    uintptr_t last;  /* address of the last one */
};

/** An _Unwind_Backtrace function. Ends where a call of before is still there. */
static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *arg)
{
    struct search *search = arg;
    uintptr_t address = _Unwind_GetIP(context);
    bool is_own = address >= (uintptr_t)__ehdr_start && address < (uintptr_t)etext;

    if (address == 0) { /* the stack ends */
        return _URC_NO_REASON;
    }
    if (search->is_outside && is_own) {
        return _URC_NORMAL_STOP;
    }
    search->is_outside |= !is_own;
    search->last = address;
    return _URC_NO_REASON;
}

/** Whether the call in which this thread was last has been left by longjmp. Only if the
 *  stack is known to its end, the main thread's, is that certain. */
static bool was_left(void)
{
    struct search search = {.last = 0};
    uintptr_t start = getauxval(AT_ENTRY);

    _Unwind_Backtrace(look_at_frame, &search);
    return search.last >= start && search.last - start < START_BYTES;
}

/** Enter although this thread is inside. */
static void enter_again(void)
{
    if (was_left()) {
        n_nested = 0;
        bcs_context_abandon(shim_context());
    } else {
        n_nested++;
    }
    shim_state.leaving.is_nested = n_nested > 0;
    bcs_context_nest(shim_context(), n_nested > 0);
}

/* --------------------------------------------------------------------- in and out */

void shim_enter_slow(void)
{
    if (shim_state.door.owner == NULL) { /* MPI_Init is not over */
        return;
    }
    if (shim_is_threaded() ? holds() : self() == shim_state.door.owner) {
        enter_again();
    } else if (shim_is_threaded()) {
        take();
    } else {
        enter_as_guest();
    }
}

bool shim_enter_at_once(void)
{
    if (!shim_is_threaded()) {
        bool may =
            shim_state.door.level == MPI_THREAD_SERIALIZED ||
            /* relaxed: as in shim_enter */
            atomic_load_explicit(&shim_state.free_for, memory_order_relaxed) == self();

        if (may) {
            shim_enter();
        }
        return may;
    }
    if (holds() || pthread_mutex_trylock(&shim_state.door.lock) != 0) {
        return false;
    }
    atomic_store_explicit(&shim_state.door.holder, self(), memory_order_relaxed);
    return true;
}

void shim_leave_slow(void)
{
    struct shim_door *door = &shim_state.door;

    if (shim_state.at_leave != NULL) {
        shim_state.at_leave();
    }
    if (n_nested > 0) {
        n_nested--;
        shim_state.leaving.is_nested = n_nested > 0;
        bcs_context_nest(shim_context(), n_nested > 0);
    } else if (!shim_is_threaded()) {
        /* release: pairs with the exchange in await_owner */
        atomic_store_explicit(&shim_state.free_for, self(), memory_order_release);
    } else if (holds()) {
        give();
    } else { /* it has entered without a lock */
        atomic_store_explicit(&door->has_let_in, true, memory_order_release);
    }
}
