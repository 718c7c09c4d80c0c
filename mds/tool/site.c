/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Brings the sites of all ranks together; see site.h. All records are sorted so that those of a
 * place follow each other, and these become one.
 */
#include "mds/tool/site.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/efficiency.h"

struct site site_of(const struct dump_file *file, uint32_t i)
{
    struct mds_dump_site record = dump_site(file, i);
    struct mds_dump_call call = dump_call(file, record.call);
    struct site site = {
        .primitive = dump_name(file, call.name),
        .is_blocking = call.timing == MDS_BLOCKING,
        .address = record.address,
        .n_bytes = record.n_bytes,
        .time = {record.count, record.min, record.max, record.total},
        .n_ranks = 1,
        .most_rank = file->process.rank,
        .most_ns = record.total,
        .least_ns = record.total,
        .fault = {record.fault_ns, record.fault_rank},
    };

    memcpy(site.split.ns, record.parts, sizeof(record.parts));

    if (record.module != MDS_DUMP_NONE) {
        struct mds_dump_module module = dump_module(file, record.module);

        site.module.path = dump_name(file, module.name);
        site.module.n_id_bytes = module.id_bytes;
        site.module.id = dump_module_id(file, record.module);
    }
    return site;
}

static int compare_texts(const char *a, const char *b)
{
    return a == b ? 0 : a == NULL ? -1 : b == NULL ? 1 : strcmp(a, b);
}

int site_compare(const struct site *a, const struct site *b)
{
    int order = compare_texts(a->module.path, b->module.path);

    if (order == 0 && a->address != b->address) {
        order = a->address < b->address ? -1 : 1;
    }
    return order != 0 ? order : strcmp(a->primitive, b->primitive);
}

static int compare_places(const void *left, const void *right)
{
    return site_compare(left, right);
}

/** By time, the longest first. */
static int compare_times(const void *left, const void *right)
{
    const struct site *a = left, *b = right;

    if (a->time.total_ns != b->time.total_ns) {
        return a->time.total_ns > b->time.total_ns ? -1 : 1;
    }
    return compare_places(left, right);
}

static void merge(struct site *into, const struct site *from)
{
    mmds_interval_merge(&into->time, &from->time);
    into->n_bytes += from->n_bytes;
    into->n_ranks += from->n_ranks;
    mmds_split_merge(&into->split, &from->split);
    mds_fault_add(&into->fault, from->fault.rank, from->fault.ticks);
    if (from->most_ns > into->most_ns) {
        into->most_ns = from->most_ns;
        into->most_rank = from->most_rank;
    }
    if (from->least_ns < into->least_ns) {
        into->least_ns = from->least_ns;
    }
}

/** Make one site of n ranks' of the same place. @param n_files  ranks that could have some */
static struct site together(const struct site *sites, size_t n, uint32_t n_files)
{
    struct site sum = sites[0];
    double mean, squares;

    for (size_t i = 1; i < n; i++) {
        merge(&sum, &sites[i]);
    }
    if (sum.n_ranks < n_files) {
        sum.least_ns = 0;
    }
    mean = (double)sum.time.total_ns / n_files;
    squares = (double)(n_files - n) * mean * mean;
    for (size_t i = 0; i < n; i++) {
        double distance = (double)sites[i].time.total_ns - mean;

        squares += distance * distance;
    }
    sum.variation = efficiency_part(sqrt(squares / n_files), mean);
    return sum;
}

/** Put all records of the ranks that are wanted into sites_out, if it is not NULL. @return how
 *  many */
static size_t put_all(const struct run *run, int64_t rank, struct site *sites_out)
{
    size_t n = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct dump_file *file = &run->files[i];
        bool is_wanted = rank < 0 || rank == file->process.rank;

        for (uint32_t j = 0; is_wanted && j < file->sites.n; j++, n++) {
            if (sites_out != NULL) {
                sites_out[n] = site_of(file, j);
            }
        }
    }
    return n;
}

struct site *sites_of(const struct run *run, int64_t rank, size_t *n_out)
{
    size_t n = put_all(run, rank, NULL), n_kept = 0, n_same;
    struct site *sites = calloc(n + 1, sizeof(*sites));

    if (sites == NULL) {
        return NULL;
    }
    put_all(run, rank, sites);
    qsort(sites, n, sizeof(*sites), compare_places);
    for (size_t i = 0; i < n; i += n_same) {
        n_same = 1;
        while (i + n_same < n && compare_places(&sites[i], &sites[i + n_same]) == 0) {
            n_same++;
        }
        sites[n_kept++] = together(&sites[i], n_same, rank < 0 ? run->n_files : 1);
    }
    qsort(sites, n_kept, sizeof(*sites), compare_times);
    *n_out = n_kept;
    return sites;
}

char *site_words(const struct site *site, struct places *places)
{
    char *place = site_place(site, places), *words = NULL;

    if (place != NULL && asprintf(&words, "%s at %s", site->primitive, place) < 0) {
        words = NULL;
    }
    free(place);
    return words;
}

double sites_total_ns(const struct site *sites, size_t n)
{
    double total = 0;

    for (size_t i = 0; i < n; i++) {
        total += (double)sites[i].time.total_ns;
    }
    return total;
}
