/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts of others as JSON has them, for who writes a document without a library for
 * that. Pure.
 */
#ifndef LIBBCS_FABRIC_BASE_JSON_TEXT_H
#define LIBBCS_FABRIC_BASE_JSON_TEXT_H

#include <stdio.h>

/** Write a text in quotes; NULL is "". A byte that is no part of a character of UTF-8
 *  becomes U+FFFD. */
void bcs_json_text(FILE *out, const char *text);

#endif
