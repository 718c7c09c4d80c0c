/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log-linear histograms: every power of two is cut into the same number of buckets, so
 * that a bucket's width is at most 2^-bits of its values, whatever they are. Small
 * values have a bucket each. Pure; used by whoever records and by whoever reads a dump.
 */
#ifndef MDS_HISTOGRAM_H
#define MDS_HISTOGRAM_H

#include <stdint.h>

enum {
    MDS_HISTOGRAM_MOST_BITS = 7,
    MDS_HISTOGRAM_VALUE_BITS = 48, /* values from 2^48 on fall into the last bucket */
};

/** Number of buckets. @param bits  0 to MDS_HISTOGRAM_MOST_BITS */
static inline uint32_t mds_histogram_n(uint32_t bits)
{
    return (MDS_HISTOGRAM_VALUE_BITS - bits + 1) << bits;
}

/** The bucket of a value. */
static inline uint32_t mds_histogram_bucket(uint64_t value, uint32_t bits)
{
    uint32_t octave;

    if (value >> MDS_HISTOGRAM_VALUE_BITS != 0) {
        return mds_histogram_n(bits) - 1;
    }
    if (value >> bits == 0) {
        return (uint32_t)value;
    }
    octave = 63 - (uint32_t)__builtin_clzll(value) - bits;
    return (octave << bits) + (uint32_t)(value >> octave);
}

/** The least value of a bucket; of the one behind the last, 2^48. */
static inline uint64_t mds_histogram_least(uint32_t bucket, uint32_t bits)
{
    uint32_t octave = bucket >> bits;

    if (octave == 0) {
        return bucket;
    }
    octave--;
    return (uint64_t)(bucket - (octave << bits)) << octave;
}

#endif
