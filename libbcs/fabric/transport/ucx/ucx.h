/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport between machines, over UCX.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_UCX_UCX_H
#define LIBBCS_FABRIC_TRANSPORT_UCX_UCX_H

#include "libbcs/fabric/transport/transport.h"

/** The operations of transport "ucx". */
extern const struct bcs_transport_ops bcs_ucx_ops;

#endif
