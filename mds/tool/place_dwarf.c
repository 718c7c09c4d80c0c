/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds functions and lines by libdw; see place.h. A file is opened once, when the first place in
 * it is asked for, and kept. Of what is inline in our own headers the place is where the program has
 * it: its own line says more than ours.
 */
#include "mds/tool/place.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "mds/tool/demangle.h"

/** A file that has been opened, or could not be. */
struct code {
    char *path;
    Dwfl *dwfl;
    Dwfl_Module *module; /* NULL: there is none to be read */
    int error;           /* then, and if it is another one */
};

struct places {
    struct demangler demangler;
    struct code *codes;
    uint32_t n_codes;
};

struct places *place_open(void)
{
    struct places *places = calloc(1, sizeof(*places));

    if (places != NULL) {
        places->demangler = demangler_open();
    }
    return places;
}

const struct demangler *place_demangler(const struct places *places)
{
    return &places->demangler;
}

void place_close(struct places *places)
{
    if (places == NULL) {
        return;
    }
    for (uint32_t i = 0; i < places->n_codes; i++) {
        dwfl_end(places->codes[i].dwfl);
        free(places->codes[i].path);
    }
    demangler_close(&places->demangler);
    free(places->codes);
    free(places);
}

/** Read a file. @return NULL: it cannot be */
static Dwfl_Module *read_module(Dwfl *dwfl, const char *path)
{
    struct stat status;
    Dwfl_Module *module;

    /* A name of somebody else's may be that of anything; only files may be opened. */
    if (dwfl == NULL || stat(path, &status) < 0 || !S_ISREG(status.st_mode)) {
        return NULL;
    }
    dwfl_report_begin(dwfl);
    module = dwfl_report_offline(dwfl, "", path, -1);
    dwfl_report_end(dwfl, NULL, NULL);
    return module;
}

/** Whether the file is the one that ran, as far as both can be told. */
static bool is_same(Dwfl_Module *module, const struct place_module *wanted)
{
    const unsigned char *id;
    GElf_Addr where;
    int n_bytes = dwfl_module_build_id(module, &id, &where);

    return n_bytes <= 0 || wanted->n_id_bytes == 0 ||
           ((uint32_t)n_bytes == wanted->n_id_bytes &&
            memcmp(id, wanted->id, (size_t)n_bytes) == 0);
}

/** @return whether there is memory */
static bool open_code(struct code *code, const struct place_module *module)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };

    char *path = strdup(module->path);

    if (path == NULL) {
        return false;
    }
    *code = (struct code){.path = path, .dwfl = dwfl_begin(&callbacks)};
    code->module = read_module(code->dwfl, module->path);
    code->error = code->module == NULL            ? -ENOENT
                  : is_same(code->module, module) ? 0
                                                  : -ESTALE;
    return true;
}

/** @return NULL: no memory */
static const struct code *find_code(struct places *places,
                                    const struct place_module *module)
{
    struct code *codes;

    for (uint32_t i = 0; i < places->n_codes; i++) {
        if (strcmp(places->codes[i].path, module->path) == 0) {
            return &places->codes[i];
        }
    }
    codes = realloc(places->codes, (places->n_codes + 1) * sizeof(*codes));
    if (codes == NULL) {
        return NULL;
    }
    places->codes = codes;
    return open_code(&codes[places->n_codes], module) ? &codes[places->n_codes++]
                                                      : NULL;
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

/** Take the place where an inline function is for that of the code in it. */
static void take_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct place *place)
{
    Dwarf_Attribute file_attribute, line_attribute;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t n_files;

    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &file_attribute), &file) ==
            0 &&
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &line_attribute), &line) ==
            0 &&
        line <= INT_MAX && dwarf_getsrcfiles(unit, &files, &n_files) == 0 &&
        file < n_files) {
        place->file = dwarf_filesrc(files, file, NULL, NULL);
        place->line = place->file == NULL ? 0 : (int)line;
    }
}

/** Leave inline functions of our headers, from the innermost on. */
static void leave_our_headers(Dwfl_Module *module, GElf_Addr at, struct place *place)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(module, at, &bias);
    Dwarf_Die *innermost = NULL, *around = NULL;
    int n = unit == NULL ? 0 : dwarf_getscopes(unit, at - bias, &innermost);

    /* What is around the innermost one where it was put, not where it is written. */
    n = n <= 0 ? 0 : dwarf_getscopes_die(&innermost[0], &around);
    for (int i = 0; i < n && is_in_our_header(place->file); i++) {
        if (dwarf_tag(&around[i]) == DW_TAG_inlined_subroutine) {
            take_call(unit, &around[i], place);
        }
    }
    free(around);
    free(innermost);
}

int place_find(struct places *places, const struct place_module *module,
               uint64_t address, struct place *place_out)
{
    const struct code *code;
    GElf_Addr bias, at;
    GElf_Sym symbol;
    Dwfl_Line *line;

    *place_out = (struct place){0};
    if (address == 0 || module->path == NULL) {
        return -ENOENT;
    }
    code = find_code(places, module);
    if (code == NULL || code->error < 0) {
        return code == NULL ? -ENOMEM : code->error;
    }
    if (dwfl_module_getelf(code->module, &bias) == NULL) {
        return -ENOENT;
    }
    at = bias + address - 1; /* a byte of the call */
    place_out->function = dwfl_module_addrinfo(code->module, at, &place_out->offset,
                                               &symbol, NULL, NULL, NULL);
    place_out->offset++;
    line = dwfl_module_getsrc(code->module, at);
    if (line != NULL) {
        place_out->file = dwfl_lineinfo(line, NULL, &place_out->line, NULL, NULL, NULL);
        place_out->line = place_out->file == NULL ? 0 : place_out->line;
    }
    if (is_in_our_header(place_out->file)) {
        leave_our_headers(code->module, at, place_out);
    }
    return place_out->function != NULL || place_out->line > 0 ? 0 : -ENOENT;
}
