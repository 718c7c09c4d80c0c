/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints ranks; see json_ranks.h.
 */
#include "mds/tool/read/json_ranks.h"

static json_int_t rank_at(const json_t *ranks, size_t i)
{
    return json_integer_value(json_array_get(ranks, i));
}

void json_ranks_print(FILE *out, const json_t *ranks, size_t n_most)
{
    size_t n = json_array_size(ranks), i = 0, n_ranges = 0;

    while (i < n && n_ranges < n_most) {
        json_int_t first = rank_at(ranks, i), last = first;

        for (i++; i < n && rank_at(ranks, i) == last + 1; i++) {
            last++;
        }
        fprintf(out, "%s%lld", n_ranges++ > 0 ? "," : "", (long long)first);
        if (last > first) {
            fprintf(out, "-%lld", (long long)last);
        }
    }
    fputs(i < n ? ",..." : "", out);
}
