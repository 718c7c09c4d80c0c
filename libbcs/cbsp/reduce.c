/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast and reduction: supersteps of messages that go to wherever the receiver's call
 * wants them, by a handler, and that are counted. [cBSP 4.3]
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/base/log.h"
#include "libbcs/cbsp/cbsp.h"

/* Vectors up to this length are sent whole. */
#define SHORT_BYTES 2048

static void take_part(int srcNode, void *destAddr, int nBytes)
{
    if (cbsp_self->taking.parts == NULL || cbsp_self->taking.parts[srcNode] == NULL ||
        cbsp_self->taking.lengths[srcNode] != (size_t)nBytes) {
        cbsp_self->taking.is_wrong = true;
        return;
    }
    memcpy(cbsp_self->taking.parts[srcNode], destAddr, (size_t)nBytes);
}

/** Places for the parts; none is expected yet. */
static int begin_taking(uint32_t n_procs)
{
    cbsp_self->taking.parts = calloc(n_procs, sizeof(*cbsp_self->taking.parts));
    cbsp_self->taking.lengths = calloc(n_procs, sizeof(*cbsp_self->taking.lengths));
    cbsp_self->taking.is_wrong = false;
    if (cbsp_self->taking.parts == NULL || cbsp_self->taking.lengths == NULL) {
        bcs_error("cBSP: no memory for a broadcast or reduction");
        return -ENOMEM;
    }
    return 0;
}

static void end_taking(void)
{
    free(cbsp_self->taking.parts);
    free(cbsp_self->taking.lengths);
    cbsp_self->taking.parts = NULL;
    cbsp_self->taking.lengths = NULL;
}

static void expect(uint32_t node, void *part, size_t n_bytes)
{
    cbsp_self->taking.parts[node] = part;
    cbsp_self->taking.lengths[node] = n_bytes;
}

static int check(const char *caller, const void *data, size_t n_bytes)
{
    int rc = cbsp_check(caller);

    if (rc < 0) {
        return rc;
    }
    if (cbsp_self->doing != CBSP_COMPUTING) {
        bcs_error("%s: called in a handler", caller);
        return -EPERM;
    }
    if (data == NULL && n_bytes != 0) {
        bcs_error("%s: data is a null pointer", caller);
        return -EINVAL;
    }
    if (n_bytes > INT_MAX) {
        bcs_error("%s: %zu bytes; allowed are up to %d", caller, n_bytes, INT_MAX);
        return -EMSGSIZE;
    }
    if (cbsp_self->n_sent[cbsp_self->superstep % 2] != 0) {
        bcs_error("%s: called in a superstep in which this process has sent messages",
                  caller);
        return -EBUSY;
    }
    return 0;
}

/** Send a part to every other process. */
static int send_to_others(const void *data, size_t n_bytes)
{
    int rc = 0;

    for (uint32_t i = 1; rc == 0 && i < cbsp_self->n_procs; i++) {
        uint32_t node = (cbsp_self->pid + i) % cbsp_self->n_procs;

        rc = cBSP_send((int)node, NULL, data, n_bytes, take_part);
    }
    return rc;
}

/** Count the parts of a superstep; the other side must have sent what was expected. */
static int take_parts(const char *caller, uint32_t n_parts)
{
    int rc = cbsp_nsync(cbsp_self, (int)n_parts);

    if (rc == 0 && cbsp_self->taking.is_wrong) {
        bcs_error("%s: another process calls it with another root or length", caller);
        rc = cbsp_end_job(cbsp_self, -EPROTO);
    }
    return rc;
}

static int broadcast(uint32_t root, void *data, size_t n_bytes)
{
    int rc = begin_taking(cbsp_self->n_procs);

    if (rc == 0 && cbsp_self->pid == root) {
        rc = send_to_others(data, n_bytes);
        rc = rc < 0 ? rc : take_parts("cBSP_broadcast", 0);
    } else if (rc == 0) {
        expect(root, data, n_bytes);
        rc = take_parts("cBSP_broadcast", 1);
    }
    end_taking();
    return rc;
}

int cBSP_broadcast(int root, void *data, size_t n_bytes)
{
    int rc = check("cBSP_broadcast", data, n_bytes);

    if (rc == 0 && (root < 0 || (uint32_t)root >= cbsp_self->n_procs)) {
        bcs_error("cBSP_broadcast: no process %d in a job of %u", root,
                  cbsp_self->n_procs);
        rc = -EINVAL;
    }
    return rc < 0 ? rc : broadcast((uint32_t)root, data, n_bytes);
}

/** A reduction under way: this process combines some elements of all vectors. */
struct reduction {
    uint8_t *data;
    size_t count, element_bytes;
    cBSP_combine_fn combine;
    uint8_t *scratch; /* the share of every process, one after the other */
    size_t stride;    /* bytes from one to the next */
};

/** The first element of a process's share; that of n_procs is the end. */
static size_t share_begin(const struct reduction *reduction, uint32_t node)
{
    return (size_t)((unsigned __int128)reduction->count * node / cbsp_self->n_procs);
}

static size_t share_bytes(const struct reduction *reduction, uint32_t node)
{
    return (share_begin(reduction, node + 1) - share_begin(reduction, node)) *
           reduction->element_bytes;
}

static uint8_t *share_of(const struct reduction *reduction, uint32_t node)
{
    return reduction->data + share_begin(reduction, node) * reduction->element_bytes;
}

/** Combine the shares in scratch, in the order of the processes, into out. */
static void combine(const struct reduction *reduction, uint8_t *out, size_t n_bytes)
{
    memcpy(reduction->scratch + cbsp_self->pid * reduction->stride, out, n_bytes);
    for (uint32_t i = 1; i < cbsp_self->n_procs; i++) {
        reduction->combine(reduction->scratch,
                           reduction->scratch + i * reduction->stride,
                           n_bytes / reduction->element_bytes);
    }
    memcpy(out, reduction->scratch, n_bytes);
}

/** Let the parts of all others come into scratch. */
static void expect_in_scratch(const struct reduction *reduction, size_t n_bytes)
{
    for (uint32_t i = 0; i < cbsp_self->n_procs; i++) {
        expect(i, reduction->scratch + i * reduction->stride, n_bytes);
    }
}

/** Each process gets all vectors whole. */
static int reduce_short(const struct reduction *reduction)
{
    size_t n_bytes = reduction->count * reduction->element_bytes;
    int rc = send_to_others(reduction->data, n_bytes);

    expect_in_scratch(reduction, n_bytes);
    rc = rc < 0 ? rc : take_parts("cBSP_reduce", cbsp_self->n_procs - 1);
    if (rc == 0) {
        combine(reduction, reduction->data, n_bytes);
    }
    return rc;
}

/** Each process gets its share of all vectors, and then sends what has come of it. */
static int reduce_long(const struct reduction *reduction)
{
    uint32_t pid = cbsp_self->pid, n_procs = cbsp_self->n_procs;
    int rc = 0;

    expect_in_scratch(reduction, share_bytes(reduction, pid));
    for (uint32_t i = 1; rc == 0 && i < n_procs; i++) {
        uint32_t node = (pid + i) % n_procs;

        rc = cBSP_send((int)node, NULL, share_of(reduction, node),
                       share_bytes(reduction, node), take_part);
    }
    rc = rc < 0 ? rc : take_parts("cBSP_reduce", n_procs - 1);
    if (rc < 0) {
        return rc;
    }
    combine(reduction, share_of(reduction, pid), share_bytes(reduction, pid));
    for (uint32_t i = 0; i < n_procs; i++) {
        expect(i, share_of(reduction, i), share_bytes(reduction, i));
    }
    rc = send_to_others(share_of(reduction, pid), share_bytes(reduction, pid));
    return rc < 0 ? rc : take_parts("cBSP_reduce", n_procs - 1);
}

static int reduce(struct reduction *reduction)
{
    size_t n_bytes = reduction->count * reduction->element_bytes;
    bool is_short = n_bytes <= SHORT_BYTES;
    int rc = begin_taking(cbsp_self->n_procs);

    reduction->stride = is_short ? n_bytes : n_bytes / cbsp_self->n_procs;
    /* Whole elements, and aligned for all types. */
    reduction->stride =
        (reduction->stride + reduction->element_bytes + 63) & ~(size_t)63;
    reduction->scratch = aligned_alloc(64, cbsp_self->n_procs * reduction->stride);
    if (rc == 0 && reduction->scratch == NULL) {
        bcs_error("cBSP_reduce: no memory for %zu bytes of each process",
                  reduction->stride);
        rc = -ENOMEM;
    }
    if (rc == 0) {
        rc = is_short ? reduce_short(reduction) : reduce_long(reduction);
    }
    free(reduction->scratch);
    end_taking();
    return rc;
}

int cBSP_reduce(void *data, size_t count, size_t element_bytes, cBSP_combine_fn combine)
{
    struct reduction reduction = {
        .data = data,
        .count = count,
        .element_bytes = element_bytes,
        .combine = combine,
    };
    size_t n_bytes;
    int rc;

    if (__builtin_mul_overflow(count, element_bytes, &n_bytes)) {
        n_bytes = SIZE_MAX;
    }
    rc = check("cBSP_reduce", data, n_bytes);
    if (rc == 0 && (element_bytes == 0 || combine == NULL)) {
        bcs_error("cBSP_reduce: elements of %zu bytes, %s", element_bytes,
                  combine == NULL ? "and nothing to combine them"
                                  : "allowed are 1 and more");
        rc = -EINVAL;
    }
    return rc < 0 ? rc : reduce(&reduction);
}

void cBSP_add_double(void *into, const void *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ((double *)into)[i] += ((const double *)from)[i];
    }
}

void cBSP_max_double(void *into, const void *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double other = ((const double *)from)[i];

        ((double *)into)[i] = other > ((double *)into)[i] ? other : ((double *)into)[i];
    }
}

void cBSP_min_double(void *into, const void *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double other = ((const double *)from)[i];

        ((double *)into)[i] = other < ((double *)into)[i] ? other : ((double *)into)[i];
    }
}

void cBSP_add_int64(void *into, const void *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ((int64_t *)into)[i] += ((const int64_t *)from)[i];
    }
}
