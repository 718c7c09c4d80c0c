/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps Open MPI from looking for networks that a job on one machine does not use. That
 * search is most of the time that a small program takes to start. Used by bcsrun only.
 */
#ifndef APPS_TOOLS_LAUNCH_NETWORKS_H
#define APPS_TOOLS_LAUNCH_NETWORKS_H

#include <stdbool.h>
#include <stdio.h>

/** What parameters of Open MPI say of how processes exchange data. */
struct networks {
    bool are_chosen; /* somebody wants a certain way, none of ours, or other machines */
    bool has_btl;    /* somebody has left out ways of point-to-point messages */
};

/** Whether a parameter chooses how processes exchange data, or names other machines, if
 *  it is set at all.
 *  @param parameter  its name, behind which "=" and a value may stand */
bool networks_are_chosen_by(const char *parameter);

/** Take in a file of parameters, as openmpi-mca-params.conf is. A list of what is not
 *  to be used leaves the choice to us, unless ours is in it. */
void networks_read(FILE *parameters, struct networks *networks);

/** Take in a file of machines, as openmpi-default-hostfile is. */
void networks_read_hosts(FILE *hosts, struct networks *networks);

/**
 * Choose Open MPI's way for shared memory, in the environment, unless the user or the
 * administrator has chosen one there or in a file of parameters. TCP stays, for jobs
 * that connect to each other.
 *
 * @param mpirun  whose installation may have such a file
 */
void networks_apply(const char *mpirun);

#endif
