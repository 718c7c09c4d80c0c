/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport between the nodes of one machine, whose heaps (shm_memory.h) all
 * processes of the job have mapped.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_SHM_SHM_H
#define LIBBCS_FABRIC_TRANSPORT_SHM_SHM_H

#include "libbcs/fabric/transport/transport.h"

/** The operations of transport "shm". */
extern const struct bcs_transport_ops bcs_shm_ops;

#endif
