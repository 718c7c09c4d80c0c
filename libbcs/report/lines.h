/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of the source that addresses belong to, as bcs-top knows them. Called at
 * the end of a job, by one process.
 */
#ifndef LIBBCS_REPORT_LINES_H
#define LIBBCS_REPORT_LINES_H

#include <stdbool.h>
#include <stdint.h>

/** A place in a file of code. */
struct bcs_line {
    const char *path; /* of the file */
    uint64_t offset;  /* in it, of a return address */
    char *text;       /* "main, file.c:12" or "0x4c1d in file"; for free */
    char *file;       /* of the source, its path; for free; NULL: not known */
    int number;       /* of the line in it */
};

/**
 * Find the texts. Without bcs-top, or if it fails, they are the second form.
 *
 * @return whether bcs-top has found them
 */
bool bcs_lines_find(struct bcs_line *lines, uint32_t n);

#endif
