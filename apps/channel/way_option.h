/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A way that the command line names, by which a solver is to solve, or all of them.
 */
#ifndef CHANNEL_WAY_OPTION_H
#define CHANNEL_WAY_OPTION_H

#include <stddef.h>

/** The names of a program's ways, each a member of a table's row. */
struct way_names {
    const char *const *first; /* of the first row */
    size_t row_bytes;
    int n;
    const char *allowed; /* all of them and "all", as a message has them */
};

/** The rows of the table that were named. */
struct way_choice {
    int first, n;
};

/**
 * Take the value of --by: the name of a way, or all.
 *
 * @param message  gets one line if the value is refused; MESSAGE_BYTES long
 * @return 0 or -EINVAL; then *choice_out is as it was
 */
int way_option_take(const char *name, const struct way_names *names,
                    struct way_choice *choice_out, char *message);

#endif
