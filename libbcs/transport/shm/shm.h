/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport between the nodes of one machine, whose heaps (memory.h) all processes of
 * the job have mapped.
 */
#ifndef BCS_TRANSPORT_SHM_SHM_H
#define BCS_TRANSPORT_SHM_SHM_H

#include "libbcs/transport/transport.h"

/** The operations of transport "shm". */
extern const struct bcs_transport_ops bcs_shm_ops;

#endif
