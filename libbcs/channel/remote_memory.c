/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of regions: blocks of it, the order of its writes and reads, and what is
 * said of commands that may not touch it. Called by the thread that has the region
 * open.
 *
 * It is read and written by atomic loads and stores, the largest that are aligned:
 * stores release, loads acquire. So a block is written in its order, and what is
 * written after it is seen after it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "libbcs/channel/channel_state.h"
#include "libbcs/fabric/base/log.h"

const char remote_far_mark = 0;

int bcs_remote_refuse(const struct bcs_remote *remote, uint64_t offset,
                      uint64_t n_bytes, uint32_t align)
{
    const void *thread = remote_thread_of(remote);

    if (thread == NULL) {
        if (bcs_forked_is_child()) {
            bcs_forked_tell("a remote command");
        } else {
            bcs_error("remote command: region %" PRIu32 " of rank %" PRIu32
                      " is not open here: never, released, or left by "
                      "bcs_channels_finalize",
                      remote->number, remote->rank);
        }
        return -EPERM;
    }
    if (thread != bcs_remote_thread()) {
        bcs_error("remote command: region %" PRIu32 " of rank %" PRIu32
                  " was opened by another thread",
                  remote->number, remote->rank);
        return -EPERM;
    }
    if (offset % align != 0) {
        bcs_error("remote command: offset %" PRIu64 " of region %" PRIu32
                  " of rank %" PRIu32 "; allowed are multiples of %" PRIu32,
                  offset, remote->number, remote->rank, align);
        return -EINVAL;
    }
    if (n_bytes <= remote->n_bytes && offset <= remote->n_bytes - n_bytes) {
        return BCS_REMOTE_IS_FAR; /* nothing is wrong */
    }
    bcs_error("remote command: %" PRIu64 " bytes at offset %" PRIu64
              " are not within region %" PRIu32 " of rank %" PRIu32
              ", which has %" PRIu64,
              n_bytes, offset, remote->number, remote->rank, remote->n_bytes);
    return -ERANGE;
}

void bcs_remote_settle(const struct bcs_remote *remote)
{
    /* Between the stores of this process and its loads; whoever it talks to has one,
     * too. */
    atomic_thread_fence(memory_order_seq_cst);
    *remote->is_unsettled = 0;
}

/** The largest of 8, 4, 2 and 1 by which the address is aligned, and that are left. */
static size_t step_of(const uint8_t *address, size_t n_left)
{
    size_t step = sizeof(uint64_t);

    while ((uintptr_t)address % step != 0 || step > n_left) {
        step /= 2;
    }
    return step;
}

/** Store one part. All stores of this file pair with all loads of it, and with those of
 *  <bcs/remote.h>. */
static void store_part(uint8_t *to, const uint8_t *from, size_t n_bytes)
{
    uint32_t four;
    uint16_t two;

    switch (n_bytes) {
    case 4:
        memcpy(&four, from, sizeof(four));
        __atomic_store_n((uint32_t *)(void *)to, four, __ATOMIC_RELEASE);
        break;
    case 2:
        memcpy(&two, from, sizeof(two));
        __atomic_store_n((uint16_t *)(void *)to, two, __ATOMIC_RELEASE);
        break;
    default:
        __atomic_store_n(to, *from, __ATOMIC_RELEASE);
    }
}

/** Load one part. */
static void load_part(uint8_t *to, const uint8_t *from, size_t n_bytes)
{
    uint32_t four;
    uint16_t two;

    switch (n_bytes) {
    case 4:
        four = __atomic_load_n((const uint32_t *)(const void *)from, __ATOMIC_ACQUIRE);
        memcpy(to, &four, sizeof(four));
        break;
    case 2:
        two = __atomic_load_n((const uint16_t *)(const void *)from, __ATOMIC_ACQUIRE);
        memcpy(to, &two, sizeof(two));
        break;
    default:
        *to = __atomic_load_n(from, __ATOMIC_ACQUIRE);
    }
}

void remote_store(uint8_t *to, const void *data, size_t n_bytes)
{
    const uint8_t *from = data;

    while (n_bytes > 0) {
        size_t step = step_of(to, n_bytes);
        uint64_t word;

        if (step == sizeof(word)) {
            memcpy(&word, from, sizeof(word));
            /* As in store_part. */
            __atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELEASE);
        } else {
            store_part(to, from, step);
        }
        to += step;
        from += step;
        n_bytes -= step;
    }
}

void remote_load(void *data_out, const uint8_t *from, size_t n_bytes)
{
    uint8_t *to = data_out;

    while (n_bytes > 0) {
        size_t step = step_of(from, n_bytes);
        uint64_t word;

        if (step == sizeof(word)) {
            /* As in store_part. */
            word =
                __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_ACQUIRE);
            memcpy(to, &word, sizeof(word));
        } else {
            load_part(to, from, step);
        }
        to += step;
        from += step;
        n_bytes -= step;
    }
}
