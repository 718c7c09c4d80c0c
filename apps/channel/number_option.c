/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses a whole number of the command line. Every rank runs it.
 */
#include "apps/channel/number_option.h"

#include <errno.h>
#include <stdlib.h>

#include "apps/common/message.h"

int number_option_take(const char *option, const char *text, long least, long most,
                       long *value_out, char *message)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value < least ||
        value > most) {
        message_set(message, "%s is '%s'; allowed: a whole number from %ld to %ld",
                    option, text, least, most);
        return -EINVAL;
    }
    *value_out = value;
    return 0;
}
