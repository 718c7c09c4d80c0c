/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A region of remote commands as it is open here, and what each command does before and
 * after its own loads and stores. Part of <bcs/remote.h>, which programs include; they
 * use nothing of this.
 *
 * Sleepers. Who sleeps until a word changes counts itself in the state of the region,
 * at which everybody looks after each change. That load must not come before the
 * change; as for channels, the sleeper has one barrier for both (membarrier), between
 * its counting and its last look.
 *
 * Order. Stores of a processor arrive in their order (release), loads are done in
 * theirs (acquire), but a load may come before an earlier store. So each pair of
 * processes has a word that says that there may be such a store; a read that finds it
 * set lets the store arrive first.
 *
 * Threads. What tells threads apart is compared in each command: one load.
 *
 * Other machines. A region of another machine is open for no thread, so that its
 * commands fail this comparison. What refuses them finds that out, and the library
 * carries them out.
 */
#ifndef BCS_REMOTE_REGION_H
#define BCS_REMOTE_REGION_H

#include <stddef.h>
#include <stdint.h>

#include <bcs/public.h>
#include <bcs/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The library's part of an open region. */
struct bcs_remote_state;

/**
 * A region that is open here: one's own, or another's that was imported. The caller's
 * memory, which stays in place until the region is released or the job left; its
 * members are for this header and the library.
 */
struct bcs_remote {
    uint8_t *memory;
    uint64_t n_bytes;
    const void
        *thread;     /* whose it is; NULL: it is not open; of another machine: none */
    uint64_t *state; /* of the region: BCS_REMOTE_CLOSED, and how many sleep at it */
    uint32_t *is_unsettled; /* of the pair of processes: a write may not have arrived */
    struct bcs_remote_state *inside;
    uint32_t rank, number;
    uint64_t reserved;
};

#define BCS_REMOTE_CLOSED (UINT64_C(1) << 63)

/** What bcs_remote_check returns of a command that is right, to another machine. */
#define BCS_REMOTE_IS_FAR 0x10000

/** Say what is wrong with a command. @return -EPERM, -ERANGE or -EINVAL; or
 *  BCS_REMOTE_IS_FAR: nothing is */
BCS_PUBLIC int bcs_remote_refuse(const struct bcs_remote *remote, uint64_t offset,
                                 uint64_t n_bytes, uint32_t align)
    __attribute__((cold));

/** A command has changed a region that is closed, or at which somebody sleeps: wake
 *  those whose conditions are true now. @return 0 or BCS_E_CLOSED */
BCS_PUBLIC int bcs_remote_changed(const struct bcs_remote *remote);

/** Let all writes to the process arrive, before something of it is read. */
BCS_PUBLIC void bcs_remote_settle(const struct bcs_remote *remote);

/** The inline command on a word of another machine, once it is checked. @return as
 *  that */
BCS_PUBLIC int bcs_remote_far_write_word(const struct bcs_remote *remote,
                                         uint64_t offset, uint64_t word);

/** The same. */
BCS_PUBLIC int bcs_remote_far_read_word(const struct bcs_remote *remote,
                                        uint64_t offset, uint64_t *word_out);

/** The same. */
BCS_PUBLIC int bcs_remote_far_compare_swap(const struct bcs_remote *remote,
                                           uint64_t offset, uint64_t expected,
                                           uint64_t desired, uint64_t *before_out);

/** The same. */
BCS_PUBLIC int bcs_remote_far_add_word(const struct bcs_remote *remote, uint64_t offset,
                                       uint64_t addend, uint64_t *before_out);

/** What tells threads apart. */
static inline const void *bcs_remote_thread(void)
{
    const void *thread;

#if defined(__x86_64__)
    __asm__("mov %%fs:0, %0" : "=r"(thread));
#elif defined(__aarch64__)
    __asm__("mrs %0, tpidr_el0" : "=r"(thread));
#else
    thread = __builtin_thread_pointer();
#endif
    return thread;
}

/** Check what every command does. @param align  a power of two */
static inline int bcs_remote_check(const struct bcs_remote *remote, uint64_t offset,
                                   uint64_t n_bytes, uint32_t align)
{
    if (__builtin_expect(remote->thread != bcs_remote_thread() || offset % align != 0 ||
                             n_bytes > remote->n_bytes ||
                             offset > remote->n_bytes - n_bytes,
                         0)) {
        return bcs_remote_refuse(remote, offset, n_bytes, align);
    }
    return 0;
}

/** What follows each change, so that nobody sleeps on. */
static inline int bcs_remote_after_change(const struct bcs_remote *remote)
{
    /* The load stays behind the change in the program; the processors see to the rest
     * when the sleeper's barrier runs. Pairs with the addition in remote_wait.c, before
     * that. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(remote->state, __ATOMIC_RELAXED) != 0, 0)) {
        return bcs_remote_changed(remote);
    }
    return 0;
}

/** The same, after an atomic operation that reads and writes: on x86-64 it is a
 *  barrier. */
static inline int bcs_remote_after_update(const struct bcs_remote *remote)
{
#if defined(__x86_64__)
    *remote->is_unsettled = 0;
#else
    *remote->is_unsettled = 1;
#endif
    return bcs_remote_after_change(remote);
}

/** What comes before each read: reads do not overtake writes to the same process. */
static inline void bcs_remote_before_read(const struct bcs_remote *remote)
{
    if (__builtin_expect(*remote->is_unsettled != 0, 0)) {
        bcs_remote_settle(remote);
    }
}

/** What follows each read. */
static inline int bcs_remote_after_read(const struct bcs_remote *remote)
{
    /* Pairs with the store of bcs_region_release; nothing else follows from it. */
    return __builtin_expect((__atomic_load_n(remote->state, __ATOMIC_RELAXED) &
                             BCS_REMOTE_CLOSED) != 0,
                            0)
               ? BCS_E_CLOSED
               : 0;
}

/** A word of a region. */
static inline uint64_t *bcs_remote_word(const struct bcs_remote *remote,
                                        uint64_t offset)
{
    return (uint64_t *)(void *)(remote->memory + offset);
}

#ifdef __cplusplus
}
#endif

#endif
