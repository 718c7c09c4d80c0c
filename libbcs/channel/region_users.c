/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting who has imported a region; see region_users.h.
 */
#include "libbcs/channel/region_users.h"

#include "libbcs/channel/far_command.h"

uint64_t *region_users_of(const struct channels *channels, uint32_t rank,
                          uint32_t number)
{
    return remote_place(channels, rank,
                        channels->layout.users_gva + number * sizeof(uint64_t));
}

bool region_count_in(const struct channels *channels, uint32_t rank, uint32_t number,
                     uint64_t serial)
{
    uint64_t *users = region_users_of(channels, rank, number);
    /* Pairs with the store of tell in channel_region.c, and with the addition of
     * close_own there. */
    uint64_t count = __atomic_load_n(users, __ATOMIC_ACQUIRE);

    do {
        if (count >> REMOTE_SERIAL_SHIFT != (serial & UINT32_MAX) ||
            (count & REMOTE_TAKEN_BACK) != 0) {
            return false;
        }
    } while (!__atomic_compare_exchange_n(users, &count, count + 1, true,
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return true;
}

void region_count_out(const struct channels *channels, uint32_t rank, uint32_t number)
{
    /* Pairs with the loads of collect in channel_region.c: what was done with it is
     * done. */
    __atomic_fetch_sub(region_users_of(channels, rank, number), 1, __ATOMIC_RELEASE);
}

int region_enter(struct channels *channels, uint32_t rank, uint32_t number,
                 uint64_t serial)
{
    if (!channels_is_near(channels, rank)) {
        return remote_far_import(channels, rank, number, serial);
    }
    return region_count_in(channels, rank, number, serial) ? 0 : BCS_E_PENDING;
}

int region_leave(struct channels *channels, uint32_t rank, uint32_t number,
                 uint64_t serial)
{
    if (!channels_is_near(channels, rank)) {
        return remote_far_release(channels, rank, number, serial);
    }
    region_count_out(channels, rank, number);
    return 0;
}
