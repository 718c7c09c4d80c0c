/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks for files of code; see shim_module.h.
 */
#include "mpi_shim/real/shim_module.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <unistd.h>

bool shim_module_is_same(const void *one, const void *other)
{
    Dl_info first, second;

    return dladdr(one, &first) != 0 && dladdr(other, &second) != 0 &&
           first.dli_fbase == second.dli_fbase;
}

/** A dl_iterate_phdr function. @return 1: found */
static int look_at_module(struct dl_phdr_info *info, size_t n_bytes, void *arg)
{
    struct shim_module *module = arg;

    (void)n_bytes;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD &&
            module->address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz) {
            module->base = info->dlpi_addr;
            module->path = info->dlpi_name;
            return 1;
        }
    }
    return 0;
}

bool shim_module_at(struct shim_module *module)
{
    return dl_iterate_phdr(look_at_module, module) != 0;
}

void shim_module_program(char *path_out, size_t n_path_bytes)
{
    ssize_t n = readlink("/proc/self/exe", path_out, n_path_bytes - 1);

    path_out[n > 0 ? n : 0] = '\0';
}

bool shim_module_find(uintptr_t address, char *path_out, size_t n_path_bytes,
                      uint64_t *offset_out)
{
    struct shim_module module = {.address = address};

    path_out[0] = '\0';
    *offset_out = 0;
    if (address == 0 || !shim_module_at(&module)) {
        return false;
    }
    *offset_out = address - module.base;
    snprintf(path_out, n_path_bytes, "%s", module.path);
    if (module.path[0] == '\0') {
        shim_module_program(path_out, n_path_bytes);
    }
    return true;
}
