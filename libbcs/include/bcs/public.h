/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mark of what libbcs.so exports. Everything is compiled with hidden visibility, so
 * that calls inside the library stay direct; a public prototype starts with BCS_PUBLIC.
 */
#ifndef BCS_PUBLIC_H
#define BCS_PUBLIC_H

#define BCS_PUBLIC __attribute__((visibility("default")))

#endif
