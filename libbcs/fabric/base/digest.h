/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A short number for some bytes, FNV-1a of 64 bits: tells whether they differ, but not
 * from somebody who wants them to be mistaken. Pure.
 */
#ifndef LIBBCS_FABRIC_BASE_DIGEST_H
#define LIBBCS_FABRIC_BASE_DIGEST_H

#include <stdint.h>

/** The digest of nothing. */
#define BCS_DIGEST_OF_NOTHING UINT64_C(0xcbf29ce484222325)

/** The digest of what a digest is of, followed by n_bytes more. */
static inline uint64_t bcs_digest_add(uint64_t digest, const void *data,
                                      uint64_t n_bytes)
{
    const unsigned char *bytes = data;

    for (uint64_t i = 0; i < n_bytes; i++) {
        digest = (digest ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return digest;
}

#endif
