/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Brings the sites of all ranks together; see site.h. Each record is added to what is
 * known of its place, which a hash table finds, so that memory is that of places, not
 * of records.
 */
#include "mds/tool/analysis/site.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/efficiency.h"

struct site site_of(const struct dump_file *file, uint32_t i)
{
    struct mds_dump_site record = dump_site(file, i);
    struct mds_dump_call call = dump_call(file, record.call);
    struct site site = {
        .primitive = dump_name(file, call.name),
        .is_blocking = call.timing == MDS_BLOCKING,
        .words = record.words == 0 ? NULL : dump_name(file, record.words - 1),
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

    order = order != 0 ? order : compare_texts(a->words, b->words);
    if (order == 0 && a->address != b->address) {
        order = a->address < b->address ? -1 : 1;
    }
    return order != 0 ? order : strcmp(a->primitive, b->primitive);
}

/** By time, the longest first. */
static int compare_times(const void *left, const void *right)
{
    const struct site *a = left, *b = right;

    if (a->time.total_ns != b->time.total_ns) {
        return a->time.total_ns > b->time.total_ns ? -1 : 1;
    }
    return site_compare(a, b);
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

/** How the totals of the records of a place are spread (Welford's way). */
struct totals {
    double mean, squares; /* of the distances from the mean */
    size_t n;
};

/** Places that were found. */
struct found {
    struct site *sites;    /* [n] in the order of the records, */
    struct totals *totals; /* and of each */
    size_t *slots;         /* [n_slots] number of a place and 1; 0: free */
    size_t n, n_slots;     /* a power of two, and more than twice n */
};

static uint64_t hash_of(const struct site *site)
{
    uint64_t hash =
        bcs_digest_add(BCS_DIGEST_OF_NOTHING, &site->address, sizeof(site->address));
    const char *path = site->module.path;

    hash = bcs_digest_add(hash, site->primitive, strlen(site->primitive));
    path = path == NULL ? site->words : path;
    return path == NULL ? hash : bcs_digest_add(hash, path, strlen(path));
}

/** The slot of a place, or a free one for it. */
static size_t *find_slot(const struct found *found, const struct site *site)
{
    size_t i = hash_of(site) & (found->n_slots - 1);

    while (found->slots[i] != 0 &&
           site_compare(&found->sites[found->slots[i] - 1], site) != 0) {
        i = (i + 1) & (found->n_slots - 1);
    }
    return &found->slots[i];
}

/** Make room for more places. @return false: no memory */
static bool grow(struct found *found)
{
    size_t n_slots = found->n_slots == 0 ? 64 : 2 * found->n_slots;
    struct site *sites = realloc(found->sites, n_slots / 2 * sizeof(*sites));
    struct totals *totals = realloc(found->totals, n_slots / 2 * sizeof(*totals));
    size_t *slots = calloc(n_slots, sizeof(*slots));

    found->sites = sites == NULL ? found->sites : sites;
    found->totals = totals == NULL ? found->totals : totals;
    if (sites == NULL || totals == NULL || slots == NULL) {
        free(slots);
        return false;
    }
    free(found->slots);
    found->slots = slots;
    found->n_slots = n_slots;
    for (size_t i = 0; i < found->n; i++) {
        *find_slot(found, &found->sites[i]) = i + 1;
    }
    return true;
}

static void add_total(struct totals *totals, double total)
{
    double distance = total - totals->mean;

    totals->n++;
    totals->mean += distance / (double)totals->n;
    totals->squares += distance * (total - totals->mean);
}

/** Add a record. @return false: no memory */
static bool add(struct found *found, const struct site *site)
{
    size_t *slot;

    if (found->n + 1 > found->n_slots / 2 && !grow(found)) {
        return false;
    }
    slot = find_slot(found, site);
    if (*slot == 0) {
        found->sites[found->n] = *site;
        found->totals[found->n] = (struct totals){0};
        *slot = ++found->n;
    } else {
        merge(&found->sites[*slot - 1], site);
    }
    add_total(&found->totals[*slot - 1], (double)site->time.total_ns);
    return true;
}

/** All records of a place are there: ranks that have none have spent no time there.
 *  @param n_files  ranks that could have some */
static void end(struct site *site, const struct totals *totals, uint32_t n_files)
{
    double n = (double)totals->n,
           n_none = totals->n < n_files ? (double)n_files - n : 0, n_all = n + n_none;
    double squares = totals->squares + totals->mean * totals->mean * n * n_none / n_all;

    if (n_none > 0) {
        site->least_ns = 0;
    }
    site->variation = efficiency_part(sqrt(squares / n_all), totals->mean * n / n_all);
}

/** Add all records of the ranks that are wanted. @return false: no memory */
static bool add_all(const struct run *run, int64_t rank, struct found *found)
{
    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct dump_file *file = &run->files[i];
        bool is_wanted = rank < 0 || rank == file->process.rank;

        for (uint32_t j = 0; is_wanted && j < file->sites.n; j++) {
            struct site site = site_of(file, j);

            if (!add(found, &site)) {
                return false;
            }
        }
    }
    return true;
}

struct site *sites_of(const struct run *run, int64_t rank, size_t *n_out)
{
    struct found found = {0};
    bool is_whole = grow(&found) && add_all(run, rank, &found);

    for (size_t i = 0; is_whole && i < found.n; i++) {
        end(&found.sites[i], &found.totals[i], rank < 0 ? run->n_files : 1);
    }
    free(found.slots);
    free(found.totals);
    if (!is_whole) {
        free(found.sites);
        return NULL;
    }
    qsort(found.sites, found.n, sizeof(*found.sites), compare_times);
    *n_out = found.n;
    return found.sites;
}

char *site_place(const struct site *site, struct places *places,
                 struct place *place_out)
{
    if (site->words == NULL) {
        return place_describe(places, &site->module, site->address, place_out);
    }
    if (place_out != NULL) {
        *place_out = (struct place){0};
    }
    return strdup(site->words);
}

char *site_words(const struct site *site, struct places *places)
{
    char *place = site_place(site, places, NULL), *words = NULL;

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
