/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an executable file says of itself, as far as a preload cares. The file is
 * untrusted: everything is checked against its size. Used by bcsrun only.
 */
#ifndef APPS_TOOLS_LAUNCH_ELF_FILE_H
#define APPS_TOOLS_LAUNCH_ELF_FILE_H

#include <stdbool.h>

/** The kinds of files that can be executed. */
enum elf_kind {
    ELF_OTHER,   /* a script, or anything else that is not ELF */
    ELF_DYNAMIC, /* loaded by the dynamic linker, which knows LD_PRELOAD */
    ELF_STATIC,  /* not */
    ELF_FOREIGN, /* not for 64-bit processes of this byte order */
    ELF_DAMAGED, /* contradicts itself or ends too early */
};

/** Receives the name of one needed library. @return whether to go on */
typedef bool (*elf_needed_fn)(void *arg, const char *library);

/**
 * Read a file and report the libraries that it asks the dynamic linker for.
 *
 * @param needed  called for each library of an ELF_DYNAMIC file, in the file's order;
 *                the name is valid during the call only
 * @return an enum elf_kind, or -errno if the file cannot be read
 */
int elf_file_read(const char *path, elf_needed_fn needed, void *arg);

#endif
