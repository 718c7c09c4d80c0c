/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shares the root cells out among the ranks such that all have about as many cells.
 */
#ifndef SAGE_REBALANCE_H
#define SAGE_REBALANCE_H

#include "apps/sage/mesh.h"

/**
 * Move cells between ranks if the largest share is above a limit. Every rank calls it.
 *
 * @param limit  largest share divided by the mean that is tolerated, 1 or more
 * @return 1 if cells have been shared out again, else 0
 */
int rebalance(struct mesh *mesh, double limit);

#endif
