/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of nodes: ranges, with or without marks. Pure functions on the caller's memory.
 */
#include <bcs/primitives.h>

/** Word `i` of the marks of a set, without the bits behind its range. */
static uint64_t word_at(const struct bcs_node_set *set, uint32_t i)
{
    uint32_t n_bits = set->n_nodes - i * 64;

    return n_bits >= 64 ? set->marks[i] : set->marks[i] & ((UINT64_C(1) << n_bits) - 1);
}

uint32_t bcs_node_set_count(const struct bcs_node_set *set)
{
    uint32_t n_nodes = 0;

    if (set->marks == NULL) {
        return set->n_nodes;
    }
    for (uint32_t i = 0; i < bcs_node_words(set->n_nodes); i++) {
        n_nodes += (uint32_t)__builtin_popcountll(word_at(set, i));
    }
    return n_nodes;
}

bool bcs_node_set_is_empty(const struct bcs_node_set *set)
{
    return bcs_node_set_next(set, 0) == BCS_NODE_NONE;
}

bool bcs_node_set_is_equal(const struct bcs_node_set *a, const struct bcs_node_set *b)
{
    uint32_t from = 0, node;

    if (a->marks == NULL && b->marks == NULL) {
        return a->n_nodes == b->n_nodes && (a->first == b->first || a->n_nodes == 0);
    }
    while ((node = bcs_node_set_next(a, from)) == bcs_node_set_next(b, from) &&
           node != BCS_NODE_NONE) {
        from = node + 1;
    }
    return node == bcs_node_set_next(b, from);
}

uint32_t bcs_node_set_next(const struct bcs_node_set *set, uint32_t from)
{
    uint32_t i = from > set->first ? from - set->first : 0;
    uint64_t mask = ~UINT64_C(0) << (i % 64);

    if (set->marks == NULL || i >= set->n_nodes) {
        return i < set->n_nodes ? set->first + i : BCS_NODE_NONE;
    }
    for (uint32_t word = i / 64; word < bcs_node_words(set->n_nodes); word++) {
        uint64_t bits = word_at(set, word) & mask;

        if (bits != 0) {
            return set->first + word * 64 + (uint32_t)__builtin_ctzll(bits);
        }
        mask = ~UINT64_C(0);
    }
    return BCS_NODE_NONE;
}
