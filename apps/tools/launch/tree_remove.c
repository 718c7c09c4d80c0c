/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Removes folders from the leaves on; see tree_remove.h.
 */
#include "apps/tools/launch/tree_remove.h"

#include <ftw.h>
#include <stdio.h>

enum { MAX_OPEN_FOLDERS = 16 };

/** An nftw function. */
static int entry_remove(const char *path, const struct stat *status, int type,
                        struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    remove(path);
    return 0; /* go on with the others */
}

void tree_remove(const char *path)
{
    nftw(path, entry_remove, MAX_OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
