/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of code that addresses belong to. Any thread.
 */
#ifndef SHIM_MODULE_H
#define SHIM_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

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
