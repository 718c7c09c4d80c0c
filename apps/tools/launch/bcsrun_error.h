/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How bcsrun tells its user what is wrong: one line on standard error. bcsrun only.
 */
#ifndef APPS_TOOLS_LAUNCH_BCSRUN_ERROR_H
#define APPS_TOOLS_LAUNCH_BCSRUN_ERROR_H

/** Print "bcsrun: text" and a newline on standard error. @return -1, to be passed on */
int bcsrun_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
