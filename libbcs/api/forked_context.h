/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of a context in a forked child. For attach.c.
 */
#ifndef LIBBCS_API_FORKED_CONTEXT_H
#define LIBBCS_API_FORKED_CONTEXT_H

#include "libbcs/api/context/context.h"

/** Make the context refuse all use. A bcs_forked function; context is a struct
 *  bcs_context, with its memory mapped. */
void bcs_context_take_away(void *context);

#endif
