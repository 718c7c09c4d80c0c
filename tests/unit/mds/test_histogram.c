/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Histograms of the MDS: buckets follow each other without a gap, and none is wider
 * than it may be, in every resolution.
 */
#include <check.h>

#include "mds/histogram.h"
#include "tests/unit/run_suite.h"

START_TEST(every_bucket_begins_with_its_least_value)
{
    uint32_t bits = (uint32_t)_i;

    for (uint32_t bucket = 0; bucket < mds_histogram_n(bits); bucket++) {
        uint64_t least = mds_histogram_least(bucket, bits);
        uint64_t next = mds_histogram_least(bucket + 1, bits);

        ck_assert_uint_lt(least, next);
        ck_assert_uint_eq(mds_histogram_bucket(least, bits), bucket);
        ck_assert_uint_eq(mds_histogram_bucket(next - 1, bits), bucket);
        ck_assert_uint_le((next - least - 1) << bits, least);
    }
}
END_TEST

START_TEST(what_is_too_large_is_in_the_last_bucket)
{
    uint32_t bits = (uint32_t)_i, n = mds_histogram_n(bits);

    ck_assert_uint_eq(mds_histogram_least(n, bits), UINT64_C(1) << 48);
    ck_assert_uint_eq(mds_histogram_bucket(UINT64_C(1) << 48, bits), n - 1);
    ck_assert_uint_eq(mds_histogram_bucket(UINT64_MAX, bits), n - 1);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("histogram");

    tcase_add_loop_test(tcase, every_bucket_begins_with_its_least_value, 0,
                        MDS_HISTOGRAM_MOST_BITS + 1);
    tcase_add_loop_test(tcase, what_is_too_large_is_in_the_last_bucket, 0,
                        MDS_HISTOGRAM_MOST_BITS + 1);
    return run_tcase("histogram", tcase);
}
