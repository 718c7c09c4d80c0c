/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text of an error on its way from where it is found to main.c, which prints it once,
 * on rank 0.
 */
#ifndef COMMON_MESSAGE_H
#define COMMON_MESSAGE_H

/* Size of every message buffer. Longer text is cut. */
#define MESSAGE_BYTES 768

/** Write one line of printf-formatted text into a buffer of MESSAGE_BYTES bytes. */
void message_set(char *message, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
