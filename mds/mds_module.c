/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks the loader for what is loaded; see mds_module.h. A file may be unloaded later,
 * and another one get its place: so an address is looked for when it is met first.
 */
#include "mds/mds_module.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/** What is looked for, and what was found. */
struct search {
    uintptr_t address;
    struct mds_module *module_out;
};

static bool has_address(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD &&
            address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz) {
            return true;
        }
    }
    return false;
}

/** Look for the build id among notes: each a header, a name and its bytes, both filled
 *  up to a multiple of 4. */
static void read_id(const char *notes, size_t n_bytes, struct mds_module *module_out)
{
    const ElfW(Nhdr) *note = (const void *)notes;
    size_t n_note_bytes;

    for (; n_bytes >= sizeof(*note);
         note = (const void *)((const char *)note + n_note_bytes)) {
        size_t n_name_bytes = (note->n_namesz + 3u) & ~(size_t)3;
        const char *name = (const char *)(note + 1);

        n_note_bytes =
            sizeof(*note) + n_name_bytes + ((note->n_descsz + 3u) & ~(size_t)3);
        if (n_note_bytes > n_bytes) {
            return;
        }
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof("GNU") &&
            memcmp(name, "GNU", sizeof("GNU")) == 0 &&
            note->n_descsz <= MDS_MODULE_ID_BYTES) {
            module_out->n_id_bytes = note->n_descsz;
            memcpy(module_out->id, name + n_name_bytes, note->n_descsz);
            return;
        }
        n_bytes -= n_note_bytes;
    }
}

/** The path of a file. The program's own is not told by the loader. */
static void read_path(const char *name, struct mds_module *module_out)
{
    ssize_t n_bytes;

    snprintf(module_out->path, sizeof(module_out->path), "%s", name);
    if (name[0] == '\0') {
        n_bytes =
            readlink("/proc/self/exe", module_out->path, sizeof(module_out->path) - 1);
        module_out->path[n_bytes < 0 ? 0 : n_bytes] = '\0';
    }
}

/** A dl_iterate_phdr function. @return 1: found */
static int look_at(struct dl_phdr_info *info, size_t n_info_bytes, void *arg)
{
    struct search *search = arg;

    (void)n_info_bytes;
    if (!has_address(info, search->address)) {
        return 0;
    }
    *search->module_out = (struct mds_module){.base = info->dlpi_addr};
    read_path(info->dlpi_name, search->module_out);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_NOTE && search->module_out->n_id_bytes == 0) {
            read_id((const char *)info->dlpi_addr + segment->p_vaddr, segment->p_memsz,
                    search->module_out);
        }
    }
    return 1;
}

uint8_t mds_modules_find(struct mds_modules *modules, uintptr_t address)
{
    struct mds_module module;
    struct search search = {address, &module};
    uint8_t i = 0;

    if (dl_iterate_phdr(look_at, &search) == 0) {
        return MDS_MODULE_NONE;
    }
    while (i < modules->n_used && (modules->table[i].base != module.base ||
                                   strcmp(modules->table[i].path, module.path) != 0)) {
        i++;
    }
    if (i == MDS_MODULES) {
        return MDS_MODULE_NONE;
    }
    if (i == modules->n_used) {
        modules->table[i] = module;
        modules->n_used++;
    }
    return i;
}
