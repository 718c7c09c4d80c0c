/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of partners, a bit for each: which links are in use, where something waits. They
 * stand in NIC memory, zero at first. A second level has a bit for each word of bits
 * that is not empty, so that a look costs what the members cost, and not what there may
 * be. Each set says who may change it; anybody may look.
 *
 * Invariant: once nic_marks_set has returned, a look finds the member. A look beside it
 * may miss what is being set.
 */
#ifndef NIC_THREADS_NODE_MARKS_H
#define NIC_THREADS_NODE_MARKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** A set of numbers below some n. */
struct nic_marks {
    _Atomic uint64_t *words;  /* nic_marks_words(n) of bits */
    _Atomic uint64_t *groups; /* and nic_marks_words(of these) */
};

/** Words for so many bits. */
static inline uint32_t nic_marks_words(uint32_t n)
{
    return (n + 63) / 64;
}

/** Put a number into the set. Any process, beside others. seq_cst: what is published
 *  afterwards, seq_cst, too, is found by whoever sees it. */
static inline void nic_marks_set(const struct nic_marks *marks, uint32_t i)
{
    uint32_t word = i / 64;

    atomic_fetch_or_explicit(&marks->words[word], UINT64_C(1) << (i % 64),
                             memory_order_seq_cst);
    atomic_fetch_or_explicit(&marks->groups[word / 64], UINT64_C(1) << (word % 64),
                             memory_order_seq_cst);
}

/** Take a number out of a set that is changed under one lock only, which is held.
 *  relaxed: others just look. */
static inline void nic_marks_clear(const struct nic_marks *marks, uint32_t i)
{
    uint32_t word = i / 64;
    uint64_t left = atomic_load_explicit(&marks->words[word], memory_order_relaxed) &
                    ~(UINT64_C(1) << (i % 64));

    atomic_store_explicit(&marks->words[word], left, memory_order_relaxed);
    if (left == 0) {
        atomic_fetch_and_explicit(&marks->groups[word / 64],
                                  ~(UINT64_C(1) << (word % 64)), memory_order_relaxed);
    }
}

/** Whether a number is in the set. relaxed: who waits looks again. */
static inline bool nic_marks_has(const struct nic_marks *marks, uint32_t i)
{
    return (atomic_load_explicit(&marks->words[i / 64], memory_order_relaxed) >>
                (i % 64) &
            1) != 0;
}

/** The first member from a number on and before another one; or `end`. The order pairs
 *  with nic_marks_set. */
static inline uint32_t nic_marks_next(const struct nic_marks *marks, uint32_t from,
                                      uint32_t end)
{
    while (from < end) {
        uint32_t word = from / 64;
        uint64_t bits =
            atomic_load_explicit(&marks->words[word], memory_order_seq_cst) >>
            from % 64;

        if (bits != 0) {
            from += (uint32_t)__builtin_ctzll(bits);
            return from < end ? from : end;
        }
        word++;
        if ((uint64_t)word * 64 >= end) {
            return end;
        }
        bits = atomic_load_explicit(&marks->groups[word / 64], memory_order_seq_cst) >>
               word % 64;
        word =
            bits != 0 ? word + (uint32_t)__builtin_ctzll(bits) : (word / 64 + 1) * 64;
        from = word * 64;
    }
    return end;
}

#endif
