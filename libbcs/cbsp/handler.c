/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of handlers: 24 bits for the program or library, 40 for the place in it.
 *
 * What identifies a program or library is the file's last name, its segments, and its
 * notes, among which is the linker's build id where there is one. So processes that run
 * different programs do not mistake a function of one for one of the other.
 */
#include "libbcs/cbsp/handler.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define PLACE_BITS 40
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)

/** A search among all that is loaded, for an address or for a name. */
struct search {
    uint64_t address; /* 0: by name */
    uint64_t name;    /* the result, or what is sought */
    uint64_t found;   /* address of the name */
};

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n_bytes)
{
    const uint8_t *byte = bytes;

    for (size_t i = 0; i < n_bytes; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static uint64_t module_hash(const struct dl_phdr_info *info)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash == NULL ? info->dlpi_name : slash + 1;
    uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325), name, strlen(name));

    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD) {
            hash = hash_bytes(hash, segment, sizeof(*segment));
        } else if (segment->p_type == PT_NOTE) {
            hash = hash_bytes(hash, (const char *)(info->dlpi_addr + segment->p_vaddr),
                              segment->p_filesz);
        }
    }
    return (hash ^ hash >> 32) >> 8 & 0xffffff;
}

/** Whether a place of a module is code. */
static bool is_code(const struct dl_phdr_info *info, uint64_t place)
{
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 &&
            place - segment->p_vaddr < segment->p_memsz) {
            return true;
        }
    }
    return false;
}

/* The bias keeps the name of a place 0 in a module of hash 0 from being 0. */
static uint64_t make_name(const struct dl_phdr_info *info, uint64_t place)
{
    return module_hash(info) << PLACE_BITS | (place + 1);
}

static int look_at_module(struct dl_phdr_info *info, size_t n_bytes, void *arg)
{
    struct search *search = arg;
    uint64_t place = search->address != 0 ? search->address - info->dlpi_addr
                                          : (search->name & PLACE_MASK) - 1;

    (void)n_bytes;
    if (place >= PLACE_MASK || !is_code(info, place)) {
        return 0;
    }
    if (search->address != 0) {
        search->name = make_name(info, place);
        return 1;
    }
    if (make_name(info, place) != search->name) {
        return 0;
    }
    search->found = info->dlpi_addr + place;
    return 1;
}

static size_t slot_of(uint64_t key)
{
    return (key >> 4 ^ key >> 10) % CBSP_HANDLER_CACHE;
}

uint64_t cbsp_handler_name(struct cbsp_handlers *handlers, cBSP_handler_fn function)
{
    struct search search = {.address = (uint64_t)(uintptr_t)function};
    size_t slot = slot_of(search.address);

    if (handlers->named[slot].function == function) {
        return handlers->named[slot].name;
    }
    if (dl_iterate_phdr(look_at_module, &search) == 0) {
        return 0;
    }
    handlers->named[slot].function = function;
    handlers->named[slot].name = search.name;
    return search.name;
}

cBSP_handler_fn cbsp_handler_find(struct cbsp_handlers *handlers, uint64_t name)
{
    struct search search = {.name = name};
    size_t slot = slot_of(name);

    if (handlers->found[slot].name == name) {
        return handlers->found[slot].function;
    }
    if (dl_iterate_phdr(look_at_module, &search) == 0) {
        return NULL;
    }
    handlers->found[slot].name = name;
    memcpy(&handlers->found[slot].function, &search.found, sizeof(search.found));
    return handlers->found[slot].function;
}
