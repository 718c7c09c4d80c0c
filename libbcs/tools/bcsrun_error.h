/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How bcsrun tells its user what is wrong: one line on standard error. bcsrun only.
 */
#ifndef BCS_TOOLS_BCSRUN_ERROR_H
#define BCS_TOOLS_BCSRUN_ERROR_H

/** Print "bcsrun: text" and a newline on standard error. @return -1, to be passed on */
int bcsrun_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
