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
    return config->strobe == NIC_STROBE_TIMED ? &nic_driver_timed : &nic_driver_inline;
}
