/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which line of the source an address of a running process belongs to. One thread.
 */
#ifndef APPS_TOOLS_TOP_WHERE_H
#define APPS_TOOLS_TOP_WHERE_H

#include <stdint.h>

#include "mds/source/place.h"

/**
 * The words for a place, as place_describe has them.
 *
 * @param file     that the address is in, "": unknown; NULL: as the process says
 * @param pid      the process; for that
 * @param address  of the process; 0: unknown
 * @param base     where the file of that address was loaded
 * @return for free; NULL: it is not known, or no memory
 */
char *where_words(struct places *places, const char *file, int64_t pid,
                  uint64_t address, uint64_t base);

#endif
