/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fibers by ucontext; see fiber.h.
 */
#include "tests/sim/fiber.h"

#include <check.h>
#include <stdint.h>
#include <sys/mman.h>

enum { STACK_BYTES = 1 << 20 };

/* makecontext passes numbers of the size of int only. */
static void run(unsigned int high, unsigned int low)
{
    struct sim_fiber *fiber =
        (struct sim_fiber *)(uintptr_t)((uint64_t)high << 32 | low);

    for (;;) {
        fiber->fn(fiber->arg);
        fiber->is_within = false;
        sim_fiber_stop(fiber);
    }
}

void sim_fiber_init(struct sim_fiber *fiber, void (*fn)(void *arg), void *arg)
{
    uint64_t self = (uintptr_t)fiber;

    *fiber = (struct sim_fiber){.fn = fn, .arg = arg};
    fiber->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(fiber->stack, MAP_FAILED);
    ck_assert_int_eq(getcontext(&fiber->own), 0);
    fiber->own.uc_stack.ss_sp = fiber->stack;
    fiber->own.uc_stack.ss_size = STACK_BYTES;
    makecontext(&fiber->own, (void (*)(void))run, 2, (unsigned int)(self >> 32),
                (unsigned int)self);
}

void sim_fiber_fini(struct sim_fiber *fiber)
{
    if (fiber->stack != NULL) {
        munmap(fiber->stack, STACK_BYTES);
    }
}

bool sim_fiber_run(struct sim_fiber *fiber)
{
    fiber->is_within = true;
    swapcontext(&fiber->caller, &fiber->own);
    return !fiber->is_within;
}

void sim_fiber_stop(struct sim_fiber *fiber)
{
    swapcontext(&fiber->own, &fiber->caller);
}
