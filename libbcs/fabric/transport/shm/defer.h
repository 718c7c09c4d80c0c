/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport between the nodes of one machine, made as late as a network may be;
 * only in builds with tests.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_SHM_DEFER_H
#define LIBBCS_FABRIC_TRANSPORT_SHM_DEFER_H

#include "libbcs/fabric/transport/transport.h"

/** The operations of transport "shm-defer". */
extern const struct bcs_transport_ops bcs_shm_defer_ops;

#endif
