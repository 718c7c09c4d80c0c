/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up the predefined MPI handles, once, in the thread that makes the first MPI
 * call.
 *
 * Order matters: executables hold copies of ompi_mpi_comm_world and the like (copy
 * relocations), to which the library's own references are bound, too; so the program's
 * scope is asked first and the library itself only if that knows nothing.
 */
#include "mpi_shim/real/handles.h"

#include "mpi_shim/real/real.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shim_handles shim_handles;

/* Every handle is a pointer to its symbol, whatever its type. */
struct shim_handle_name {
    size_t offset;
    const char *symbol;
};

#define SHIM_HANDLE(member, symbol)                                                    \
    {                                                                                  \
        offsetof(struct shim_handles, member), symbol                                  \
    }

static const struct shim_handle_name shim_handle_names[] = {
    SHIM_HANDLE(comm_world, "ompi_mpi_comm_world"),
    SHIM_HANDLE(comm_self, "ompi_mpi_comm_self"),
    SHIM_HANDLE(comm_null, "ompi_mpi_comm_null"),
    SHIM_HANDLE(group_null, "ompi_mpi_group_null"),
    SHIM_HANDLE(group_empty, "ompi_mpi_group_empty"),
    SHIM_HANDLE(request_null, "ompi_request_null"),
    SHIM_HANDLE(message_null, "ompi_message_null"),
    SHIM_HANDLE(message_no_proc, "ompi_message_no_proc"),
    SHIM_HANDLE(datatype_null, "ompi_mpi_datatype_null"),
    SHIM_HANDLE(byte, "ompi_mpi_byte"),
    SHIM_HANDLE(packed, "ompi_mpi_packed"),
    SHIM_HANDLE(op_null, "ompi_mpi_op_null"),
    SHIM_HANDLE(errhandler_null, "ompi_mpi_errhandler_null"),
    SHIM_HANDLE(errors_are_fatal, "ompi_mpi_errors_are_fatal"),
    SHIM_HANDLE(errors_return, "ompi_mpi_errors_return"),
    SHIM_HANDLE(info_null, "ompi_mpi_info_null"),
    SHIM_HANDLE(win_null, "ompi_mpi_win_null"),
    SHIM_HANDLE(file_null, "ompi_mpi_file_null"),
};

#define SHIM_N_HANDLES (sizeof(shim_handle_names) / sizeof(shim_handle_names[0]))

_Static_assert(SHIM_N_HANDLES * sizeof(void *) == sizeof(struct shim_handles),
               "a handle without a symbol");

void *shim_handle_find(const char *name)
{
    return shim_symbol_find(name);
}

void shim_handles_resolve(void)
{
    for (size_t i = 0; i < SHIM_N_HANDLES; i++) {
        void *handle = shim_handle_find(shim_handle_names[i].symbol);

        if (handle == NULL) {
            fprintf(stderr, "bcs: the MPI library of this program has no %s\n",
                    shim_handle_names[i].symbol);
            exit(1);
        }
        memcpy((char *)&shim_handles + shim_handle_names[i].offset, &handle,
               sizeof(handle));
    }
}
