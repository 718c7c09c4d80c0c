/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where characters end in texts of others, for who writes them into documents. Pure.
 */
#ifndef LIBBCS_FABRIC_BASE_UTF8_H
#define LIBBCS_FABRIC_BASE_UTF8_H

#include <stddef.h>

/** Bytes of the UTF-8 character at the begin of n bytes. @return 0: there is none */
size_t bcs_utf8_bytes(const char *bytes, size_t n);

#endif
