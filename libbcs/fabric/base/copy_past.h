/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy past the caches: its lines go to memory by themselves, so that nobody has to
 * give them away first. Where another core has read them last, which is slow to answer,
 * that is several times faster than to write them in place; whoever reads them has them
 * from memory. Any thread.
 */
#ifndef LIBBCS_FABRIC_BASE_COPY_PAST_H
#define LIBBCS_FABRIC_BASE_COPY_PAST_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#include <stdint.h>
#endif

#if defined(__x86_64__)
enum { BCS_CAN_COPY_PAST = true };

/** Copy n_bytes to where nobody reads before what is published after it. Areas must not
 *  overlap. */
static inline void bcs_copy_past(void *to, const void *from, size_t n_bytes)
{
    enum { LINE = 64, PART = 16 };
    char *out = to;
    const char *in = from;
    size_t n_head = -(uintptr_t)out % LINE;

    if (n_bytes >= LINE + n_head) {
        memcpy(out, in, n_head);
        out += n_head;
        in += n_head;
        for (n_bytes -= n_head; n_bytes >= LINE; n_bytes -= LINE) {
            for (int i = 0; i < LINE; i += PART) {
                _mm_stream_si128((__m128i *)(out + i),
                                 _mm_loadu_si128((const __m128i *)(in + i)));
            }
            out += LINE;
            in += LINE;
        }
        _mm_sfence(); /* a release orders stores, but not those past the caches */
    }
    memcpy(out, in, n_bytes);
}
#else
enum { BCS_CAN_COPY_PAST = false };

static inline void bcs_copy_past(void *to, const void *from, size_t n_bytes)
{
    memcpy(to, from, n_bytes);
}
#endif

#endif
