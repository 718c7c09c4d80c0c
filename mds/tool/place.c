/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words for places; see place.h. What libdw knows is in place_dwarf.c.
 */
#include "mds/tool/place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/demangle.h"

const char *place_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}

static void print(FILE *out, int rc, const struct places *places,
                  const struct place *place, const struct place_module *module,
                  uint64_t address)
{
    if (address == 0) {
        fprintf(out, "elsewhere");
    } else if (module->path == NULL) {
        fprintf(out, "0x%" PRIx64 " in no file", address);
    } else if (rc < 0) {
        fprintf(out, "0x%" PRIx64 " in %s%s", address, place_last_part(module->path),
                rc == -ESTALE ? ", which has changed since" : "");
    } else {
        char *function = demangle(place_demangler(places), place->function);

        fprintf(out, "%s", function == NULL ? "?" : function);
        if (place->line > 0) {
            fprintf(out, ", %s:%d", place_last_part(place->file), place->line);
        } else {
            fprintf(out, "+0x%" PRIx64 ", %s", place->offset,
                    place_last_part(module->path));
        }
        free(function);
    }
}

char *place_describe(struct places *places, const struct place_module *module,
                     uint64_t address, struct place *place_out)
{
    struct place place;
    char *text = NULL;
    size_t n_bytes;
    int rc = place_find(places, module, address, &place);
    FILE *out = open_memstream(&text, &n_bytes);

    if (place_out != NULL) {
        *place_out = place;
    }
    if (out != NULL) {
        print(out, rc, places, &place, module, address);
        if (fclose(out) != 0) {
            free(text);
            text = NULL;
        }
    }
    return text;
}
