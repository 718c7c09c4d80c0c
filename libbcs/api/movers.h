/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process moves on while it waits or tests, whatever for. Above all that it
 * names; a context is given the list when it is made. Internal to libbcs/api.
 */
#ifndef BCS_API_MOVERS_H
#define BCS_API_MOVERS_H

#include "libbcs/api/context/context.h"

/** All movers, in the order in which they are called; NULL ends the list. */
extern const bcs_mover_fn bcs_movers[];

#endif
