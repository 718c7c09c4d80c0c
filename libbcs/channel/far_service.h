/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service of a process in a job of several machines: a thread that carries out what
 * processes of other machines ask for in the own regions (far_command.h), while the
 * program does whatever it does. Started and stopped by channel_job.c, and told of
 * regions by channel_region.c.
 */
#ifndef LIBBCS_CHANNEL_FAR_SERVICE_H
#define LIBBCS_CHANNEL_FAR_SERVICE_H

#include "libbcs/channel/channel_state.h"

/** Start it. @param bell  that it waits at @return 0, or -ENOMEM or -EAGAIN: the system
 *  makes no thread; logged */
int remote_service_start(struct channels *channels, const struct bcs_bell *bell);

/** Answer what was asked, end the thread, and free all. Nothing is done if there is no
 *  service. */
void remote_service_stop(struct channels *channels);

/** Let it carry out nothing in regions. Nothing is done if there is no service; nor by
 *  what follows. */
void remote_service_hold(struct channels *channels);

/** Let it go on. */
void remote_service_go_on(struct channels *channels);

/** An own region is exported. While the service is held. */
void remote_service_open(struct channels *channels, const struct bcs_remote *own,
                         uint64_t serial);

#endif
