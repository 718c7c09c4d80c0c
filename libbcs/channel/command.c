/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands that are not inline. Called by the thread that has the region open. [Low
 * Latency Messages, section 5]
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "libbcs/channel/channel_calls.h"
#include "libbcs/channel/channel_state.h"
#include "libbcs/channel/far_command.h"
#include "libbcs/fabric/base/log.h"
#include "nic_threads/rules/reduce_ops.h"

int channels_call_remote_write(const struct bcs_remote *remote, uint64_t offset,
                               const void *data, size_t n_bytes)
{
    int rc = bcs_remote_check(remote, offset, n_bytes, 1);

    if (rc != 0) {
        return rc == BCS_REMOTE_IS_FAR ? remote_far_write(remote, offset, data, n_bytes)
                                       : rc;
    }
    remote_store(remote->memory + offset, data, n_bytes);
    *remote->is_unsettled = 1;
    return bcs_remote_after_change(remote);
}

int channels_call_remote_read(const struct bcs_remote *remote, uint64_t offset,
                              void *data_out, size_t n_bytes)
{
    int rc = bcs_remote_check(remote, offset, n_bytes, 1);

    if (rc != 0) {
        return rc == BCS_REMOTE_IS_FAR
                   ? remote_far_read(remote, offset, data_out, n_bytes)
                   : rc;
    }
    bcs_remote_before_read(remote);
    remote_load(data_out, remote->memory + offset, n_bytes);
    return bcs_remote_after_read(remote);
}

/* ------------------------------------------------------------------ accumulate */

/** Accumulate to one element of 4 bytes. */
static uint32_t accumulate_four(uint32_t *element, int kernel, const void *operand)
{
    /* The exchange pairs with all commands on the element; the load is only its
     * guess. */
    uint32_t before = __atomic_load_n(element, __ATOMIC_RELAXED), after;

    do {
        memcpy(&after, operand, sizeof(after));
        nic_reduce_apply(kernel, &before, &after, 1);
    } while (!__atomic_compare_exchange_n(element, &before, after, true,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return before;
}

/** Accumulate to one element of 8 bytes. */
static uint64_t accumulate_eight(uint64_t *element, int kernel, const void *operand)
{
    /* As in accumulate_four. */
    uint64_t before = __atomic_load_n(element, __ATOMIC_RELAXED), after;

    do {
        memcpy(&after, operand, sizeof(after));
        nic_reduce_apply(kernel, &before, &after, 1);
    } while (!__atomic_compare_exchange_n(element, &before, after, true,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return before;
}

/** The kernel of an accumulation. @return -EINVAL: there is none; logged */
static int kernel_of(const struct bcs_remote_accumulation *accumulation)
{
    int op = (int)accumulation->op, type = (int)accumulation->type;
    int kernel = -1;

    if (op >= BCS_SUM && op <= BCS_BXOR && type >= BCS_INT32 && type <= BCS_DOUBLE) {
        kernel = nic_reduce_kernel((enum nic_reduce_op)(op - BCS_SUM),
                                   (enum nic_reduce_type)type);
    }
    if (kernel < 0) {
        bcs_error(
            "bcs_remote_accumulate: operation %d on type %d; allowed are BCS_SUM to "
            "BCS_BXOR on BCS_INT32 to BCS_UINT64, and those that are not on bits on "
            "BCS_FLOAT and BCS_DOUBLE",
            op, type);
        return -EINVAL;
    }
    return kernel;
}

static void accumulate(uint8_t *element, int kernel, size_t element_bytes,
                       const struct bcs_remote_accumulation *accumulation)
{
    const uint8_t *operand = accumulation->operands;
    uint8_t *before_out = accumulation->before_out;

    for (size_t i = 0; i < accumulation->count; i++) {
        union {
            uint32_t four;
            uint64_t eight;
        } before;

        if (element_bytes == sizeof(uint32_t)) {
            before.four = accumulate_four((uint32_t *)(void *)element, kernel, operand);
        } else {
            before.eight =
                accumulate_eight((uint64_t *)(void *)element, kernel, operand);
        }
        if (before_out != NULL) {
            memcpy(before_out + i * element_bytes, &before, element_bytes);
        }
        element += element_bytes;
        operand += element_bytes;
    }
}

int channels_call_remote_accumulate(const struct bcs_remote *remote, uint64_t offset,
                                    const struct bcs_remote_accumulation *accumulation)
{
    int kernel = kernel_of(accumulation), rc;
    size_t element_bytes;
    uint64_t n_bytes;

    if (kernel < 0) {
        return kernel;
    }
    element_bytes = nic_reduce_element_bytes(kernel);
    if (__builtin_mul_overflow(accumulation->count, element_bytes, &n_bytes)) {
        n_bytes = UINT64_MAX; /* too many for any region */
    }
    rc = bcs_remote_check(remote, offset, n_bytes, (uint32_t)element_bytes);
    if (rc != 0) {
        return rc == BCS_REMOTE_IS_FAR
                   ? remote_far_accumulate(remote, offset, accumulation, element_bytes)
                   : rc;
    }
    if (accumulation->count == 0) {
        return bcs_remote_after_read(remote); /* nothing has let writes arrive */
    }
    accumulate(remote->memory + offset, kernel, element_bytes, accumulation);
    return bcs_remote_after_update(remote);
}

/* ------------------------------------------------------------------ indirect */

static int read_index(const struct bcs_remote *remote,
                      const struct bcs_remote_indirect *place, uint64_t *index_out)
{
    uint32_t index;
    int rc;

    if (place->index_bytes == sizeof(*index_out)) {
        return bcs_remote_read_word(remote, place->index_offset, index_out);
    }
    rc = bcs_remote_check(remote, place->index_offset, sizeof(index), sizeof(index));
    if (rc == 0 || rc == BCS_REMOTE_IS_FAR) {
        rc = channels_call_remote_read(remote, place->index_offset, &index,
                                       sizeof(index));
    }
    *index_out = rc == 0 ? index : 0;
    return rc;
}

int channels_call_remote_find(const struct bcs_remote *remote,
                              const struct bcs_remote_indirect *place,
                              uint64_t *offset_out)
{
    uint64_t index = 0, distance;
    int rc;

    if ((place->index_bytes != sizeof(uint32_t) &&
         place->index_bytes != sizeof(uint64_t)) ||
        place->reserved != 0) {
        bcs_error("remote command: an index of %" PRIu32
                  " bytes; allowed are 4 and 8, and a reserved member that is 0",
                  place->index_bytes);
        return -EINVAL;
    }
    rc = read_index(remote, place, &index);
    if (rc != 0) {
        return rc;
    }
    if (__builtin_mul_overflow(index, place->stride, &distance) ||
        __builtin_add_overflow(distance, place->base, offset_out)) {
        bcs_error("remote command: %" PRIu64 " + %" PRIu64 " * index %" PRIu64
                  " of region %" PRIu32 " of rank %" PRIu32 " is beyond all addresses",
                  place->base, place->stride, index, remote->number, remote->rank);
        return -ERANGE;
    }
    return 0;
}
