/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-top on the whole of a terminal, once a second, with keys.
 */
#ifndef APPS_TOOLS_TOP_SCREEN_H
#define APPS_TOOLS_TOP_SCREEN_H

/** Show jobs until the user quits or a signal comes. Standard input and output are a
 *  terminal.
 *  @return the exit status */
int screen_run(void);

#endif
