/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that go to the real library. The counters are written by every thread that
 * makes such a call; the progress hook is called by whatever thread progresses the real
 * library. Within shim_progress_real and shim_test_real it does nothing, since their
 * caller runs the engine anyway.
 *
 * A call in which the real library may wait for others is "outside". One that lasts
 * tells where it stands, as something of which nobody here knows how it ends, and takes
 * that back when it is over.
 *
 * A rank that waits in the real library calls those that sleep in us (external.h). What
 * cannot call: processes of other jobs, once there are any. From then on a rank that
 * waits in us looks after the real library now and then by itself.
 *
 * opal_progress and what belongs to it are functions of Open MPI's lower library, which
 * has come with libmpi; they are looked up by name.
 */
#include "mpi_shim/real/fallback.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "libbcs/api/message/external.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/notice.h"
#include "mpi_shim/real/door.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"

/* What a thread is doing in the real library. */
static _Thread_local struct {
    uint32_t depth;     /* passed calls under way: more than 1 are the library's own */
    uint32_t n_outside; /* calls under way that may wait in there, one in another */
    uint32_t n_hooks;   /* calls of the progress hook */
    uint64_t since_ns;  /* when the outermost began; 0: the progress hook will say */
    struct bcs_waiter waiter; /* by which it has told where it stands */
    bool is_poking;           /* inside shim_progress_real */
} thread __attribute__((tls_model("initial-exec")));

/* Calls of the hook of which one does something, since others wait for the real
 * library's next look; where there are more processes than cores, each does, as it
 * yields then. */
enum { HOOKS_A_TURN = 16 };

typedef int (*shim_progress_fn)(void);

/* Whether a function connects this process with others that are not of its job. */
static bool shim_pass_connects(enum shim_function function)
{
    switch (function) {
    case SHIM_FN_Comm_spawn:
    case SHIM_FN_Comm_spawn_multiple:
    case SHIM_FN_Comm_accept:
    case SHIM_FN_Comm_connect:
    case SHIM_FN_Comm_join:
        return true;
    default:
        return false;
    }
}

void shim_pass_connected(void)
{
    shim_enter();
    bcs_wait_sleep_short(shim_context());
    bcs_notice(BCS_NOTICE_SHORT_SLEEPS, "there are processes of another job");
    shim_leave();
}

void shim_outside_begin(void)
{
    if (thread.n_outside++ == 0) {
        thread.since_ns = 0;
        thread.waiter.since_ticks = 0;
    }
}

void shim_outside_end(void)
{
    if (--thread.n_outside == 0 && thread.waiter.stand != 0) {
        shim_enter();
        bcs_stand_withdraw(shim_context(), &thread.waiter);
        shim_leave();
    }
}

void shim_pass_begin(enum shim_function function)
{
    shim_outside_begin();
    if (thread.depth++ > 0 || !shim_state.gate.is_active) {
        return;
    }
    /* relaxed: statistics */
    if (atomic_fetch_add_explicit(&shim_state.n_passed[function], 1,
                                  memory_order_relaxed) == 0) {
        bcs_notice(BCS_NOTICE_PASSED, "BCS does not carry %s",
                   shim_function_names[function]);
    }
    if (__builtin_expect(shim_pass_connects(function), 0)) {
        shim_pass_connected();
    }
}

void shim_pass_end(void)
{
    thread.depth--;
    shim_outside_end();
}

void shim_pass_counts(uint64_t *counts_out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        /* relaxed: read in MPI_Finalize, when no other thread may be in MPI */
        counts_out[i] =
            atomic_load_explicit(&shim_state.n_passed[i], memory_order_relaxed);
    }
}

void shim_progress_real(void)
{
    if (shim_state.progress.poke != NULL && !thread.is_poking) {
        thread.is_poking = true;
        shim_state.progress.poke();
        thread.is_poking = false;
    }
}

bool shim_test_real(MPI_Request *request)
{
    bool was_poking = thread.is_poking;
    int flag = 0;

    thread.is_poking = true;
    shim_real.Test(request, &flag, MPI_STATUS_IGNORE);
    thread.is_poking = was_poking;
    return flag != 0;
}

/** Tell, once, where the call stands in which this thread is outside. */
static void tell_outside(void)
{
    static const struct bcs_stand_about outside = {
        .kind = BCS_STAND_FOREIGN, .peer = -1, .tag = -1};

    if (thread.n_outside > 0 && thread.waiter.stand == 0 && shim_enter_at_once()) {
        if (bcs_stand_is_due(shim_context(), &thread.waiter)) {
            bcs_stand_at(shim_context(), &thread.waiter, &outside);
        }
        shim_leave();
    }
}

static int shim_progress_hook(void)
{
    if (thread.is_poking) {
        return 1; /* as if there were something to do: our caller yields by itself */
    }
    if (shim_state.progress.callback != NULL &&
        (++thread.n_hooks % HOOKS_A_TURN == 0 ||
         bcs_context_is_crowded(shim_context()))) {
        shim_state.progress.callback();
        bcs_external_call(shim_context(), &thread.since_ns);
        tell_outside();
    }
    return 0;
}

/* Store the function behind a name at function_out; false if there is none. */
static bool shim_progress_find(const char *name, void *function_out)
{
    void *symbol = shim_symbol_find(name);

    memcpy(function_out, &symbol, sizeof(symbol));
    return symbol != NULL;
}

/** With more processes than cores, have the real library yield between two looks. Its
 *  launcher tells it to if it counts cores; with a hostfile or a batch system it counts
 *  what it is told, and a rank that waits in there then keeps its core for a whole turn
 *  of the kernel's scheduler. */
static void yield_when_idle(void)
{
    bool (*set)(bool);

    if (bcs_context_is_oversubscribed(shim_context()) &&
        shim_progress_find("opal_progress_set_yield_when_idle", &set)) {
        set(true);
    }
}

int shim_progress_hook_install(void (*callback)(void))
{
    int (*do_register)(shim_progress_fn);

    if (!shim_progress_find("opal_progress", &shim_state.progress.poke) ||
        !shim_progress_find("opal_progress_register", &do_register)) {
        return -ENOSYS;
    }
    yield_when_idle();
    shim_state.progress.callback = callback;
    if (do_register(shim_progress_hook) != 0) {
        shim_state.progress.callback = NULL;
        return -ENOSYS;
    }
    return 0;
}

void shim_progress_hook_remove(void)
{
    memset(&shim_state.progress, 0, sizeof(shim_state.progress));
}
