/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What there is of place_file.h without libdw.
 */
#include "mds/source/place_file.h"

#include <stddef.h>

struct place_file *place_file_open(const char *path)
{
    (void)path;
    return NULL;
}

bool place_file_is(const struct place_file *file, const uint8_t *id,
                   uint32_t n_id_bytes)
{
    (void)file;
    (void)id;
    (void)n_id_bytes;
    return false;
}

bool place_file_function(const struct place_file *file, uint64_t address,
                         struct place *place_out)
{
    (void)file;
    (void)address;
    *place_out = (struct place){0};
    return false;
}

bool place_file_line(struct place_file *file, uint64_t address, uint32_t depth,
                     struct place *place)
{
    (void)file;
    (void)address;
    (void)depth;
    (void)place;
    return false;
}
