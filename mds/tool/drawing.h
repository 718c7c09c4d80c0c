/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pictures, drawn by gnuplot.
 */
#ifndef MDS_TOOL_DRAWING_H
#define MDS_TOOL_DRAWING_H

#include <stdio.h>

/** Write what gnuplot is to do, with all data in it, once terminal and output are set. */
typedef void (*drawing_fn)(FILE *script, const void *what);

/** Write a text in quotes. Nothing in it means anything to gnuplot. */
void drawing_quote(FILE *script, const char *text);

/**
 * Make a picture. What cannot be done is told on standard error.
 *
 * @param name  the file's: .svg, .png or .txt says of what kind; "-": for a terminal, on standard
 *              output
 * @return the program's exit status
 */
int drawing_make(const char *name, drawing_fn write, const void *what);

#endif
