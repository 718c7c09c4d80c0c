/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What /proc tells of a process by way of its memory: its arguments, and which file is
 * where. The kernel may wait for that process, which can hold it up for ever. So of
 * another user's process a child reads it (mds/source/reader.h), which is ended if it
 * takes long.
 */
#ifndef APPS_TOOLS_TOP_PROCESS_TEXT_H
#define APPS_TOOLS_TOP_PROCESS_TEXT_H

#include <stddef.h>
#include <stdint.h>

/** The program of a process and its arguments, ended by a zero, cut if need be; "":
 *  unknown. */
void process_text_command(int64_t pid, char *text_out, size_t n_bytes);

/** The file that an address of a process is in. @return its path, for free; NULL: none,
 *  or unknown */
char *process_text_file(int64_t pid, uint64_t address);

#endif
