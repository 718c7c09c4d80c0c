/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of a broadcast or reduction: where that of each process goes, and how long
 * it must be. cbsp_reduce.c says what it expects; inbox.c brings what comes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/cbsp/cbsp_job_state.h"
#include "libbcs/fabric/base/log.h"

int cbsp_parts_begin(struct cbsp *cbsp)
{
    struct cbsp_taking *taking = &cbsp->taking;

    taking->parts = calloc(cbsp->n_procs, sizeof(*taking->parts));
    taking->lengths = calloc(cbsp->n_procs, sizeof(*taking->lengths));
    taking->is_wrong = false;
    if (taking->parts == NULL || taking->lengths == NULL) {
        bcs_error("cBSP: no memory for a broadcast or reduction");
        return -ENOMEM;
    }
    return 0;
}

void cbsp_parts_end(struct cbsp *cbsp)
{
    free(cbsp->taking.parts);
    free(cbsp->taking.lengths);
    cbsp->taking.parts = NULL;
    cbsp->taking.lengths = NULL;
}

void cbsp_parts_expect(struct cbsp *cbsp, uint32_t node, void *part, size_t n_bytes)
{
    cbsp->taking.parts[node] = part;
    cbsp->taking.lengths[node] = n_bytes;
}

void cbsp_parts_take(struct cbsp *cbsp, uint32_t node, const void *data, size_t n_bytes)
{
    struct cbsp_taking *taking = &cbsp->taking;

    if (taking->parts == NULL || taking->parts[node] == NULL ||
        taking->lengths[node] != n_bytes) {
        taking->is_wrong = true;
        return;
    }
    memcpy(taking->parts[node], data, n_bytes);
}
