/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of the driver.
 */
#include "nic_threads/drivers/driver.h"

const struct nic_driver_ops *nic_driver_find(const struct nic_config *config)
{
    if (config->driver == NIC_DRIVER_THREADS) {
        return &nic_driver_threads;
    }
    if (config->strobe == NIC_STROBE_TIMED) {
        return &nic_driver_timed;
    }
    return config->record.n_spans > 0 ? &nic_driver_inline_recorded
                                      : &nic_driver_inline;
}
