/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds and checks boards; see found_board.h.
 */
#include "apps/tools/look/found_board.h"

#include <errno.h>
#include <stdbool.h>

#include "libbcs/fabric/ring/sign.h"
#include "libbcs/fabric/ring/stand.h"

enum { BYTES_MOST = 1 << 26 };

/** Whether all sizes are such as a job may have: a layout divides by some of them. */
static bool has_legal_limits(const struct bcs_limits *limits)
{
    for (size_t i = 0; i < bcs_n_limits; i++) {
        const struct bcs_limit *limit = &bcs_limits[i];
        uint32_t value;

        memcpy(&value, (const char *)limits + limit->offset, sizeof(value));
        if (value < limit->least || value > limit->most ||
            (limit->is_power && (value & (value - 1)) != 0)) {
            return false;
        }
    }
    return true;
}

/** Whether a table can have elements of so many bytes. */
static bool fits(uint32_t n_bytes, uint32_t window)
{
    return n_bytes > 0 && n_bytes <= window;
}

/** Whether a board says what can be: a layout may be computed of it. */
static bool is_sound(const struct bcs_board *board, uint64_t n_bytes)
{
    const struct nic_shape *shape = &board->shape;
    uint32_t window = shape->limits.window;

    return has_legal_limits(&shape->limits) && shape->n_ports > 0 &&
           shape->n_ports <= NIC_NODE_RANKS_MOST && shape->node_ranks > 0 &&
           shape->node_ranks <= NIC_NODE_RANKS_MOST && shape->has_links <= 1 &&
           board->n_nodes == nic_layout_n_nodes(shape->n_ports, shape->node_ranks) &&
           board->n_near > 0 && board->first_near < board->n_nodes &&
           board->n_near <= board->n_nodes - board->first_near && board->has_map <= 1 &&
           (board->has_map ? board->n_ranks > 0 && board->n_ranks <= shape->n_ports
                           : board->n_ranks == shape->n_ports) &&
           n_bytes >=
               bcs_board_bytes(board->n_nodes, board->has_map ? board->n_ranks : 0) &&
           shape->limits.landing <= window &&
           bcs_far_stand_bytes(shape->n_ports) <= window &&
           fits(shape->n_item_bytes, window) && fits(shape->n_slot_bytes, window) &&
           fits(shape->n_wire_bytes, window) && fits(shape->n_partner_bytes, window) &&
           fits(shape->n_wire_end_bytes, window) && shape->n_desk_bytes <= BYTES_MOST &&
           shape->n_node_bytes <= BYTES_MOST &&
           shape->n_desk_bytes >= sizeof(uint64_t) &&
           board->lock_offset <= shape->n_desk_bytes - sizeof(uint64_t) &&
           board->slice_offset <= shape->n_desk_bytes - sizeof(uint64_t);
}

int bcs_board_find(const char *base, uint64_t n_bytes, struct bcs_board *board_out,
                   const struct bcs_board_node **nodes_out, char *version_out)
{
    const struct bcs_sign *there = (const void *)base;
    struct bcs_sign sign;

    if (n_bytes < sizeof(sign) ||
        memcmp(there->magic, BCS_SIGN_MAGIC, sizeof(there->magic)) != 0) {
        return -EINVAL;
    }
    /* acquire: pairs with the release in libbcs/api/board_fill.c */
    if (atomic_load_explicit(&there->is_ready, memory_order_acquire) == 0) {
        return -EAGAIN;
    }
    bcs_board_copy(&sign, there, sizeof(sign));
    memcpy(version_out, sign.version, BCS_SIGN_VERSION_BYTES);
    version_out[BCS_SIGN_VERSION_BYTES - 1] = '\0';
    if (sign.layout != bcs_board_layout()) {
        return -EPROTO;
    }
    if (sign.board % _Alignof(struct bcs_board) != 0 || sign.board > n_bytes ||
        n_bytes - sign.board < sizeof(*board_out)) {
        return -EINVAL;
    }
    bcs_board_copy(board_out, base + sign.board, sizeof(*board_out));
    *nodes_out = ((const struct bcs_board *)(const void *)(base + sign.board))->nodes;
    return is_sound(board_out, n_bytes - sign.board) ? 0 : -EINVAL;
}
