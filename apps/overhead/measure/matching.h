/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random perfect matchings of the ranks, the same on all of them.
 */
#ifndef OVERHEAD_MATCHING_H
#define OVERHEAD_MATCHING_H

/**
 * The partner of a rank in a random perfect matching: all matchings are equally likely.
 *
 * @param seed    with the number of the matching, decides which it is
 * @param n_ranks even; order has room for so many
 * @return the partner of rank
 */
int matching_partner(unsigned long seed, long number, int n_ranks, int rank,
                     int *order);

#endif
