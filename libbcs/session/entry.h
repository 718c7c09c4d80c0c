/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry of programs without MPI: the settings from the environment, and the
 * connection to the launcher. Called by bcs_init, cBSP_initialize and
 * bcs_channels_init, once each, in the thread that calls these.
 */
#ifndef BCS_SESSION_ENTRY_H
#define BCS_SESSION_ENTRY_H

#include "libbcs/fabric/base/log_config.h"
#include "libbcs/fabric/ring/port_map.h"
#include "libbcs/session/bootstrap.h"
#include "libbcs/session/bootstrap_pmix.h"
#include "mds/mds_config.h"
#include "nic_threads/nic_config.h"

/** All settings of a process. */
struct bcs_settings {
    struct nic_config nic;
    struct mds_config mds;
    struct bcs_log_config log;
};

/** A process that has entered. */
struct bcs_entry {
    struct bcs_settings settings;
    struct bcs_pmix *pmix; /* NULL: started alone */
    struct bcs_bootstrap bootstrap;
};

/** Which function a process enters by; the launcher knows each once. */
enum bcs_entry_use { BCS_ENTRY_API, BCS_ENTRY_CBSP, BCS_ENTRY_CHANNELS, BCS_N_ENTRIES };

/** How long a waiter polls before it sleeps: what the settings say, or else
 *  usual_ns. */
uint64_t bcs_settings_spin_ns(const struct bcs_settings *settings, uint64_t usual_ns);

/** The processes of this process's machine, where each process is a node. */
struct bcs_node_range bcs_entry_near(const struct bcs_entry *entry);

/**
 * Read the settings, connect to the launcher, and set up the log. A process that no
 * launcher has started is a job of one.
 *
 * @return 0          end with bcs_entry_fini
 * @return -EALREADY  this process has entered by that function before; logged
 * @return -EINVAL    a variable is unknown or has a bad value; logged
 * @return <0         of bcs_pmix_open; logged
 */
int bcs_entry_init(struct bcs_entry *entry_out, enum bcs_entry_use use);

/** Disconnect from the launcher. Accepts a zeroed entry. */
void bcs_entry_fini(struct bcs_entry *entry);

#endif
