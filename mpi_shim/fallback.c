/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that go to the real library. The counters are written by every thread that
 * makes such a call; the progress hook is called by whatever thread progresses the real
 * library, and only outside shim_progress_real and shim_test_real, since their caller runs
 * the engine anyway.
 *
 * opal_progress and its registration are functions of Open MPI's lower library, which
 * has come with libmpi; they are looked up by name, and if there is none both sides
 * still work, only not while a rank waits in the other one.
 */
#include "mpi_shim/fallback.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

_Atomic bool shim_foreign_active;

static _Atomic uint64_t shim_pass_count[SHIM_N_FUNCTIONS];

/* Passed calls of this thread that are under way: more than 1 are the library's own. */
static _Thread_local uint32_t shim_pass_depth
    __attribute__((tls_model("initial-exec")));

/* This thread is inside shim_progress_real. */
static _Thread_local bool shim_is_poking __attribute__((tls_model("initial-exec")));

typedef int (*shim_progress_fn)(void);

static struct shim_progress {
    void (*poke)(void);
    int (*unregister)(shim_progress_fn callback);
    shim_progress_fn callback;
} shim_progress;

void shim_pass_begin(enum shim_function function)
{
    if (shim_pass_depth++ > 0 || !shim_symbols_is_active()) {
        return;
    }
    /* relaxed: statistics, and a hint that need not be seen at once */
    atomic_fetch_add_explicit(&shim_pass_count[function], 1, memory_order_relaxed);
    atomic_store_explicit(&shim_foreign_active, true, memory_order_relaxed);
}

void shim_pass_end(void)
{
    shim_pass_depth--;
}

void shim_pass_counts(uint64_t *counts_out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        /* relaxed: read in MPI_Finalize, when no other thread may be in MPI */
        counts_out[i] = atomic_load_explicit(&shim_pass_count[i], memory_order_relaxed);
    }
}

void shim_progress_real(void)
{
    if (shim_progress.poke != NULL && !shim_is_poking) {
        shim_is_poking = true;
        shim_progress.poke();
        shim_is_poking = false;
    }
}

bool shim_test_real(MPI_Request *request)
{
    bool was_poking = shim_is_poking;
    int flag = 0;

    shim_is_poking = true;
    shim_real.Test(request, &flag, MPI_STATUS_IGNORE);
    shim_is_poking = was_poking;
    return flag != 0;
}

static int shim_progress_hook(void)
{
    return shim_is_poking ? 0 : shim_progress.callback();
}

/* Store the function behind a name at function_out; false if there is none. */
static bool shim_progress_find(const char *name, void *function_out)
{
    void *symbol = shim_symbol_find(name);

    memcpy(function_out, &symbol, sizeof(symbol));
    return symbol != NULL;
}

int shim_progress_hook_install(int (*callback)(void))
{
    int (*do_register)(shim_progress_fn);

    if (!shim_progress_find("opal_progress", &shim_progress.poke) ||
        !shim_progress_find("opal_progress_register", &do_register) ||
        !shim_progress_find("opal_progress_unregister", &shim_progress.unregister)) {
        return -ENOSYS;
    }
    shim_progress.callback = callback;
    if (do_register(shim_progress_hook) != 0) {
        shim_progress.callback = NULL;
        return -ENOSYS;
    }
    return 0;
}

void shim_progress_hook_remove(void)
{
    if (shim_progress.callback != NULL) {
        shim_progress.unregister(shim_progress_hook);
        memset(&shim_progress, 0, sizeof(shim_progress));
    }
}
