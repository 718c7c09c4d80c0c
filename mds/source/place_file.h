/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file of code, and what libdw finds in it. Files may be anybody's, and of any size:
 * place.c has this called in a child (reader.h), which goes on with the rights of the
 * file's owner.
 */
#ifndef MDS_SOURCE_PLACE_FILE_H
#define MDS_SOURCE_PLACE_FILE_H

#include <stdbool.h>
#include <stdint.h>

/** Where a call is. What is not known is NULL or 0. */
struct place {
    const char *function;
    uint64_t offset; /* of the return address in the function */
    const char *file;
    int line;
    bool lacks_lines; /* its file has been looked at, and knows no line of it */
};

/** A file that has been opened. */
struct place_file;

/** Open a file, and become its owner if the process is root's. @return NULL: it is
 *  none, or cannot be read */
struct place_file *place_file_open(const char *path);

/** Whether the file is the one that ran, as far as both can be told. */
bool place_file_is(const struct place_file *file, const uint8_t *id,
                   uint32_t n_id_bytes);

/** Find the function of the call that returns to an address, from the file's own
 *  symbols. Texts are good as long as the process. @return whether there is one */
bool place_file_function(const struct place_file *file, uint64_t address,
                         struct place *place_out);

/**
 * Find the line of the source, and a better name of the function if there is one, from
 * debug information in the file, or apart on this machine. Names are as the linker has
 * them where those tell more.
 *
 * @param depth  0: of the function that calls; else how many functions further out, as
 *               the compiler has put one into the other
 * @param place  what is known already, for the depth 0
 * @return whether something is known
 */
bool place_file_line(struct place_file *file, uint64_t address, uint32_t depth,
                     struct place *place);

#endif
