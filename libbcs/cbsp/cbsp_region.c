/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Export and import of memory, by the table of the session (libbcs/session/exports.h).
 * Every send is checked against what was imported. [cBSP 3]
 *
 * An export that is taken back says up to which cBSP_gsync it holds, counted from the
 * beginning, and a count tells that there are such. So it does not matter how far ahead
 * the exporter is: until the same cBSP_gsync all may import the region and send to it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "libbcs/cbsp/cbsp_calls.h"
#include "libbcs/fabric/base/log.h"

_Static_assert(CBSP_MAX_REGIONS == BCS_EXPORTS, "the table of the session");

static int check(const struct cbsp *cbsp, const char *caller, int region)
{
    int rc = cbsp_check(cbsp, caller);

    return rc < 0 ? rc : bcs_exports_check(caller, region);
}

int cbsp_export(struct cbsp *cbsp, int region, void *address, size_t n_bytes)
{
    int rc = check(cbsp, "cBSP_export", region);
    struct bcs_export export = {.address = (uint64_t)(uintptr_t)address,
                                .n_bytes = n_bytes};
    struct bcs_xfer xfers[2];

    if (rc == 0) {
        rc = bcs_exports_add(&cbsp->exports, "cBSP_export", (uint32_t)region, export,
                             cbsp->n_gsyncs, xfers);
    }
    rc = rc < 0 ? rc : cbsp_transfer(cbsp, &xfers[0], 0);
    return rc < 0 ? rc : cbsp_transfer(cbsp, &xfers[1], 0);
}

int cbsp_call_export(int region, void *address, size_t n_bytes)
{
    return cbsp_export(cbsp_self, region, address, n_bytes);
}

int cbsp_unexport(struct cbsp *cbsp, int region)
{
    int rc = check(cbsp, "cBSP_unexport", region);
    struct bcs_xfer xfer, tell = {0};

    if (rc == 0) {
        rc = bcs_exports_remove(&cbsp->exports, "cBSP_unexport", (uint32_t)region,
                                cbsp->n_gsyncs + 1, &xfer);
    }
    if (rc < 0) {
        return rc;
    }
    tell.dests = &cbsp->all;
    tell.remote_event_gva = cbsp->layout.revocations_gva;
    rc = cbsp_transfer(cbsp, &xfer, 0);
    return rc < 0 ? rc : cbsp_transfer(cbsp, &tell, 0);
}

int cbsp_call_unexport(int region)
{
    return cbsp_unexport(cbsp_self, region);
}

/** Add an import, unless it is in the list. */
static int add_import(struct cbsp_imports *imports, const struct cbsp_import *import)
{
    struct cbsp_import *list;

    for (uint32_t i = 0; i < imports->n; i++) {
        if (imports->list[i].region == import->region) {
            return 0;
        }
    }
    list = realloc(imports->list, (imports->n + 1) * sizeof(*list));
    if (list == NULL) {
        bcs_error("cBSP_import: out of memory");
        return -ENOMEM;
    }
    list[imports->n++] = *import;
    imports->list = list;
    return 0;
}

int cbsp_import(struct cbsp *cbsp, int node, int region, void **address_out,
                size_t *n_bytes_out)
{
    const struct bcs_export *export;
    struct cbsp_import import = {.region = (uint32_t)region};
    int rc = check(cbsp, "cBSP_import", region);

    if (rc == 0 && (node < 0 || (uint32_t)node >= cbsp->n_procs)) {
        bcs_error("cBSP_import: no process %d in a job of %u", node, cbsp->n_procs);
        rc = -EINVAL;
    }
    if (rc < 0) {
        return rc;
    }
    export = bcs_exports_of(&cbsp->exports, (uint32_t)node, (uint32_t)region);
    import.serial = bcs_export_serial(export);
    if (import.serial == 0 || !bcs_export_is_valid(export, cbsp->n_gsyncs)) {
        bcs_error("cBSP_import: process %d has not exported region %d before the last "
                  "cBSP_gsync",
                  node, region);
        return -ENOENT;
    }
    import.address = export->address;
    import.n_bytes = export->n_bytes;
    rc = add_import(&cbsp->imports[node], &import);
    if (rc < 0) {
        return rc;
    }
    *address_out = (void *)(uintptr_t)import.address; // NOLINT: of another process
    if (n_bytes_out != NULL) {
        *n_bytes_out = import.n_bytes;
    }
    return 0;
}

int cbsp_call_import(int node, int region, void **address_out, size_t *n_bytes_out)
{
    return cbsp_import(cbsp_self, node, region, address_out, n_bytes_out);
}

void cbsp_imports_update(struct cbsp *cbsp)
{
    /* Pairs with the signal of cBSP_unexport. */
    uint64_t n = __atomic_load_n(&cbsp->revocations->count, __ATOMIC_ACQUIRE);

    if (n == cbsp->revocations_seen) {
        return;
    }
    cbsp->revocations_seen = n;
    for (uint32_t node = 0; node < cbsp->n_procs; node++) {
        struct cbsp_imports *imports = &cbsp->imports[node];
        uint32_t n_left = 0;

        for (uint32_t i = 0; i < imports->n; i++) {
            const struct cbsp_import *import = &imports->list[i];
            const struct bcs_export *export =
                bcs_exports_of(&cbsp->exports, node, import->region);

            if (bcs_export_serial(export) == import->serial &&
                bcs_export_is_valid(export, cbsp->n_gsyncs)) {
                imports->list[n_left++] = *import;
            }
        }
        imports->n = n_left;
    }
}

static bool is_within(const struct cbsp_import *import, uint64_t address,
                      size_t n_bytes)
{
    return address - import->address < import->n_bytes &&
           n_bytes <= import->n_bytes - (address - import->address);
}

/** Refuse a destination; name the import that is nearest to it. */
static int refuse(const struct cbsp_imports *imports, uint32_t node, uint64_t address,
                  size_t n_bytes)
{
    const struct cbsp_import *nearest = NULL;
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < imports->n; i++) {
        const struct cbsp_import *import = &imports->list[i];
        uint64_t middle = import->address + import->n_bytes / 2;
        uint64_t distance = address > middle ? address - middle : middle - address;

        if (distance < least) {
            least = distance;
            nearest = import;
        }
    }
    if (nearest == NULL) {
        bcs_error("cBSP_send: %zu bytes to 0x%" PRIx64 " of process %" PRIu32
                  ", from which nothing is imported",
                  n_bytes, address, node);
    } else {
        bcs_error("cBSP_send: %zu bytes to 0x%" PRIx64 " of process %" PRIu32
                  " are not within an imported region; the nearest is region %" PRIu32
                  ", %" PRIu64 " bytes at 0x%" PRIx64,
                  n_bytes, address, node, nearest->region, nearest->n_bytes,
                  nearest->address);
    }
    return -EACCES;
}

int cbsp_imports_check(struct cbsp *cbsp, uint32_t node, uint64_t address,
                       size_t n_bytes)
{
    struct cbsp_imports *imports = &cbsp->imports[node];

    for (uint32_t i = 0; i < imports->n; i++) {
        if (is_within(&imports->list[i], address, n_bytes)) {
            struct cbsp_import found = imports->list[i];

            if (i != 0) {
                imports->list[i] = imports->list[0];
                imports->list[0] = found;
            }
            return 0;
        }
    }
    return refuse(imports, node, address, n_bytes);
}
