/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words for wrong arguments; see fault.h.
 */
#include "mpi_shim/real/fault.h"

#include <stdio.h>
#include <string.h>

#include "mpi_shim/real/handles.h"

/** " for rank 3", if it is of a vector. */
static void add_block(const struct shim_fault *fault, char words[SHIM_FAULT_BYTES])
{
    size_t n = strlen(words);

    if (fault->block >= 0) {
        snprintf(words + n, SHIM_FAULT_BYTES - n, " for rank %d", fault->block);
    }
}

void shim_fault_words(int error_class, const struct shim_fault *fault,
                      char words_out[SHIM_FAULT_BYTES])
{
    int last = fault->n_ranks - 1;

    words_out[0] = '\0';
    switch (error_class) {
    case MPI_ERR_COUNT:
        snprintf(words_out, SHIM_FAULT_BYTES, "count %d", fault->count);
        add_block(fault, words_out);
        break;
    case MPI_ERR_TYPE:
        strcpy(words_out, fault->datatype == shim_handles.datatype_null
                              ? "the datatype is MPI_DATATYPE_NULL"
                              : "the datatype is none that has been committed");
        add_block(fault, words_out);
        break;
    case MPI_ERR_RANK:
    case MPI_ERR_ROOT:
        snprintf(words_out, SHIM_FAULT_BYTES,
                 last > 0 ? "%s %d, but the communicator has ranks 0-%d"
                          : "%s %d, but the communicator has rank %d only",
                 error_class == MPI_ERR_ROOT ? "root" : "rank", fault->rank, last);
        break;
    case MPI_ERR_TAG:
        snprintf(words_out, SHIM_FAULT_BYTES, "tag %d", fault->tag);
        break;
    case MPI_ERR_OP:
        strcpy(words_out, fault->op == shim_handles.op_null
                              ? "the operation is MPI_OP_NULL"
                              : "the operation is not defined for this datatype");
        break;
    default:
        break;
    }
}

int shim_fault_raise(const struct shim_hush *hush, MPI_Comm comm,
                     const struct shim_fault *fault, int own_class, int rc)
{
    char words[SHIM_FAULT_BYTES];
    int error_class = shim_hush_end(hush, rc);

    if (error_class != MPI_SUCCESS && hush->comm == NULL) {
        return rc; /* its error handler has been called */
    }
    if (error_class == MPI_SUCCESS) {
        error_class = own_class;
    }
    shim_fault_words(error_class, fault, words);
    return shim_error_of(comm, error_class, words);
}
