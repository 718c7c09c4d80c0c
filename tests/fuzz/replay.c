/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives files to what a fuzzer gives its bytes to: replay FOLDER. Whatever has been
 * found once is tried again by this in every run of the tests, without a fuzzer.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz_input.h"

enum { MOST_BYTES = 1 << 20, MOST_PATH = 4096 };

/** @return whether the file could be read */
static int replay(const char *path)
{
    static uint8_t bytes[MOST_BYTES];
    FILE *file = fopen(path, "rb");
    uint8_t *exact; /* so that a sanitizer sees its end */
    size_t n_bytes;

    if (file == NULL) {
        perror(path);
        return 0;
    }
    n_bytes = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    exact = malloc(n_bytes + 1);
    for (size_t i = 0; i < n_bytes; i++) {
        exact[i] = bytes[i];
    }
    LLVMFuzzerTestOneInput(exact, n_bytes);
    free(exact);
    return 1;
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct dirent **entries;
    int n = argc == 2 ? scandir(argv[1], &entries, is_file, alphasort) : -1;
    int n_passed = 0;

    if (n < 0) {
        fprintf(stderr, "replay: a folder with files is expected\n");
        return EXIT_FAILURE;
    }
    for (int i = 0; i < n; i++) {
        char path[MOST_PATH];

        snprintf(path, sizeof(path), "%s/%s", argv[1], entries[i]->d_name);
        n_passed += replay(path);
        free(entries[i]);
    }
    free(entries);
    printf("%d passed, %d failed\n", n_passed, n - n_passed);
    return n_passed > 0 && n_passed == n ? EXIT_SUCCESS : EXIT_FAILURE;
}
