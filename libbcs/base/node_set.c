/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of nodes as bitmaps of fixed width. Pure functions on the caller's memory.
 */
#include <string.h>

#include <bcs/primitives.h>

#define N_WORDS (BCS_MAX_NODES / 64)

void bcs_node_set_clear(struct bcs_node_set *set)
{
    memset(set, 0, sizeof(*set));
}

void bcs_node_set_fill(struct bcs_node_set *set, uint32_t n_nodes)
{
    bcs_node_set_clear(set);
    for (uint32_t node = 0; node < n_nodes && node < BCS_MAX_NODES; node++) {
        bcs_node_set_add(set, node);
    }
}

uint32_t bcs_node_set_count(const struct bcs_node_set *set)
{
    uint32_t n_nodes = 0;

    for (uint32_t i = 0; i < N_WORDS; i++) {
        n_nodes += (uint32_t)__builtin_popcountll(set->words[i]);
    }
    return n_nodes;
}

bool bcs_node_set_is_empty(const struct bcs_node_set *set)
{
    return bcs_node_set_next(set, 0) == BCS_MAX_NODES;
}

bool bcs_node_set_is_equal(const struct bcs_node_set *a, const struct bcs_node_set *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

uint32_t bcs_node_set_next(const struct bcs_node_set *set, uint32_t from)
{
    uint64_t mask = ~UINT64_C(0) << (from % 64);

    for (uint32_t i = from / 64; i < N_WORDS; i++) {
        uint64_t word = set->words[i] & mask;

        if (word != 0) {
            return i * 64 + (uint32_t)__builtin_ctzll(word);
        }
        mask = ~UINT64_C(0);
    }
    return BCS_MAX_NODES;
}
