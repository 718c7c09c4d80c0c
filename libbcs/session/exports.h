/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of what processes export: memory that others may import, by numbers that
 * are each process's own. The table of all is in the heap of each, put there by the
 * exporters, so that an import is a look at the own memory. cBSP and remote commands
 * have one each; what may be done with an import is theirs. Called by the thread that
 * uses the core. [cBSP 3]
 *
 * An export that is taken back says up to when it holds, on a clock that goes on in all
 * processes in step, as cBSP's cBSP_gsyncs do. Where there is none it is always 1: then
 * it holds no longer at once.
 */
#ifndef BCS_SESSION_EXPORTS_H
#define BCS_SESSION_EXPORTS_H

#include <bcs/primitives.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Numbers of exports are 0 to this - 1. */
enum { BCS_EXPORTS = 256 };

/** A region that a process exports. */
struct bcs_export {
    uint64_t address; /* whatever its importers take it for */
    uint64_t n_bytes;
    uint64_t until;  /* from when on it does not hold; 0: not taken back */
    uint64_t serial; /* last; which export of this number it is; 0: never exported */
};

_Static_assert(offsetof(struct bcs_export, serial) == 24, "the serial is last");

/** The table as one process has it. */
struct bcs_exports {
    struct bcs_core *core;
    const struct bcs_node_set *all;
    uint64_t table_gva; /* [all][BCS_EXPORTS] struct bcs_export, in every heap */
    uint32_t rank;
    const char *until; /* what ends an export that was taken back, in reports */
    struct bcs_export own[BCS_EXPORTS];
};

/** Bytes of the table of so many processes. */
static inline uint64_t bcs_exports_bytes(uint32_t n_processes)
{
    return (uint64_t)n_processes * BCS_EXPORTS * sizeof(struct bcs_export);
}

/** Whether an export holds. */
bool bcs_export_is_valid(const struct bcs_export *export, uint64_t now);

/** Which export of its number it is. What follows from it is visible. */
uint64_t bcs_export_serial(const struct bcs_export *export);

/** What a process exports by a number, as far as it is known here. */
const struct bcs_export *bcs_exports_of(const struct bcs_exports *exports,
                                        uint32_t rank, uint32_t number);

/** Check a number. @return 0, or -EINVAL; logged */
int bcs_exports_check(const char *caller, int64_t number);

/**
 * Export, for all but the transfers, which are to be carried out in their order.
 *
 * @param caller  its name, in reports
 * @param number  checked
 * @return 0        xfers_out are to be made, from memory that stays
 * @return -EINVAL  address is 0 and n_bytes is not; logged
 * @return -EEXIST  the number is in use; logged
 */
int bcs_exports_add(struct bcs_exports *exports, const char *caller, uint32_t number,
                    struct bcs_export export, uint64_t now,
                    struct bcs_xfer xfers_out[2]);

/** Take an export back, from `until` on; in the same manner. @return -EINVAL: it is not
 *  exported; logged */
int bcs_exports_remove(struct bcs_exports *exports, const char *caller, uint32_t number,
                       uint64_t until, struct bcs_xfer *xfer_out);

#endif
