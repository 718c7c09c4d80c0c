/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asking for memory ahead of its use. A hint: without effect but on time. Any thread.
 */
#ifndef LIBBCS_FABRIC_BASE_PREFETCH_H
#define LIBBCS_FABRIC_BASE_PREFETCH_H

/** Have the cache line of an address here, and nowhere else, when it is written
 *  soon. */
static inline void bcs_prefetch_to_write(const void *address)
{
#if defined(                                                                           \
    __x86_64__) /* GCC asks for a line to read, unless it is told what         \
                           processor it is */
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1);
#endif
}

#endif
