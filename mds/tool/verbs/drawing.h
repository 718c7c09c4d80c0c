/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pictures, drawn by gnuplot.
 */
#ifndef MDS_TOOL_VERBS_DRAWING_H
#define MDS_TOOL_VERBS_DRAWING_H

#include <stdio.h>

/** Write what gnuplot is to do, with all data in it, once terminal, output and title
 *  are set. */
typedef void (*drawing_fn)(FILE *script, const void *what);

/**
 * Make a picture. What cannot be done is told on standard error.
 *
 * @param name the file's: .svg, .png or .txt says of what kind; "-": for a terminal, on
 *              standard output
 * @param title  any text
 * @return the program's exit status
 */
int drawing_make(const char *name, const char *title, drawing_fn write,
                 const void *what);

#endif
