/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds functions and lines by libdw; see place_file.h. A function that the compiler
 * has put into another one is one of its own here. What is inline in our own headers is
 * not: its place is where the program has it, as that line says more than ours.
 *
 * Nobody but this file has libdw look for debug information, and libdw is only asked
 * about what is found here, by build id or by debug link, in a file of this machine.
 * dwfl_standard_find_debuginfo and dwfl_build_id_find_elf are not used: they ask the
 * servers that DEBUGINFOD_URLS names.
 */
#include "mds/source/place_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include "mds/source/demangle.h"
#include "mds/source/reader.h"

#define DEBUG_FOLDER "/usr/lib/debug"

enum {
    PATH_BYTES = 4096,
    CHUNK_BYTES = 1 << 16,
    FUNCTIONS_MOST = 32,
    NESTED_MOST = 64
};

/** A file that has been opened. */
struct place_file {
    char *path;
    int fd;
    Dwfl_Module *own; /* with nothing but what is in the file */
    Dwfl_Module
        *whole; /* with debug information that is apart; NULL: not looked for yet */
    bool has_looked; /* for that */
};

/** A checksum of a file as debug links have it: CRC-32. @return whether it could be
 *  read */
static bool add_up(int fd, uint32_t *sum_out)
{
    unsigned char chunk[CHUNK_BYTES];
    uint32_t table[256], sum = UINT32_MAX;
    off_t at = 0;
    ssize_t n;

    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++) {
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xedb88320) : 0);
        }
    }
    while ((n = pread(fd, chunk, sizeof(chunk), at)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            sum = table[(sum ^ chunk[i]) & 0xff] ^ sum >> 8;
        }
        at += n;
    }
    *sum_out = ~sum;
    return n == 0;
}

/** Whether a file has the debug information of a module: by the build id, or, of a
 *  module without one, by the checksum in its debug link. */
static bool is_of(int fd, Dwfl_Module *module, GElf_Word link_sum)
{
    const unsigned char *id;
    const void *other;
    GElf_Addr where;
    int n = dwfl_module_build_id(module, &id, &where);
    uint32_t sum;
    Elf *elf;
    bool is;

    if (n <= 0) {
        return link_sum != 0 && add_up(fd, &sum) && sum == link_sum;
    }
    elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    is = elf != NULL && dwelf_elf_gnu_build_id(elf, &other) == n &&
         memcmp(id, other, (size_t)n) == 0;
    elf_end(elf);
    return is;
}

/** Open a file if it has the debug information. @return -1: it has not */
static int open_apart(const char *path, Dwfl_Module *module, GElf_Word link_sum)
{
    int fd = reader_open_file(path);

    if (fd >= 0 && !is_of(fd, module, link_sum)) {
        close(fd);
        fd = -1;
    }
    return fd < 0 ? -1 : fd;
}

/** Find debug information that is named after a build id. @return a descriptor; -1:
 *  there is none */
static int find_by_id(Dwfl_Module *module)
{
    char path[sizeof(DEBUG_FOLDER "/.build-id/.debug") + 2 * PATH_BYTES] =
        DEBUG_FOLDER "/.build-id/";
    const unsigned char *id;
    GElf_Addr where;
    int n = dwfl_module_build_id(module, &id, &where);
    char *end = path + strlen(path);

    if (n < 2 || n > PATH_BYTES / 2) {
        return -1;
    }
    for (int i = 0; i < n; i++) {
        end += sprintf(end, i == 1 ? "/%02x" : "%02x", id[i]);
    }
    strcpy(end, ".debug");
    return open_apart(path, module, 0);
}

/** Find debug information that a file names by a debug link: beside it, or where a
 *  system has it.
 *  @return a descriptor; -1: there is none */
static int find_by_link(Dwfl_Module *module, const char *file, const char *link,
                        GElf_Word link_sum)
{
    static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s",
                                        DEBUG_FOLDER "%.*s/%s"};
    const char *slash = strrchr(file, '/');
    int n_folder = slash == NULL ? 0 : (int)(slash - file), fd = -1;
    char path[PATH_BYTES];

    if (slash == NULL || strchr(link, '/') != NULL) {
        return -1;
    }
    for (size_t i = 0; fd < 0 && i < sizeof(forms) / sizeof(forms[0]); i++) {
        int n = snprintf(path, sizeof(path), forms[i], n_folder, file, link);

        fd = n >= (int)sizeof(path) ? -1 : open_apart(path, module, link_sum);
    }
    return fd;
}

/** A callback of libdwfl: find debug information that is not in the file itself. */
static int find_apart(Dwfl_Module *module, void **user, const char *name,
                      Dwarf_Addr base, const char *file, const char *link,
                      GElf_Word link_sum, char **path_out)
{
    int fd = find_by_id(module);

    (void)user;
    (void)name;
    (void)base;
    *path_out = NULL;
    return fd >= 0 || file == NULL || link == NULL
               ? fd
               : find_by_link(module, file, link, link_sum);
}

/** The same: there is none. */
static int find_nothing(Dwfl_Module *module, void **user, const char *name,
                        Dwarf_Addr base, const char *file, const char *link,
                        GElf_Word link_sum, char **path_out)
{
    (void)module;
    (void)user;
    (void)name;
    (void)base;
    (void)file;
    (void)link;
    (void)link_sum;
    *path_out = NULL;
    return -1;
}

/** The same for the file itself, which libdwfl has got already. */
static int find_no_file(Dwfl_Module *module, void **user, const char *name,
                        Dwarf_Addr base, char **path_out, Elf **elf_out)
{
    (void)module;
    (void)user;
    (void)name;
    (void)base;
    *path_out = NULL;
    *elf_out = NULL;
    return -1;
}

/** Have libdw read a file. @return NULL: it cannot */
static Dwfl_Module *read_module(const struct place_file *file, bool is_whole)
{
    static const Dwfl_Callbacks all[] = {
        {.find_elf = find_no_file,
         .find_debuginfo = find_nothing,
         .section_address = dwfl_offline_section_address},
        {.find_elf = find_no_file,
         .find_debuginfo = find_apart,
         .section_address = dwfl_offline_section_address},
    };
    Dwfl *dwfl = dwfl_begin(&all[is_whole]);
    int fd = dup(file->fd);
    Dwfl_Module *module;

    if (dwfl == NULL || fd < 0) {
        return NULL; /* the process ends soon */
    }
    dwfl_report_begin(dwfl);
    module = dwfl_report_offline(dwfl, "", file->path, fd);
    dwfl_report_end(dwfl, NULL, NULL);
    return module;
}

struct place_file *place_file_open(const char *path)
{
    struct place_file *file = calloc(1, sizeof(*file));
    struct stat status;

    if (file != NULL) {
        file->path = strdup(path);
        file->fd = reader_open_file(path);
        if (file->path != NULL && file->fd >= 0 && fstat(file->fd, &status) == 0 &&
            reader_become(status.st_uid, status.st_gid)) {
            file->own = read_module(file, false);
        }
    }
    return file != NULL && file->own != NULL ? file : NULL;
}

bool place_file_is(const struct place_file *file, const uint8_t *id,
                   uint32_t n_id_bytes)
{
    const unsigned char *own;
    GElf_Addr where;
    int n_bytes = dwfl_module_build_id(file->own, &own, &where);

    return n_bytes <= 0 || n_id_bytes == 0 ||
           ((uint32_t)n_bytes == n_id_bytes && memcmp(own, id, n_id_bytes) == 0);
}

/** Where a byte of the call is that returns to an address. @return 0: the file cannot
 *  be read */
static GElf_Addr call_of(Dwfl_Module *module, uint64_t address)
{
    GElf_Addr bias;

    return dwfl_module_getelf(module, &bias) == NULL ? 0 : bias + address - 1;
}

/** @return whether there is one */
static bool find_function(Dwfl_Module *module, GElf_Addr at, struct place *place)
{
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name =
        dwfl_module_addrinfo(module, at, &offset, &symbol, NULL, NULL, NULL);

    if (name != NULL) {
        place->function = name;
        place->offset = offset + 1;
    }
    return name != NULL;
}

/** Whether a line is in a public header that has functions which wait. */
static bool is_in_our_header(const char *file)
{
    static const char *const headers[] = {"/bcs/channel.h", "/bcs/remote.h"};
    size_t n = file == NULL ? 0 : strlen(file);

    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        size_t n_header = strlen(headers[i]);

        if (n >= n_header && strcmp(file + n - n_header, headers[i]) == 0) {
            return true;
        }
    }
    return false;
}

/** Take the place where an inline function is for that of the code in it. @return
 *  whether it is known */
static bool take_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct place *place)
{
    Dwarf_Attribute file_attribute, line_attribute;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t n_files;
    const char *path;

    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &file_attribute), &file) !=
            0 ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &line_attribute), &line) !=
            0 ||
        line > INT_MAX || dwarf_getsrcfiles(unit, &files, &n_files) != 0 ||
        file >= n_files || (path = dwarf_filesrc(files, file, NULL, NULL)) == NULL) {
        return false;
    }
    place->file = path;
    place->line = (int)line;
    return true;
}

/** The name of a function: the linker's, where it tells more, else that of the source.
 *  @param symbol  what is taken if there is none */
static const char *name_of(Dwarf_Die *function, const char *symbol)
{
    Dwarf_Attribute attribute;
    const char *linked = dwarf_formstring(
        dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
    const char *written = dwarf_diename(function);

    if (linked != NULL && demangle_is_needed(linked)) {
        return linked;
    }
    return written == NULL || (symbol != NULL && demangle_is_needed(symbol)) ? symbol
                                                                             : written;
}

/** Functions that have some code, each put into the one before, but for the first. */
struct functions {
    Dwarf_Die list[FUNCTIONS_MOST];
    int n;
};

/** Add the functions in a scope that have some code. (dwarf_getscopes leaves out what
 *  is in modules and namespaces, as these have no code of their own.) */
static void add_functions(Dwarf_Die *scope, Dwarf_Addr at, int depth,
                          struct functions *functions)
{
    Dwarf_Die part;
    int rc = depth == NESTED_MOST ? -1 : dwarf_child(scope, &part);

    for (; rc == 0; rc = dwarf_siblingof(&part, &part)) {
        switch (dwarf_tag(&part)) {
        case DW_TAG_module:
        case DW_TAG_namespace:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
            add_functions(&part, at, depth + 1, functions);
            break;
        case DW_TAG_subprogram:
        case DW_TAG_inlined_subroutine:
            if (dwarf_haspc(&part, at) > 0 && functions->n < FUNCTIONS_MOST) {
                functions->list[functions->n++] = part;
                add_functions(&part, at, depth + 1, functions);
            }
            break;
        case DW_TAG_lexical_block:
            if (dwarf_haspc(&part, at) > 0) {
                add_functions(&part, at, depth + 1, functions);
            }
            break;
        default:
            break;
        }
    }
}

/** Find the function so far out from the one that has the code, but for those of our
 *  headers.
 *  @param place  of the code; receives that of the function
 *  @return whether there are so many */
static bool find_around(Dwfl_Module *module, GElf_Addr at, uint32_t depth,
                        struct place *place)
{
    struct functions functions = {.n = 0};
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(module, at, &bias);

    if (unit != NULL) {
        add_functions(unit, at - bias, 0, &functions);
    }
    for (int i = functions.n; i-- > 0;) {
        Dwarf_Die *function = &functions.list[i];
        bool is_inlined = dwarf_tag(function) == DW_TAG_inlined_subroutine;

        if (!is_in_our_header(place->file) && depth-- == 0) {
            place->function = name_of(function, is_inlined ? NULL : place->function);
            return true;
        }
        if (!is_inlined || !take_call(unit, function, place)) {
            break;
        }
    }
    return false;
}

/** The line of an address. @return false: it is not known, nor what is around it */
static bool find_line(Dwfl_Module *module, GElf_Addr at, struct place *place)
{
    Dwfl_Line *line = dwfl_module_getsrc(module, at);

    if (line != NULL) {
        place->file = dwfl_lineinfo(line, NULL, &place->line, NULL, NULL, NULL);
        place->line = place->file == NULL ? 0 : place->line;
    }
    return place->line > 0;
}

bool place_file_function(const struct place_file *file, uint64_t address,
                         struct place *place_out)
{
    GElf_Addr at = call_of(file->own, address);

    *place_out = (struct place){0};
    return at != 0 && find_function(file->own, at, place_out);
}

/** The path of a source, which compilers may tell from where they were started.
 *  @return good as long as the process */
static const char *whole_path(Dwfl_Module *module, GElf_Addr at, const char *file)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(module, at, &bias);
    Dwarf_Attribute attribute;
    const char *folder =
        unit == NULL ? NULL
                     : dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    char *path;

    return file == NULL || *file == '/' || folder == NULL ||
                   asprintf(&path, "%s/%s", folder, file) < 0
               ? file
               : path;
}

/** The file with debug information that is apart. @return NULL: there is none */
static Dwfl_Module *whole_of(struct place_file *file)
{
    if (!file->has_looked) {
        file->has_looked = true;
        file->whole = read_module(file, true);
    }
    return file->whole;
}

bool place_file_line(struct place_file *file, uint64_t address, uint32_t depth,
                     struct place *place)
{
    Dwfl_Module *module = file->own;
    GElf_Addr at = call_of(module, address);

    if (at != 0 && !find_line(module, at, place)) {
        module = whole_of(file);
        at = module == NULL ? 0 : call_of(module, address);
        if (at != 0) {
            find_function(module, at, place);
            find_line(module, at, place);
        }
    }
    if (at != 0 && place->line > 0) {
        bool is_found = find_around(module, at, depth, place);

        place->file = whole_path(module, at, place->file);
        if (is_found) {
            return true;
        }
    }
    return depth == 0 && (place->function != NULL || place->line > 0);
}
