/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port's order table in NIC memory, zero at first: cells that its owner is to look
 * at, from whoever runs an engine. Any process and thread gives orders, the owner takes
 * them.
 *
 * Invariant: order n, as n_orders of the port counts them, stands in entry n (mod the
 * table's size, a power of two) as its number n + 1 and its cell, and an entry takes
 * only numbers that are later than its own (mod 2^32). So the owner that looks for
 * order n finds it, or an earlier number: it has been counted and will be written; or a
 * later one: it was overwritten, and the owner has to look at all cells. Who gives an
 * order wakes the owner after it was written.
 */
#ifndef LIBBCS_FABRIC_RING_ORDER_TABLE_H
#define LIBBCS_FABRIC_RING_ORDER_TABLE_H

#include <stdatomic.h>
#include <stdint.h>

/** The table of one port. */
struct bcs_order_table {
    _Atomic uint64_t *entries; /* number in the upper half, cell in the lower */
    uint32_t mask;             /* its size - 1 */
};

/** What an entry has for who looks for an order. */
enum bcs_order_state { BCS_ORDER_COMES, BCS_ORDER_IS_HERE, BCS_ORDER_IS_LOST };

static inline int32_t bcs_order_compare(uint64_t entry, uint32_t n)
{
    return (int32_t)((uint32_t)(entry >> 32) - (n + 1));
}

/** Give an order. The owner has to be woken afterwards. */
static inline void bcs_order_give(_Atomic uint32_t *n_orders,
                                  const struct bcs_order_table *table, uint32_t cell)
{
    /* acq_rel: pairs with the acquire in bcs_orders_take, and each count with the
     * next */
    uint32_t n = atomic_fetch_add_explicit(n_orders, 1, memory_order_acq_rel);
    _Atomic uint64_t *entry = &table->entries[n & table->mask];
    uint64_t old = atomic_load_explicit(entry, memory_order_relaxed);

    /* release: pairs with bcs_order_find */
    while (bcs_order_compare(old, n) < 0 &&
           !atomic_compare_exchange_weak_explicit(
               entry, &old, (uint64_t)(n + 1) << 32 | cell, memory_order_release,
               memory_order_relaxed)) {
    }
}

/** Look for order n, which has been counted. */
static inline enum bcs_order_state bcs_order_find(const struct bcs_order_table *table,
                                                  uint32_t n, uint32_t *cell_out)
{
    /* acquire: pairs with bcs_order_give */
    uint64_t entry =
        atomic_load_explicit(&table->entries[n & table->mask], memory_order_acquire);
    int32_t order = bcs_order_compare(entry, n);

    *cell_out = (uint32_t)entry;
    return order < 0    ? BCS_ORDER_COMES
           : order == 0 ? BCS_ORDER_IS_HERE
                        : BCS_ORDER_IS_LOST;
}

#endif
