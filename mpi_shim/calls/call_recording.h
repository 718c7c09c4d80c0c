/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MDS in a program of MPI: when recording starts and stops, and where what was
 * recorded goes. All are called in MPI_Init or MPI_Finalize, by the thread that makes
 * these calls.
 */
#ifndef MPI_SHIM_CALLS_CALL_RECORDING_H
#define MPI_SHIM_CALLS_CALL_RECORDING_H

#include "mds/mds_config.h"

#pragma GCC visibility push(hidden)

struct bcs_bootstrap;
struct bcs_port_map;
struct nic_config;

/** Have the engine record slices as the settings ask for it, and make the run's folder.
 *  Before this process attaches; collective over MPI_COMM_WORLD if they ask for a
 *  folder. What cannot be had is told by shim_monitor_start, and the program goes on;
 *  without memory it ends. */
void shim_monitor_prepare(const struct mds_config *config,
                          const struct bcs_bootstrap *bootstrap,
                          const struct bcs_port_map *map, struct nic_config *nic);

/** Take back what shim_monitor_prepare has done: no process could attach. Collective,
 *  if there is a folder. */
void shim_monitor_undo(void);

/** Start what the settings ask for. */
void shim_monitor_start(const struct mds_config *config);

/** The folder of the run, until shim_monitor_report; NULL: there is none. */
const char *shim_monitor_folder(void);

/** Stop recording: MPI_Finalize has begun. */
void shim_monitor_stop(void);

/** Write or print what was recorded. Collective, while the real library and the context
 *  are still up. */
void shim_monitor_report(void);

/** Free the rest. The process has detached. */
void shim_monitor_close(void);

#pragma GCC visibility pop

#endif
