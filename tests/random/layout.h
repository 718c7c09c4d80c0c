/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived datatypes drawn at random, with a list of where their elements are that does
 * not come from the MPI library; and buffers in which every byte is accounted for:
 * those of elements have known values, all others one guard value.
 */
#ifndef TESTS_RANDOM_LAYOUT_H
#define TESTS_RANDOM_LAYOUT_H

#include <mpi.h>

#include "tests/random/plan.h"

enum { MAX_PER_INSTANCE = 12 };

struct layout {
    MPI_Datatype type; /* committed unless predefined */
    bool is_derived;
    enum base base;
    int n;                          /* elements of one instance */
    ptrdiff_t at[MAX_PER_INSTANCE]; /* bytes, in the order of the type map */
    ptrdiff_t low;                  /* lower bound */
    ptrdiff_t extent;
};

struct buffer {
    struct layout layout;
    int count; /* instances that there is room for */
    char *memory;
    size_t n_bytes;
    char *origin; /* what is handed to MPI */
};

/** Make the datatypes of the elements. */
void layout_begin(void);
/** The counterpart of layout_begin. */
void layout_end(void);

/** Number of predefined elements in one element of a base, as MPI_Get_elements
 *  counts. */
int layout_base_parts(enum base base);

/** Draw a type whose instances have a number of elements that divides n (0: any). */
void layout_draw(struct layout *layout, enum base base, int n, struct draw *draw);

/** Free the datatype, which may be done as soon as an operation has been started. */
void layout_free(struct layout *layout);

/** A buffer of count instances, with guard values only. */
void buffer_make(struct buffer *buffer, const struct layout *layout, int count);

/** Set all bytes to the guard value. */
void buffer_clear(struct buffer *buffer);

/** Store n elements, the data of a key, from element `first` on. */
void buffer_put(struct buffer *buffer, int64_t first, int n, uint64_t key);

/**
 * Compare n elements from `first` on with the data of a key, and clear them.
 * @return the first that differs, or -1
 */
int buffer_take(struct buffer *buffer, int64_t first, int n, uint64_t key);

/** @return offset from the origin of the first byte that has not the guard value, or 0
 *  @param is_stray  whether there is one */
ptrdiff_t buffer_stray(const struct buffer *buffer, bool *is_stray);

/** Free the memory and the datatype. */
void buffer_free(struct buffer *buffer);

#endif
