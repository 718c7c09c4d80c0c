/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fuzzer's bytes as a file of code, in which a place is looked for: it may be of
 * another user, and is what bcs-top and bcs-mds read by libdw. The first byte says how
 * many addresses are looked up, the next two how far they are apart; the file follows.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdio.h>

#include "mds/source/place.h"
#include "tests/fuzz/fuzz_input.h"

enum { HEAD_BYTES = 3, PATH_BYTES = 64 };

/** A file that has the bytes. @return its descriptor */
static int make_file(const uint8_t *bytes, size_t n_bytes, char path[PATH_BYTES])
{
    int fd = memfd_create("code", MFD_CLOEXEC);

    if (fd < 0 || write(fd, bytes, n_bytes) != (ssize_t)n_bytes) {
        abort(); /* nothing would be tried */
    }
    snprintf(path, PATH_BYTES, "/proc/self/fd/%d", fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    struct place_module module = {0};
    char path[PATH_BYTES];
    struct places *places;
    uint64_t step;
    int fd;

    if (n_bytes < HEAD_BYTES) {
        return 0;
    }
    fd = make_file(data + HEAD_BYTES, n_bytes - HEAD_BYTES, path);
    module.path = path;
    places = place_open(PLACE_HASTY_NS);
    step = 1 + data[1] + 256u * data[2];
    for (uint64_t i = 1; places != NULL && i <= data[0]; i++) {
        free(place_describe(places, &module, i * step, NULL));
    }
    place_close(places);
    close(fd);
    return 0;
}
