/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the way that the command line names. Every rank runs it.
 */
#include "apps/channel/way_option.h"

#include <errno.h>
#include <string.h>

#include "apps/common/message.h"

static const char *name_of(const struct way_names *names, int way)
{
    const char *row = (const char *)names->first + (size_t)way * names->row_bytes;

    return *(const char *const *)row;
}

int way_option_take(const char *name, const struct way_names *names,
                    struct way_choice *choice_out, char *message)
{
    int way = 0;

    while (way < names->n && strcmp(name, name_of(names, way)) != 0) {
        way++;
    }
    if (way == names->n && strcmp(name, "all") != 0) {
        message_set(message, "--by is '%s'; allowed: %s", name, names->allowed);
        return -EINVAL;
    }
    choice_out->first = way % names->n;
    choice_out->n = way == names->n ? names->n : 1;
    return 0;
}
