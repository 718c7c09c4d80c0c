/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of a deadlock: BCS_REFEREE says it. Internal to libbcs/api; called by
 * the referee's thread.
 */
#ifndef LIBBCS_API_RECORD_DEADLOCK_TELL_H
#define LIBBCS_API_RECORD_DEADLOCK_TELL_H

#include "nic_threads/drivers/driver.h"

/** Report it, and then end the job, or leave it; see nic_engine_params. */
void bcs_on_deadlock(const struct nic_engine_params *params,
                     const struct nic_verdict *verdict);

/** Say that ranks wait for each other, and what could still act; see
 *  nic_engine_params. */
void bcs_on_doubt(const struct nic_engine_params *params,
                  const struct nic_doubt *doubt);

#endif
