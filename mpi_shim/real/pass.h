/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counted ways into the real library, made from functions.def: shim_pass_<Name>
 * calls it, counts the call and names it in the report; for a communicator or a request
 * that is not ours. shim_real.<Name> is the bare function. Any thread.
 */
#ifndef SHIM_PASS_H
#define SHIM_PASS_H

#include "mpi_shim/real/real.h"

#pragma GCC visibility push(hidden)

#define SHIM_BUFFERED(timing, type, name, parameters, arguments)                       \
    type shim_pass_##name parameters;
#define SHIM_PASSED(timing, type, name, parameters, arguments)                         \
    type shim_pass_##name parameters;
#include "mpi_shim/real/functions.def"

#pragma GCC visibility pop

#endif
