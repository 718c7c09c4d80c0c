/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packing and unpacking of datatypes that are not plain bytes, by the real library's
 * MPI_Pack and MPI_Unpack, which make raw bytes. Called by the shim's entry points in
 * the application's threads.
 *
 * Those two count bytes in an int and unpack whole elements only. What they cannot do
 * (an element of more than 2 GiB, the beginning of an element) is done by a message
 * that this process sends to itself on a communicator of its own.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "mpi_shim/datatype_internal.h"
#include "mpi_shim/handles.h"
#include "mpi_shim/symbols.h"

/* Bytes that one call packs, unless one element has more. */
#define PIECE_BYTES ((size_t)1 << 30)

static MPI_Comm self_comm; /* set once, before any use */
static pthread_mutex_t self_lock = PTHREAD_MUTEX_INITIALIZER; /* pairs the messages */

/** Elements somewhere in memory. */
struct elements {
    void *buf;
    int count;
    MPI_Datatype type;
};

int shim_pack_setup(void)
{
    if (shim_real.Comm_dup(shim_handles.comm_self, &self_comm) != MPI_SUCCESS ||
        shim_real.Comm_set_errhandler(self_comm, shim_handles.errors_return) !=
            MPI_SUCCESS) {
        return -EIO;
    }
    return 0;
}

void shim_pack_teardown(void)
{
    shim_real.Comm_free(&self_comm);
}

bool shim_pack_accepts(MPI_Datatype handle)
{
    int position = 0;
    char nothing = 0;

    return shim_real.Pack(&nothing, 0, handle, &nothing, 0, &position, self_comm) ==
           MPI_SUCCESS;
}

int shim_pack_element(const void *buf, MPI_Datatype handle, size_t size, void *out)
{
    int position = 0;
    int error = shim_real.Pack(buf, 1, handle, out, (int)size, &position, self_comm);

    return error == MPI_SUCCESS ? 0 : -EIO;
}

static int send_to_self(const struct elements *from, const struct elements *to)
{
    int error;

    pthread_mutex_lock(&self_lock);
    error = shim_real.Sendrecv(from->buf, from->count, from->type, 0, 0, to->buf,
                               to->count, to->type, 0, 0, self_comm, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&self_lock);
    return error == MPI_SUCCESS ? 0 : -EIO;
}

/* Describe n_bytes as units whose number fits an int. The unit type is to be freed if
 * it is not the byte type. */
static int bytes_as_elements(const void *bytes, size_t n_bytes,
                             struct elements *elements_out)
{
    struct elements elements = {.buf = (void *)(uintptr_t)bytes,
                                .type = shim_handles.byte};
    size_t unit = 1;

    while (n_bytes / unit > INT_MAX) {
        unit *= 2;
    }
    if (n_bytes % unit != 0) {
        return -EOVERFLOW;
    }
    elements.count = (int)(n_bytes / unit);
    if (unit > 1 && (shim_real.Type_contiguous((int)unit, shim_handles.byte,
                                               &elements.type) != MPI_SUCCESS ||
                     shim_real.Type_commit(&elements.type) != MPI_SUCCESS)) {
        return -ENOMEM;
    }
    *elements_out = elements;
    return 0;
}

/* Move n_bytes between contiguous memory and the beginning of one element. */
static int move_element(const struct elements *element, const void *bytes,
                        size_t n_bytes, bool is_packing)
{
    struct elements contiguous;
    int status = bytes_as_elements(bytes, n_bytes, &contiguous);

    if (status != 0) {
        return status;
    }
    if (is_packing) {
        status = send_to_self(element, &contiguous);
    } else {
        status = send_to_self(&contiguous, element);
    }
    if (contiguous.type != shim_handles.byte) {
        shim_real.Type_free(&contiguous.type);
    }
    return status;
}

static size_t elements_in_piece(const struct shim_datatype *type, size_t count)
{
    size_t n = type->size < PIECE_BYTES ? PIECE_BYTES / type->size : 1;

    return n < count ? n : count;
}

static int pack_piece(const struct elements *elements, size_t n_bytes, void *out)
{
    int position = 0;

    if (n_bytes > INT_MAX) {
        return move_element(elements, out, n_bytes, true);
    }
    if (shim_real.Pack(elements->buf, elements->count, elements->type, out,
                       (int)n_bytes, &position, self_comm) != MPI_SUCCESS) {
        return -EIO;
    }
    return 0;
}

static int unpack_piece(const void *in, size_t n_bytes, const struct elements *elements)
{
    int position = 0;

    if (n_bytes > INT_MAX) {
        return move_element(elements, in, n_bytes, false);
    }
    if (shim_real.Unpack(in, (int)n_bytes, &position, elements->buf, elements->count,
                         elements->type, self_comm) != MPI_SUCCESS) {
        return -EIO;
    }
    return 0;
}

static char *element_at(const void *buf, const struct shim_datatype *type, size_t index)
{
    return (char *)(uintptr_t)buf + (ptrdiff_t)index * type->extent;
}

int shim_pack(const void *buf, size_t count, const struct shim_datatype *type,
              void *out)
{
    int status = 0;

    if (type->is_dense) {
        if (count * type->size > 0) {
            memcpy(out, buf, count * type->size);
        }
        return 0;
    }
    for (size_t done = 0; status == 0 && done < count;) {
        size_t n = elements_in_piece(type, count - done);
        struct elements elements = {element_at(buf, type, done), (int)n, type->handle};

        status = pack_piece(&elements, n * type->size, (char *)out + done * type->size);
        done += n;
    }
    return status;
}

int shim_unpack(const void *in, size_t n_bytes, void *buf,
                const struct shim_datatype *type)
{
    const char *bytes = in;
    size_t count, rest;
    int status = 0;

    if (n_bytes == 0) {
        return 0;
    }
    if (type->is_dense) {
        memcpy(buf, in, n_bytes);
        return 0;
    }
    count = n_bytes / type->size;
    rest = n_bytes % type->size;
    for (size_t done = 0; status == 0 && done < count;) {
        size_t n = elements_in_piece(type, count - done);
        struct elements elements = {element_at(buf, type, done), (int)n, type->handle};

        status = unpack_piece(bytes + done * type->size, n * type->size, &elements);
        done += n;
    }
    if (status == 0 && rest > 0) {
        struct elements last = {element_at(buf, type, count), 1, type->handle};

        status = move_element(&last, bytes + count * type->size, rest, false);
    }
    return status;
}
