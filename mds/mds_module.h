/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of code that calls were made from: the program and libraries that were
 * loaded then. Under the collection's lock.
 */
#ifndef MDS_MDS_MODULE_H
#define MDS_MDS_MODULE_H

#include <stdint.h>

enum {
    MDS_MODULES = 64,
    MDS_MODULE_NONE = UINT8_MAX,
    MDS_MODULE_PATH_BYTES = 512,
    MDS_MODULE_ID_BYTES = 32,
};

/** A file of code, as it is loaded. */
struct mds_module {
    char path[MDS_MODULE_PATH_BYTES]; /* of a longer one the begin */
    uintptr_t base; /* what addresses are here above what they are in the file */
    uint32_t n_id_bytes;
    uint8_t id[MDS_MODULE_ID_BYTES]; /* its build id */
};

/** All of a process. Zeroed at first. */
struct mds_modules {
    uint32_t n_used;
    struct mds_module table[MDS_MODULES];
};

#pragma GCC visibility push(hidden)

/** Find the file that has an address, which is kept if there is room. @return its
 *  number; MDS_MODULE_NONE: no file that is loaded now, or no room */
uint8_t mds_modules_find(struct mds_modules *modules, uintptr_t address);

#pragma GCC visibility pop

#endif
