/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packing and unpacking of elements of a datatype: by the layout of its data. Called by
 * the shim's entry points in the application's threads. And what the real library is
 * asked to pack, so that we learn what its types look like.
 */
#include <errno.h>
#include <string.h>

#include "mpi_shim/data/datatype_internal.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"

int shim_pack_setup(void)
{
    if (shim_real.Comm_dup(shim_handles.comm_self, &shim_state.pack_comm) !=
            MPI_SUCCESS ||
        shim_real.Comm_set_errhandler(shim_state.pack_comm,
                                      shim_handles.errors_return) != MPI_SUCCESS) {
        return -EIO;
    }
    return 0;
}

void shim_pack_teardown(void)
{
    shim_real.Comm_free(&shim_state.pack_comm);
}

bool shim_pack_accepts(MPI_Datatype handle)
{
    int position = 0;
    char nothing = 0;

    return shim_real.Pack(&nothing, 0, handle, &nothing, 0, &position,
                          shim_state.pack_comm) == MPI_SUCCESS;
}

int shim_pack_element(const void *buf, MPI_Datatype handle, size_t size, void *out)
{
    int position = 0;
    int error =
        shim_real.Pack(buf, 1, handle, out, (int)size, &position, shim_state.pack_comm);

    return error == MPI_SUCCESS ? 0 : -EIO;
}

void shim_pack(const void *buf, size_t count, const struct shim_datatype *type,
               void *out)
{
    size_t n_bytes = count * type->size;

    if (n_bytes == 0) {
        return;
    }
    if (type->is_dense) {
        memcpy(out, buf, n_bytes);
    } else {
        bcs_layout_pack(type->layout, buf, 0, n_bytes, out);
    }
}

void shim_unpack(const void *in, size_t n_bytes, void *buf,
                 const struct shim_datatype *type)
{
    if (n_bytes == 0) {
        return;
    }
    if (type->is_dense) {
        memcpy(buf, in, n_bytes);
    } else {
        bcs_layout_unpack(type->layout, in, 0, n_bytes, buf);
    }
}
