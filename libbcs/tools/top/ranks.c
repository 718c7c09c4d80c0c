/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints lists of ranks; see ranks.h.
 */
#include "ranks.h"

#include <stdio.h>

enum { MOST_RANGES = 6 };

void ranks_print(const json_t *ranks)
{
    size_t n = json_array_size(ranks), i = 0, n_ranges = 0;

    while (i < n && n_ranges < MOST_RANGES) {
        json_int_t first = json_integer_value(json_array_get(ranks, i)), last = first;

        for (i++; i < n && json_integer_value(json_array_get(ranks, i)) == last + 1;
             i++) {
            last++;
        }
        printf("%s%lld", n_ranges++ > 0 ? "," : "", (long long)first);
        if (last > first) {
            printf("-%lld", (long long)last);
        }
    }
    printf("%s", i < n ? ",..." : "");
}
