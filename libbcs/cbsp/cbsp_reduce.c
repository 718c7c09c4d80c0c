/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast and reduction: supersteps of messages that go to wherever the receiver's
 * call wants them, and that are counted. [cBSP 4.3]
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/cbsp/cbsp_calls.h"
#include "libbcs/fabric/base/log.h"

/* Vectors up to this length are sent whole. */
#define SHORT_BYTES 2048

static int check(const struct cbsp *cbsp, const char *caller, const void *data,
                 size_t n_bytes)
{
    int rc = cbsp_check(cbsp, caller);

    if (rc < 0) {
        return rc;
    }
    if (cbsp->doing != CBSP_COMPUTING) {
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
    if (cbsp->n_sent[cbsp->superstep % 2] != 0) {
        bcs_error("%s: called in a superstep in which this process has sent messages",
                  caller);
        return -EBUSY;
    }
    return 0;
}

/** Send a part to a process. */
static int send_part(struct cbsp *cbsp, uint32_t node, const void *data, size_t n_bytes)
{
    const struct cbsp_message message = {
        .handler = CBSP_PART,
        .data = n_bytes == 0 ? "" : data,
        .n_bytes = n_bytes,
    };

    return cbsp_outbox_send(cbsp, node, &message);
}

/** Send a part to every other process. */
static int send_to_others(struct cbsp *cbsp, const void *data, size_t n_bytes)
{
    int rc = 0;

    for (uint32_t i = 1; rc == 0 && i < cbsp->n_procs; i++) {
        uint32_t node = (cbsp->pid + i) % cbsp->n_procs;

        rc = send_part(cbsp, node, data, n_bytes);
    }
    return rc;
}

/** Count the parts of a superstep; the other side must have sent what was expected. */
static int take_parts(struct cbsp *cbsp, const char *caller, uint32_t n_parts)
{
    int rc = cbsp_nsync(cbsp, (int)n_parts);

    if (rc == 0 && cbsp->taking.is_wrong) {
        bcs_error("%s: another process calls it with another root or length", caller);
        rc = cbsp_end_job(cbsp, -EPROTO);
    }
    return rc;
}

static int broadcast(struct cbsp *cbsp, uint32_t root, void *data, size_t n_bytes)
{
    int rc = cbsp_parts_begin(cbsp);

    if (rc == 0 && cbsp->pid == root) {
        rc = send_to_others(cbsp, data, n_bytes);
        rc = rc < 0 ? rc : take_parts(cbsp, "cBSP_broadcast", 0);
    } else if (rc == 0) {
        cbsp_parts_expect(cbsp, root, data, n_bytes);
        rc = take_parts(cbsp, "cBSP_broadcast", 1);
    }
    cbsp_parts_end(cbsp);
    return rc;
}

int cbsp_broadcast(struct cbsp *cbsp, int root, void *data, size_t n_bytes)
{
    int rc = check(cbsp, "cBSP_broadcast", data, n_bytes);

    if (rc == 0 && (root < 0 || (uint32_t)root >= cbsp->n_procs)) {
        bcs_error("cBSP_broadcast: no process %d in a job of %u", root, cbsp->n_procs);
        rc = -EINVAL;
    }
    return rc < 0 ? rc : broadcast(cbsp, (uint32_t)root, data, n_bytes);
}

int cbsp_call_broadcast(int root, void *data, size_t n_bytes)
{
    return cbsp_broadcast(cbsp_self, root, data, n_bytes);
}

/** A reduction under way: this process combines some elements of all vectors. */
struct reduction {
    struct cbsp *cbsp;
    struct cbsp_vector vector;
    uint8_t *scratch; /* the share of every process, one after the other */
    size_t stride;    /* bytes from one to the next */
};

/** The first element of a process's share; that of n_procs is the end. */
static size_t share_begin(const struct reduction *reduction, uint32_t node)
{
    return (size_t)((unsigned __int128)reduction->vector.count * node /
                    reduction->cbsp->n_procs);
}

static size_t share_bytes(const struct reduction *reduction, uint32_t node)
{
    return (share_begin(reduction, node + 1) - share_begin(reduction, node)) *
           reduction->vector.element_bytes;
}

static uint8_t *share_of(const struct reduction *reduction, uint32_t node)
{
    return reduction->vector.data +
           share_begin(reduction, node) * reduction->vector.element_bytes;
}

/** Combine the shares in scratch, in the order of the processes, into out. */
static void combine(const struct reduction *reduction, uint8_t *out, size_t n_bytes)
{
    struct cbsp *cbsp = reduction->cbsp;

    memcpy(reduction->scratch + cbsp->pid * reduction->stride, out, n_bytes);
    for (uint32_t i = 1; i < cbsp->n_procs; i++) {
        reduction->vector.combine(reduction->scratch,
                                  reduction->scratch + i * reduction->stride,
                                  n_bytes / reduction->vector.element_bytes);
    }
    memcpy(out, reduction->scratch, n_bytes);
}

/** Let the parts of all others come into scratch. */
static void expect_in_scratch(const struct reduction *reduction, size_t n_bytes)
{
    struct cbsp *cbsp = reduction->cbsp;

    for (uint32_t i = 0; i < cbsp->n_procs; i++) {
        cbsp_parts_expect(cbsp, i, reduction->scratch + i * reduction->stride, n_bytes);
    }
}

/** Each process gets all vectors whole. */
static int reduce_short(const struct reduction *reduction)
{
    struct cbsp *cbsp = reduction->cbsp;
    size_t n_bytes = reduction->vector.count * reduction->vector.element_bytes;
    int rc = send_to_others(cbsp, reduction->vector.data, n_bytes);

    expect_in_scratch(reduction, n_bytes);
    rc = rc < 0 ? rc : take_parts(cbsp, "cBSP_reduce", cbsp->n_procs - 1);
    if (rc == 0) {
        combine(reduction, reduction->vector.data, n_bytes);
    }
    return rc;
}

/** Each process gets its share of all vectors, and then sends what has come of it. */
static int reduce_long(const struct reduction *reduction)
{
    struct cbsp *cbsp = reduction->cbsp;
    uint32_t pid = cbsp->pid, n_procs = cbsp->n_procs;
    int rc = 0;

    expect_in_scratch(reduction, share_bytes(reduction, pid));
    for (uint32_t i = 1; rc == 0 && i < n_procs; i++) {
        uint32_t node = (pid + i) % n_procs;

        rc = send_part(cbsp, node, share_of(reduction, node),
                       share_bytes(reduction, node));
    }
    rc = rc < 0 ? rc : take_parts(cbsp, "cBSP_reduce", n_procs - 1);
    if (rc < 0) {
        return rc;
    }
    combine(reduction, share_of(reduction, pid), share_bytes(reduction, pid));
    for (uint32_t i = 0; i < n_procs; i++) {
        cbsp_parts_expect(cbsp, i, share_of(reduction, i), share_bytes(reduction, i));
    }
    rc = send_to_others(cbsp, share_of(reduction, pid), share_bytes(reduction, pid));
    return rc < 0 ? rc : take_parts(cbsp, "cBSP_reduce", n_procs - 1);
}

static int reduce(struct reduction *reduction)
{
    struct cbsp *cbsp = reduction->cbsp;
    size_t n_bytes = reduction->vector.count * reduction->vector.element_bytes;
    bool is_short = n_bytes <= SHORT_BYTES;
    int rc = cbsp_parts_begin(cbsp);

    reduction->stride = is_short ? n_bytes : n_bytes / cbsp->n_procs;
    /* Whole elements, and aligned for all types. */
    reduction->stride =
        bcs_align_up(reduction->stride + reduction->vector.element_bytes, 64);
    reduction->scratch = aligned_alloc(64, cbsp->n_procs * reduction->stride);
    if (rc == 0 && reduction->scratch == NULL) {
        bcs_error("cBSP_reduce: no memory for %zu bytes of each process",
                  reduction->stride);
        rc = -ENOMEM;
    }
    if (rc == 0) {
        rc = is_short ? reduce_short(reduction) : reduce_long(reduction);
    }
    free(reduction->scratch);
    cbsp_parts_end(cbsp);
    return rc;
}

int cbsp_reduce(struct cbsp *cbsp, const struct cbsp_vector *vector)
{
    struct reduction reduction = {.cbsp = cbsp, .vector = *vector};
    size_t n_bytes;
    int rc;

    if (__builtin_mul_overflow(vector->count, vector->element_bytes, &n_bytes)) {
        n_bytes = SIZE_MAX;
    }
    rc = check(cbsp, "cBSP_reduce", vector->data, n_bytes);
    if (rc == 0 && (vector->element_bytes == 0 || vector->combine == NULL)) {
        bcs_error("cBSP_reduce: elements of %zu bytes, %s", vector->element_bytes,
                  vector->combine == NULL ? "and nothing to combine them"
                                          : "allowed are 1 and more");
        rc = -EINVAL;
    }
    return rc < 0 ? rc : reduce(&reduction);
}

int cbsp_call_reduce(void *data, size_t count, size_t element_bytes,
                     cBSP_combine_fn combine)
{
    return cbsp_reduce(cbsp_self, &(struct cbsp_vector){
                                      .data = data,
                                      .count = count,
                                      .element_bytes = element_bytes,
                                      .combine = combine,
                                  });
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
