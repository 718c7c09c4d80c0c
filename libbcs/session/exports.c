/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of what processes export; see the header.
 */
#include "libbcs/session/exports.h"

#include <errno.h>
#include <inttypes.h>

#include "libbcs/fabric/base/log.h"

bool bcs_export_is_valid(const struct bcs_export *export, uint64_t now)
{
    /* Pairs with the put of an export that was taken back. */
    uint64_t until = __atomic_load_n(&export->until, __ATOMIC_ACQUIRE);

    return until == 0 || now < until;
}

uint64_t bcs_export_serial(const struct bcs_export *export)
{
    /* Pairs with the put of an export, whose last word it is. */
    return __atomic_load_n(&export->serial, __ATOMIC_ACQUIRE);
}

static uint64_t gva_of(const struct bcs_exports *exports, uint32_t rank,
                       uint32_t number)
{
    return exports->table_gva +
           (rank * (uint64_t)BCS_EXPORTS + number) * sizeof(struct bcs_export);
}

const struct bcs_export *bcs_exports_of(const struct bcs_exports *exports,
                                        uint32_t rank, uint32_t number)
{
    return bcs_core_address(exports->core, gva_of(exports, rank, number));
}

int bcs_exports_check(const char *caller, int64_t number)
{
    if (number < 0 || number >= BCS_EXPORTS) {
        bcs_error("%s: region %" PRId64 "; allowed are 0 to %d", caller, number,
                  BCS_EXPORTS - 1);
        return -EINVAL;
    }
    return 0;
}

/** The put of a part of an own export, from one offset to another, to where all find
 *  it. */
static struct bcs_xfer put_of(const struct bcs_exports *exports, uint32_t number,
                              size_t from, size_t to)
{
    return (struct bcs_xfer){
        .src = (const uint8_t *)&exports->own[number] + from,
        .n_bytes = to - from,
        .dest_gva = gva_of(exports, exports->rank, number) + from,
        .dests = exports->all,
    };
}

int bcs_exports_add(struct bcs_exports *exports, const char *caller, uint32_t number,
                    struct bcs_export export, uint64_t now,
                    struct bcs_xfer xfers_out[2])
{
    struct bcs_export *own = &exports->own[number];

    if (export.address == 0 && export.n_bytes != 0) {
        bcs_error("%s: region %" PRIu32 " of %" PRIu64 " bytes at a null pointer",
                  caller, number, export.n_bytes);
        return -EINVAL;
    }
    if (own->serial != 0 && bcs_export_is_valid(own, now)) {
        bcs_error("%s: region %" PRIu32 " is exported%s%s", caller, number,
                  own->until == 0 ? "" : " until ",
                  own->until == 0 ? "" : exports->until);
        return -EEXIST;
    }
    export.until = 0;
    export.serial = own->serial + 1;
    *own = export;
    /* First what it is, then that it is: who sees the second sees the first. */
    xfers_out[0] = put_of(exports, number, 0, offsetof(struct bcs_export, until));
    xfers_out[1] =
        put_of(exports, number, offsetof(struct bcs_export, until), sizeof(export));
    return 0;
}

int bcs_exports_remove(struct bcs_exports *exports, const char *caller, uint32_t number,
                       uint64_t until, struct bcs_xfer *xfer_out)
{
    struct bcs_export *own = &exports->own[number];

    if (own->serial == 0 || own->until != 0) {
        bcs_error("%s: region %" PRIu32 " is not exported", caller, number);
        return -EINVAL;
    }
    own->until = until;
    *xfer_out = put_of(exports, number, offsetof(struct bcs_export, until),
                       offsetof(struct bcs_export, serial));
    return 0;
}
