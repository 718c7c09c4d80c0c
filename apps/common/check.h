/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A check that an application makes of its own result, and how it is reported.
 */
#ifndef COMMON_CHECK_H
#define COMMON_CHECK_H

#include <stdbool.h>

struct check {
    const char *name;
    /* False if the problem gives no ground for this check. */
    bool applies;
    bool passed;
    double value;
    /* What must hold, for the message when it does not. */
    const char *rule;
};

/**
 * Print all outcomes and the verdict on standard output, and on standard error what has
 * failed. One rank calls it.
 *
 * @param program  its name, before the verdict
 */
void check_report(const char *program, const struct check *checks, int n_checks,
                  bool passed);

#endif
