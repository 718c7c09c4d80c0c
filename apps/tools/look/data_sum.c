/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds up files with holes; see data_sum.h.
 */
#include "apps/tools/look/data_sum.h"

#include <errno.h>
#include <unistd.h>

enum { PART_BYTES = 32768, PART_WORDS = PART_BYTES / 8 };
#define SPREAD UINT64_C(0x9e3779b97f4a7c15) /* odd, of the golden ratio */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/** Add up a stretch that is no hole. */
static int add_data(int fd, uint64_t begin, uint64_t end, uint64_t *sum)
{
    uint64_t words[PART_WORDS];

    while (begin < end) {
        ssize_t n = pread(fd, words, smaller(end - begin, PART_BYTES), (off_t)begin);

        if (n < 8) {
            return n < 0 ? -errno : 0; /* it has become shorter */
        }
        for (ssize_t i = 0; i < n / 8; i++) {
            /* Odd, so that each change of a word changes the sum. */
            *sum += words[i] * ((begin / 8 + (uint64_t)i) * SPREAD * 2 + 1);
        }
        begin += (uint64_t)n / 8 * 8;
    }
    return 0;
}

int bcs_data_sum(int fd, uint64_t begin, uint64_t end, uint64_t *sum)
{
    int rc = 0;

    while (begin < end && rc == 0) {
        off_t data = lseek(fd, (off_t)begin, SEEK_DATA);
        off_t hole;

        if (data < 0) {
            return errno == ENXIO ? 0 : -errno; /* a hole up to the end */
        }
        if ((uint64_t)data >= end) {
            return 0;
        }
        hole = lseek(fd, data, SEEK_HOLE);
        if (hole < 0) {
            return -errno;
        }
        rc = add_data(fd, (uint64_t)data, smaller((uint64_t)hole, end), sum);
        begin = (uint64_t)hole;
    }
    return rc;
}
