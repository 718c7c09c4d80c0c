/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service of a machine: the threads of the library's own, one table of them, one
 * way to start and to stop them. It is an object of a process, opened by all of a job;
 * what each then runs, the table says. They take no signals, which are the program's,
 * and may run on all cores (cores.h). Which entries of the table there are to be is the
 * driver's choice (driver.h).
 */
#ifndef NIC_THREADS_SERVICE_SERVICE_H
#define NIC_THREADS_SERVICE_SERVICE_H

#include "nic_threads/machine/engine.h"

/** The entries of the table in service.c. A thread needs those before it, so that it is
 *  started later and ended sooner. */
enum nic_service_entry {
    NIC_SERVE_BACKGROUND,
    NIC_SERVE_REFEREE,
    NIC_SERVE_WITNESS,
    NIC_SERVE_TIME,
    NIC_SERVE_FAR,
    NIC_SERVE_BS,
    NIC_SERVE_BR,
    NIC_SERVE_DH,
    NIC_SERVE_CH,
    NIC_SERVE_RH,
    NIC_SERVE_SR,
    NIC_SERVE_SS,
    NIC_SERVE_ENTRIES
};

/** A set of entries: the sum of these. */
#define NIC_SERVES(entry) (UINT32_C(1) << (entry))

/** Those that every driver needs: what judges, and what serves far nodes. */
#define NIC_SERVES_ALWAYS                                                              \
    (NIC_SERVES(NIC_SERVE_REFEREE) | NIC_SERVES(NIC_SERVE_WITNESS) |                   \
     NIC_SERVES(NIC_SERVE_FAR))

struct nic_service;

/**
 * Start those of the entries that this process is to run. All nodes must be set up.
 *
 * @param params   of the process; what it points to must outlive the service
 * @param entries  set of entries
 * @param service_out  NULL if there are none; end with nic_service_close
 * @return 0 or -errno, logged
 */
int nic_service_open(const struct nic_engine_params *params, uint32_t entries,
                     struct nic_service **service_out);

/** End the threads, and wait for them. When no process waits for anything any more.
 *  Accepts NULL. */
void nic_service_close(struct nic_service *service);

/** In a forked child: it has none of the threads. Accepts NULL. */
void nic_service_forked(struct nic_service *service);

#endif
