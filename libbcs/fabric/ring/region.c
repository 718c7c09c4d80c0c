/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements of a table beyond the first ones: apart from the look at those, which is
 * inlined everywhere. Any process and thread.
 */
#include "libbcs/fabric/ring/region.h"

void *nic_region_at(const struct nic_region *region, const struct bcs_core *core,
                    uint32_t number)
{
    return bcs_core_address(core, nic_region_gva(region, number));
}
