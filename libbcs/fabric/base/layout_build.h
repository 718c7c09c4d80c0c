/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making a layout from the inside out: a list of parts for each body, which are joined
 * where their bytes are neighbours or their distances equal, so that a layout is as
 * small as its pattern, not as its number of blocks. Called by whoever describes data
 * with gaps (the MPI shim, for datatypes); any thread.
 */
#ifndef LIBBCS_FABRIC_BASE_LAYOUT_BUILD_H
#define LIBBCS_FABRIC_BASE_LAYOUT_BUILD_H

#include "libbcs/fabric/base/layout.h"

/** Parts in packing order: a body, or all bodies that other parts refer to. Starts as
 *  all zero. */
struct bcs_layout_list {
    struct bcs_layout_part *parts;
    size_t n_parts;
    size_t capacity;
    size_t size;       /* bytes of data in all parts */
    bool is_placed;    /* the parts are also among the bodies, */
    uint32_t placed;   /* from this one on */
    bool is_too_large; /* out of memory, or of numbers; nothing is added any more */
};

/** Free a list's memory. */
void bcs_layout_list_fini(struct bcs_layout_list *list);

/** Add a block of bytes. */
void bcs_layout_add_block(struct bcs_layout_list *list, ptrdiff_t offset,
                          size_t n_bytes);

/** Where copies of a body go. */
struct bcs_layout_places {
    ptrdiff_t offset; /* of the first */
    ptrdiff_t stride;
    size_t count;
};

/**
 * Add copies of a whole list. The list may be added many times, and is not changed
 * after the first time.
 *
 * @param bodies  the bodies of the layout that is being made
 */
void bcs_layout_add_copies(struct bcs_layout_list *list, struct bcs_layout_list *bodies,
                           struct bcs_layout_list *body,
                           const struct bcs_layout_places *places);

/**
 * Make the layout whose element is a list, extent bytes from one to the next.
 *
 * @return the layout, for free; NULL: is_too_large of one of the lists, or no memory
 */
struct bcs_layout *bcs_layout_make(struct bcs_layout_list *bodies,
                                   struct bcs_layout_list *element, ptrdiff_t extent);

#endif
