/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks for methods in the data of compiled modules; see python_method.h. An entry of
 * such a table (PyMethodDef, part of CPython's stable interface) begins with a pointer
 * to the name and one to the function. The tables of a module that is loaded are in its
 * writable segment, wherever it is: so two words that follow each other are looked for,
 * of which the second one is the function, and the first one leads to a name within the
 * file.
 */
#include "mpi_shim/real/python_method.h"

#include <ctype.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

/** What is looked for, and what was found. */
struct search {
    uintptr_t function;
    char *name_out;
    bool is_found;
};

/** The segment of a file that has an address; NULL: none. */
static const ElfW(Phdr) * segment_of(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) != 0 &&
            address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz) {
            return segment;
        }
    }
    return NULL;
}

/** Copy a name, if an address leads to one within the file. @return whether it does */
static bool read_name(const struct dl_phdr_info *info, uintptr_t address,
                      char name_out[SHIM_METHOD_BYTES])
{
    const ElfW(Phdr) *segment = segment_of(info, address);
    const char *text = (const char *)address;
    size_t n_bytes, n = 0;

    if (segment == NULL) {
        return false;
    }
    n_bytes = info->dlpi_addr + segment->p_vaddr + segment->p_memsz - address;
    n_bytes = n_bytes < SHIM_METHOD_BYTES ? n_bytes : SHIM_METHOD_BYTES;
    while (n < n_bytes && (isalnum((unsigned char)text[n]) || text[n] == '_')) {
        n++;
    }
    if (n == 0 || n == n_bytes || text[n] != '\0') {
        return false;
    }
    memcpy(name_out, text, n + 1);
    return true;
}

/** A dl_iterate_phdr function. @return 1: it is the function's file */
static int look_at_file(struct dl_phdr_info *info, size_t n_info_bytes, void *arg)
{
    struct search *search = arg;

    (void)n_info_bytes;
    if (segment_of(info, search->function) == NULL) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uintptr_t *words =
            (const uintptr_t *)((info->dlpi_addr + segment->p_vaddr +
                                 sizeof(uintptr_t) - 1) &
                                ~(uintptr_t)(sizeof(uintptr_t) - 1));
        size_t n = segment->p_memsz / sizeof(uintptr_t);

        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) == 0) {
            continue;
        }
        for (size_t j = 1; j + 1 < n && !search->is_found; j++) {
            search->is_found = words[j] == search->function &&
                               read_name(info, words[j - 1], search->name_out);
        }
    }
    return 1;
}

bool shim_python_method_name(uintptr_t function, char name_out[SHIM_METHOD_BYTES])
{
    struct search search = {.function = function, .name_out = name_out};

    dl_iterate_phdr(look_at_file, &search);
    return search.is_found;
}
