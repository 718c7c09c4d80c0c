/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which function and line of the source an address in a file of code belongs to: by
 * libdw, where bcs-mds was built with it, from the file itself or from debug
 * information that is installed apart on this machine. No server is asked. Whatever
 * files and file systems do, words come in a time that the caller sets. Names come from
 * files that may be anybody's: print them as such.
 */
#ifndef MDS_SOURCE_PLACE_H
#define MDS_SOURCE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "mds/source/place_file.h"

/** A file of code, and what a run says of it. The caller's, as long as a call lasts. */
struct place_module {
    const char *path;
    const uint8_t *id; /* its build id */
    uint32_t n_id_bytes;
};

/** For how long words are waited for in all: at the end of a job, and on a screen; and
 *  by who wants to read a report. */
#define PLACE_HASTY_NS UINT64_C(1000000000)
#define PLACE_PATIENT_NS UINT64_C(10000000000)

/** What is to be said below places: nothing, or that they have no lines. */
#ifdef MDS_HAS_LIBDW
#define PLACE_NOTE ""
#else
#define PLACE_NOTE " This bcs-mds was built without libdw: it knows no lines."
#endif

/** Files that are read. */
struct places;

/**
 * Begin to read files of code. This process has one thread.
 *
 * @param patience_ns for so long all calls of place_describe together wait for files,
 *                     by the time in which the child that reads has a core or needs
 *                     none
 * @return end with place_close; NULL: no memory
 */
struct places *place_open(uint64_t patience_ns);

/** Have as much patience as at first: what follows is another report. Accepts NULL. */
void place_renew(struct places *places);

/** End all reading. Accepts NULL. */
void place_close(struct places *places);

/** The last part of a path. */
const char *place_last_part(const char *path);

/**
 * The words for the place of the call that returns to an address: "function,
 * file.c:12", without a line "function+0x1c, program", else "0x4c1d in program", and
 * what stands against it. Of paths the last part. What takes too long to find is left
 * out.
 *
 * @param address    0: places that found no room when they were recorded
 * @param place_out receives what was found but for the offset, good until place_close;
 *                   NULL: it is not wanted
 * @return for free; NULL: no memory
 */
char *place_describe(struct places *places, const struct place_module *module,
                     uint64_t address, struct place *place_out);

/**
 * The same of a function further out: the compiler has put the one that calls into it,
 * or one around that.
 *
 * @param depth  how many functions further out
 * @return for free; NULL: there is none, or no memory
 */
char *place_describe_around(struct places *places, const struct place_module *module,
                            uint64_t address, uint8_t depth, struct place *place_out);

#endif
