/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The elements of a table (libbcs/fabric/ring/region.h) that anybody may have written,
 * in a file with holes as a heap is one: tables are made for more than any job uses.
 * Holes are neither read nor filled. One thread.
 */
#ifndef APPS_TOOLS_LOOK_ELEMENTS_H
#define APPS_TOOLS_LOOK_ELEMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "libbcs/fabric/ring/region.h"

/** A way through a table; begin with the first three, and zeros. */
struct bcs_elements {
    int fd;
    struct nic_region region;
    uint64_t n;        /* elements of the table */
    uint64_t next;     /* the first one that has not been passed */
    uint64_t data_end; /* a stretch that is no hole ends here, in the file */
};

/**
 * Go to the next element that is not in a hole as a whole.
 *
 * @param number_out  of the element; where it begins is nic_region_gva of it
 * @return false: there is none any more, or the file cannot be read
 */
bool bcs_elements_next(struct bcs_elements *elements, uint64_t *number_out);

#endif
