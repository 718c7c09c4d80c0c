/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heap of a cBSP process: what is in it lies one behind the other.
 */
#include <check.h>
#include <errno.h>

#include "libbcs/cbsp/cbsp_job_state.h"
#include "libbcs/session/exports.h"
#include "tests/unit/run_suite.h"

/** A part of the heap. */
struct part {
    uint64_t gva, n_bytes;
};

START_TEST(parts_of_the_heap_lie_apart)
{
    static const uint32_t numbers[] = {1, 7, 1000};
    uint32_t n = numbers[_i];
    struct bcs_limits limits = bcs_limits_usual();
    struct cbsp_layout layout;

    ck_assert_int_eq(cbsp_layout_init(&layout, n, &limits), 0);

    const struct part parts[] = {
        {layout.bell_gva, sizeof(struct bcs_event)},
        {layout.wants_gva, sizeof(struct bcs_event)},
        {layout.revocations_gva, sizeof(struct bcs_event)},
        {layout.sent_gva, sizeof(struct bcs_event)},
        {layout.progress_gva, sizeof(uint64_t)},
        {layout.verdict_gva, sizeof(uint64_t)},
        {layout.reporter_gva, sizeof(uint64_t)},
        {layout.up_gva, layout.n_children * sizeof(uint64_t)},
        {layout.down_gva, sizeof(uint64_t)},
        {layout.from_gva, n * sizeof(struct cbsp_from)},
        {layout.exports_gva, bcs_exports_bytes(n)},
        {layout.buffers_gva, n * layout.n_sets * layout.stride_bytes},
        {layout.stage_gva, n * layout.buffer_bytes},
        {layout.heap_bytes, 0},
    };
    for (size_t i = 0; i + 1 < sizeof(parts) / sizeof(parts[0]); i++) {
        ck_assert_uint_ne(parts[i].gva, 0);
        ck_assert_uint_le(parts[i].gva + parts[i].n_bytes, parts[i + 1].gva);
    }
    ck_assert_uint_ge(layout.stride_bytes, layout.buffer_bytes);
}
END_TEST

START_TEST(a_job_has_as_many_processes_as_may_be)
{
    struct bcs_limits limits = bcs_limits_usual();
    struct cbsp_layout layout;

    ck_assert_int_eq(cbsp_layout_init(&layout, CBSP_PROCESSES_MOST, &limits), 0);
    ck_assert_int_eq(cbsp_layout_init(&layout, CBSP_PROCESSES_MOST + 1, &limits),
                     -E2BIG);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("cbsp_layout");

    tcase_add_loop_test(tests, parts_of_the_heap_lie_apart, 0, 3);
    tcase_add_test(tests, a_job_has_as_many_processes_as_may_be);
    return run_tcase("cbsp_layout", tests);
}
