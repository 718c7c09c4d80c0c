/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which function and line of the source an address in a file of code belongs to: by libdw, where
 * bcs-mds was built with it, from the file itself or from debug information that is installed
 * apart. Names come from files that may be anybody's: print them as such.
 */
#ifndef MDS_TOOL_PLACE_H
#define MDS_TOOL_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** A file of code, and what a run says of it. The caller's, as long as a call lasts. */
struct place_module {
    const char *path;
    const uint8_t *id; /* its build id */
    uint32_t n_id_bytes;
};

/** Where a call is. What is not known is NULL or 0. Texts are good until place_close. */
struct place {
    const char *function;
    uint64_t offset; /* of the return address in the function */
    const char *file;
    int line;
};

/** What is to be said below places: nothing, or that they have no lines. */
#ifdef MDS_HAS_LIBDW
#define PLACE_NOTE ""
#else
#define PLACE_NOTE " This bcs-mds was built without libdw: it knows no lines."
#endif

/** Files that have been opened. */
struct places;

/** @return end with place_close; NULL: no memory */
struct places *place_open(void);

struct demangler;

/** What turns names of C++ back. */
const struct demangler *place_demangler(const struct places *places);

/** Close them. Accepts NULL. */
void place_close(struct places *places);

/**
 * Find the call that returns to an address of a file.
 *
 * @return 0        something is known; other parts of place_out may be missing
 * @return -ENOENT  nothing is: there is no such file, or it has no symbols; or the address is 0, or
 *                  in no file
 * @return -ESTALE  the file is not the one that ran
 * @return -ENOTSUP bcs-mds was built without libdw
 * @return -ENOMEM
 */
int place_find(struct places *places, const struct place_module *module,
               uint64_t address, struct place *place_out);

/** The last part of a path. */
const char *place_last_part(const char *path);

/**
 * The words for a place: "function, file.c:12", without a line "function+0x1c, program", else
 * "0x4c1d in program", and what stands against it. Of paths the last part.
 *
 * @param address    0: places that found no room when they were recorded
 * @param place_out  receives what was found; NULL: it is not wanted
 * @return for free; NULL: no memory
 */
char *place_describe(struct places *places, const struct place_module *module,
                     uint64_t address, struct place *place_out);

#endif
