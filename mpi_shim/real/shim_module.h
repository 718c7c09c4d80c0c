/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of code that addresses belong to. Any thread.
 */
#ifndef MPI_SHIM_REAL_SHIM_MODULE_H
#define MPI_SHIM_REAL_SHIM_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/** A file of code that has an address. */
struct shim_module {
    uintptr_t address;
    uintptr_t base;   /* where it is loaded */
    const char *path; /* as it was loaded, the loader's; "": the program itself */
};

/** Whether two addresses are in the same file. */
bool shim_module_is_same(const void *one, const void *other);

/** Find the file of module->address; the other members are set if it is found. @return
 *  whether it is */
bool shim_module_at(struct shim_module *module);

/** The path of the program itself, cut off if there is no room; "": unknown. */
void shim_module_program(char *path_out, size_t n_path_bytes);

/**
 * Find the file that an address is in.
 *
 * @param path_out    its path, cut off if there is no room
 * @param offset_out  of the address in it, as symbols are told
 * @return false: there is none; path_out is ""
 */
bool shim_module_find(uintptr_t address, char *path_out, size_t n_path_bytes,
                      uint64_t *offset_out);

#pragma GCC visibility pop

#endif
