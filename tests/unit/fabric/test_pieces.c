/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of a long message an end claims in one go.
 */
#include <check.h>

#include "libbcs/fabric/ring/pieces.h"
#include "tests/unit/run_suite.h"

enum { KB = 1024, MB = 1024 * KB, MOST_PIECES = 8 };

struct claims {
    bool is_shared, is_streamed;
    uint64_t begin, granted;       /* of the chunk, in the message */
    uint64_t n_bytes[MOST_PIECES]; /* of the pieces, ended by 0 */
};

static const struct claims cases[] = {
    {.is_shared = true, .granted = 40 * KB, .n_bytes = {20 * KB, 20 * KB}},
    {.is_shared = true, .granted = 40 * KB + 1, .n_bytes = {20 * KB + 1, 20 * KB}},
    {.is_shared = true, .granted = 24 * KB, .n_bytes = {16 * KB, 8 * KB}},
    {.is_shared = true, .granted = 9 * KB, .n_bytes = {9 * KB}},
    {.is_shared = true, .granted = 2 * MB, .n_bytes = {MB, MB}},
    {.is_shared = true, .granted = 3 * MB + 1, .n_bytes = {MB, MB, MB, 1}},
    {.is_shared = true,
     .begin = 64 * KB,
     .granted = 192 * KB,
     .n_bytes = {64 * KB, 64 * KB}},
    {.granted = 300 * KB, .n_bytes = {300 * KB}},
    {.granted = MB + 7, .n_bytes = {MB, 7}},
    {.is_streamed = true, .granted = 65 * KB, .n_bytes = {32 * KB, 32 * KB, KB}},
    {.is_shared = true, .is_streamed = true, .granted = 32 * KB, .n_bytes = {32 * KB}},
    {.is_shared = true, .begin = 5, .granted = 5, .n_bytes = {0}},
};

START_TEST(two_ends_that_wait_take_half_each_and_one_takes_as_much_as_it_can)
{
    const struct claims *expected = &cases[_i];
    struct bcs_transfer transfer = {.is_shared = expected->is_shared,
                                    .is_streamed = expected->is_streamed,
                                    .chunk_begin = expected->begin};
    uint64_t offset = expected->begin;
    struct bcs_piece piece;

    atomic_store(&transfer.granted, expected->granted);
    atomic_store(&transfer.claimed, expected->begin);
    for (int i = 0; expected->n_bytes[i] != 0; i++) {
        ck_assert(bcs_transfer_claim(&transfer, &piece));
        ck_assert_uint_eq(piece.offset, offset);
        ck_assert_uint_eq(piece.n_bytes, expected->n_bytes[i]);
        offset += piece.n_bytes;
    }
    ck_assert(!bcs_transfer_claim(&transfer, &piece));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("piece");

    tcase_add_loop_test(
        tcase, two_ends_that_wait_take_half_each_and_one_takes_as_much_as_it_can, 0,
        sizeof(cases) / sizeof(cases[0]));
    return run_tcase("piece", tcase);
}
