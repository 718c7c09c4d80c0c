/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts numbers and texts one behind the other; see make_file.h.
 */
#include "make_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void put(struct file *file, uint64_t number, size_t n_bytes)
{
    if (file->n + n_bytes > file->room) {
        file->room = 2 * file->room + 4096;
        file->bytes = realloc(file->bytes, file->room);
        if (file->bytes == NULL) {
            abort();
        }
    }
    for (size_t i = 0; i < n_bytes; i++) {
        file->bytes[file->n++] = (char)(number >> 8 * i);
    }
}

void put_text(struct file *file, const char *text, size_t n_bytes)
{
    size_t n = strlen(text);

    for (size_t i = 0; i < n_bytes; i++) {
        put(file, i < n ? (unsigned char)text[i] : 0, 1);
    }
}

void set(struct file *file, size_t at, uint64_t number, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        file->bytes[at + i] = (char)(number >> 8 * i);
    }
}

static uint64_t digest(const char *bytes, uint64_t n)
{
    uint64_t digest = 0xcbf29ce484222325;

    for (uint64_t i = 0; i < n; i++) {
        digest = (digest ^ (unsigned char)bytes[i]) * 0x100000001b3;
    }
    return digest;
}

void end_section(struct file *file, uint32_t number, const char *name, size_t from,
                 uint64_t record_bytes)
{
    size_t entry = 32 + 40 * number;
    uint64_t n = file->n - from;

    for (size_t i = 0; i < strlen(name); i++) {
        file->bytes[entry + i] = name[i];
    }
    set(file, entry + 8, from, 8);
    set(file, entry + 16, n, 8);
    set(file, entry + 24, n / record_bytes, 4);
    set(file, entry + 28, record_bytes, 4);
    set(file, entry + 32, digest(file->bytes + from, n), 8);
    put_text(file, "", -file->n % 8);
}

int save(const char *path, const char *bytes, size_t n)
{
    FILE *out = fopen(path, "w");
    int is_bad = out == NULL || fwrite(bytes, 1, n, out) != n;

    if (out != NULL) {
        is_bad |= fclose(out) != 0;
    }
    if (is_bad) {
        perror(path);
    }
    return is_bad;
}
