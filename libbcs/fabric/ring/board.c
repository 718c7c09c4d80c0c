/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number of a layout; see board.h. Any process.
 */
#include "libbcs/fabric/ring/board.h"

#include <bcs/version.h>
#include <string.h>

#include "libbcs/fabric/base/digest.h"
#include "libbcs/fabric/ring/sleep.h"
#include "libbcs/fabric/ring/stand.h"

uint64_t bcs_board_layout(void)
{
    const uint64_t numbers[] = {
        sizeof(struct bcs_board),        sizeof(struct nic_shape),
        sizeof(struct bcs_limits),       sizeof(struct bcs_machine),
        sizeof(struct bcs_port),         sizeof(struct bcs_ring),
        sizeof(struct bcs_descriptor),   sizeof(struct bcs_stands),
        sizeof(struct bcs_stand),        BCS_STAND_SLOTS,
        sizeof(struct bcs_far_stand),    offsetof(struct bcs_port, pid),
        offsetof(struct bcs_ring, head),
    };
    const char *version = bcs_version();

    return bcs_digest_add(
        bcs_digest_add(BCS_DIGEST_OF_NOTHING, numbers, sizeof(numbers)), version,
        strlen(version));
}
