/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of pages in HTML, and of drawings in SVG inside them. Pure.
 */
#ifndef MDS_TOOL_REPORT_HTML_H
#define MDS_TOOL_REPORT_HTML_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Print a text of others: between tags, or as an attribute in double quotes, it stands
 *  for itself. What no page may have becomes U+FFFD. */
void html_text(FILE *out, const char *text);

/** Print a time in a unit that fits, with three digits or more. */
void html_time(FILE *out, double ns);

/** Print a number of bytes in a unit that fits, of powers of 1000. */
void html_bytes(FILE *out, double n_bytes);

/** Print a round value of a scale, a time or a number of bytes. */
void html_tick(FILE *out, double value, bool is_size);

/** Print a number from 0 on, its thousands apart. */
void html_count(FILE *out, uint64_t number);

/** Begin a cell of a table with a number; it ends with the next one. */
void html_cell(FILE *out);

/** Print a cell with a part of a whole as per cent. */
void html_percent_cell(FILE *out, double part);

#endif
