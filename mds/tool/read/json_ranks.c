/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints ranks; see json_ranks.h.
 */
#include "mds/tool/read/json_ranks.h"

static json_int_t rank_at(const json_t *ranks, size_t i)
{
    return json_integer_value(json_array_get(ranks, i));
}

void json_ranks_print(FILE *out, const json_t *ranks)
{
    size_t n = json_array_size(ranks);

    for (size_t i = 0, end; i < n; i = end) {
        json_int_t first = rank_at(ranks, i), last = first;

        for (end = i + 1; end < n && rank_at(ranks, end) == last + 1; end++) {
            last++;
        }
        fprintf(out, "%s%lld", i > 0 ? "," : "", (long long)first);
        if (last > first) {
            fprintf(out, "-%lld", (long long)last);
        }
    }
}
