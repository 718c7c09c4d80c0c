/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which port each rank of a job gets: finds out on which machine each process is, and
 * makes the map. Called once by each process before it meets the others, from the
 * thread that attaches it.
 */
#ifndef LIBBCS_SESSION_MAPPING_H
#define LIBBCS_SESSION_MAPPING_H

#include "libbcs/fabric/ring/port_map.h"
#include "libbcs/session/bootstrap.h"
#include "nic_threads/nic_config.h"

/**
 * Find the map of a job. Collective over the bootstrap. Processes exchange the names of
 * their machines only if the launcher does not say that all are on one machine. Where
 * machines are played (BCS_FAR), ranks are dealt to these instead.
 *
 * @param config   node_ranks becomes the ports of a node; the same in all processes
 * @param map_out  free it with bcs_port_map_destroy
 * @return 0 or -errno, logged
 */
int bcs_mapping_find(const struct bcs_bootstrap *bootstrap, struct nic_config *config,
                     struct bcs_port_map **map_out);

/** How many processes of this job the launcher has started on this machine, by what it
 *  has left in the environment. 0: it does not say. */
uint32_t bcs_mapping_n_near(void);

#endif
