/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Brings what ranks have recorded by communicator together; see comm_read.h. All
 * records are sorted so that those of a communicator follow each other, and these
 * become one.
 */
#include "mds/tool/analysis/comm_read.h"

#include <stdlib.h>

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_ids(const void *left, const void *right)
{
    const struct comm *a = left, *b = right;

    return compare_numbers(a->sum.id, b->sum.id);
}

/** By bytes, then messages, the most first. */
static int compare_sums(const void *left, const void *right)
{
    const struct mds_dump_comm *a = &((const struct comm *)left)->sum;
    const struct mds_dump_comm *b = &((const struct comm *)right)->sum;
    int order = compare_numbers(b->sent_bytes + b->collective_bytes,
                                a->sent_bytes + a->collective_bytes);

    if (order == 0) {
        order =
            compare_numbers(b->n_sent + b->n_collectives, a->n_sent + a->n_collectives);
    }
    return order != 0 ? order : compare_numbers(a->id, b->id);
}

static void merge(struct comm *into, const struct comm *from)
{
    into->sum.n_sent += from->sum.n_sent;
    into->sum.sent_bytes += from->sum.sent_bytes;
    into->sum.n_received += from->sum.n_received;
    into->sum.received_bytes += from->sum.received_bytes;
    into->sum.n_collectives += from->sum.n_collectives;
    into->sum.collective_bytes += from->sum.collective_bytes;
    into->n_files++;
    if (into->name[0] == '\0') { /* names are each rank's own business */
        into->name = from->name;
    }
}

/** All records of all ranks, each as one. @return for free; NULL: no memory */
static struct comm *read_all(const struct run *run, size_t *n_out)
{
    size_t n = 0;
    struct comm *comms;

    for (uint32_t i = 0; i < run->n_files; i++) {
        n += run->files[i].comms.n;
    }
    comms = calloc(n + 1, sizeof(*comms));
    *n_out = n;
    n = 0;
    for (uint32_t i = 0; i < run->n_files && comms != NULL; i++) {
        for (uint32_t j = 0; j < run->files[i].comms.n; j++, n++) {
            comms[n].sum = dump_comm(&run->files[i], j);
            comms[n].name = dump_name(&run->files[i], comms[n].sum.name);
            comms[n].n_files = 1;
        }
    }
    return comms;
}

struct comm *comms_of(const struct run *run, size_t *n_out)
{
    size_t n, n_kept = 0;
    struct comm *comms = read_all(run, &n);

    if (comms == NULL) {
        return NULL;
    }
    qsort(comms, n, sizeof(*comms), compare_ids);
    for (size_t i = 0; i < n; i++) {
        if (n_kept > 0 && comms[n_kept - 1].sum.id == comms[i].sum.id) {
            merge(&comms[n_kept - 1], &comms[i]);
        } else {
            comms[n_kept++] = comms[i];
        }
    }
    qsort(comms, n_kept, sizeof(*comms), compare_sums);
    *n_out = n_kept;
    return comms;
}
