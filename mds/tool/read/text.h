/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts of others, names and arguments of programs say, as they may go into documents.
 * Pure.
 */
#ifndef MDS_TOOL_READ_TEXT_H
#define MDS_TOOL_READ_TEXT_H

#include <stddef.h>

/** Copy n bytes; each that is no part of a character of UTF-8 becomes U+FFFD. @return
 *  for free; NULL: no memory */
char *text_utf8(const char *bytes, size_t n);

#endif
