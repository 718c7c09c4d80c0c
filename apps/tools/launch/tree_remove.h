/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Removing a folder that bcsrun has made. Used by bcsrun only.
 */
#ifndef APPS_TOOLS_LAUNCH_TREE_REMOVE_H
#define APPS_TOOLS_LAUNCH_TREE_REMOVE_H

/** Remove a folder with all that is in it, but not what links lead to, nor other file
 *  systems. What cannot be removed stays. */
void tree_remove(const char *path);

#endif
