/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error text in a buffer of fixed size, with bytes that a terminal could misread made
 * harmless: part of the text may come from a damaged input file.
 */
#include "apps/common/message.h"

#include <stdarg.h>
#include <stdio.h>

void message_set(char *message, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, MESSAGE_BYTES, format, arguments);
    va_end(arguments);
    for (char *c = message; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 127) {
            *c = '?';
        }
    }
}
