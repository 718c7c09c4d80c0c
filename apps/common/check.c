/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of an application's checks; called by one rank.
 */
#include "apps/common/check.h"

#include <stdio.h>

static const char *outcome(const struct check *check)
{
    if (!check->applies) {
        return "does not apply";
    }
    return check->passed ? "ok" : "FAILED";
}

void check_report(const char *program, const struct check *checks, int n_checks,
                  bool passed)
{
    for (int c = 0; c < n_checks; c++) {
        printf("check %-18s %s\n", checks[c].name, outcome(&checks[c]));
    }
    printf("%s: %s\n", program, passed ? "PASSED" : "FAILED");
    fflush(stdout);
    for (int c = 0; c < n_checks; c++) {
        if (checks[c].applies && !checks[c].passed) {
            fprintf(stderr, "%s: check failed: %s: %s, but the value is %.3g\n",
                    program, checks[c].name, checks[c].rule, checks[c].value);
        }
    }
}
