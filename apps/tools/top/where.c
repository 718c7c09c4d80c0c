/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words for where a thread waits; see where.h. A frame has several places if the
 * compiler has put functions into the one that has called. Those of a crate of Rust
 * that cargo has fetched are left out, as libraries are, if there are others.
 */
#include "where.h"

#include <stdlib.h>
#include <string.h>

#include "process_text.h"

/** Add a place. @param words  for free; NULL: none is added @param file  or NULL */
static void add(struct where *where, char *words, const char *file)
{
    if (words != NULL) {
        where->files[where->n] = file;
        where->words[where->n++] = words;
    }
}

/** Whether a place is in a crate that cargo has fetched. */
static bool is_of_crate(const struct place *place)
{
    return place->file != NULL && strstr(place->file, "/.cargo/registry/") != NULL;
}

/** Add the places of a frame. @param path  of its file; NULL: unknown */
static void add_frame(struct where *where, struct places *places, const char *path,
                      const struct bcs_stand_frame *frame, uint32_t n_most)
{
    struct place_module module = {.path = path};
    uint8_t depth = 0;
    struct place place;
    char *words;

    do {
        words = place_describe_around(places, &module, frame->address - frame->base,
                                      depth++, &place);
        where->lacks_lines |= where->n == 0 && place.lacks_lines;
        if (where->skips_crates && is_of_crate(&place)) {
            free(words);
        } else {
            add(where, words, words == NULL ? NULL : place.file);
        }
    } while (words != NULL && where->n < n_most);
}

/** Add the lines that an interpreter has told. */
static void add_lines(struct where *where, const char *lines, uint32_t n_most)
{
    while (*lines != '\0' && where->n < n_most) {
        size_t n = strcspn(lines, "\n");

        add(where, strndup(lines, n), NULL);
        lines += n + (lines[n] != '\0');
    }
}

/** Add the places of all frames. */
static void add_frames(struct where *where, struct places *places,
                       const struct bcs_stand_files *files, int64_t pid,
                       const struct bcs_stand_frame frames[], uint32_t n_most)
{
    char *path = NULL;

    for (uint32_t i = 0;
         i < BCS_STAND_FRAMES && frames[i].address != 0 && where->n < n_most; i++) {
        if (files == NULL && (i == 0 || frames[i].base != frames[i - 1].base)) {
            free(path);
            path = process_text_file(pid, frames[i].address);
        }
        add_frame(where, places,
                  files == NULL || files->paths[i][0] == '\0' ? path : files->paths[i],
                  &frames[i], n_most);
    }
    free(path);
}

struct where where_find(struct places *places, const struct bcs_stand_files *files,
                        int64_t pid, const struct bcs_stand *stand, uint32_t n_most)
{
    struct where where = {.skips_crates = true};

    n_most = n_most < BCS_STAND_FRAMES ? n_most : BCS_STAND_FRAMES;
    add_frames(&where, places, files, pid, stand->frames, n_most);
    if (where.n == 0) {
        where.skips_crates = false;
        add_frames(&where, places, files, pid, stand->frames, n_most);
    }
    add_lines(&where, stand->lines, n_most);
    return where;
}

void where_fini(struct where *where)
{
    for (uint32_t i = 0; i < where->n; i++) {
        free(where->words[i]);
    }
    *where = (struct where){0};
}
