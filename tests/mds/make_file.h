/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file as docs/dump-format.md has it, which is put together in memory: numbers are
 * little-endian.
 */
#ifndef TESTS_MDS_MAKE_FILE_H
#define TESTS_MDS_MAKE_FILE_H

#include <stddef.h>
#include <stdint.h>

/** A file that is being made. */
struct file {
    char *bytes;
    size_t n, room;
};

/** Add a number of so many bytes. */
void put(struct file *file, uint64_t number, size_t n_bytes);

/** Add a text, filled up with zeros to so many bytes, or the begin of it. */
void put_text(struct file *file, const char *text, size_t n_bytes);

/** Set a number that is known later than its place. */
void set(struct file *file, size_t at, uint64_t number, size_t n_bytes);

/** End a section that began at from: its entry in the directory, of that number. */
void end_section(struct file *file, uint32_t number, const char *name, size_t from,
                 uint64_t record_bytes);

/** Write bytes as a file. @return whether that has failed, which is told */
int save(const char *path, const char *bytes, size_t n);

#endif
