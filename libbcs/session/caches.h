/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processes of a machine share a cache, by the kernel's files on its processors.
 * (hwloc knows the same, but takes milliseconds to say it, in each process.) Any
 * thread.
 */
#ifndef BCS_SESSION_CACHES_H
#define BCS_SESSION_CACHES_H

#include <sched.h>
#include <stdint.h>

/* The kernel's folder. */
#define BCS_CACHES_FOLDER "/sys/devices/system/cpu"

#define BCS_CACHES_UNKNOWN UINT32_MAX

/**
 * The last-level cache of processors, by the lowest processor that has it.
 *
 * @param folder  BCS_CACHES_FOLDER, or one like it
 * @return BCS_CACHES_UNKNOWN if they have several, or the kernel does not say
 */
uint32_t bcs_caches_find(const char *folder, const cpu_set_t *cpus);

/**
 * The most processes, a power of two, so many of which that follow each other always
 * share a cache: of the first so many, and the next, and so on up to the last, which
 * may be fewer.
 *
 * @param caches  [n] of each process
 */
uint32_t bcs_caches_n_sharing(const uint32_t caches[], uint32_t n);

#endif
