/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the events of an archive refer to; see otf2_archive.h. One thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/export/otf2_archive.h"
#include "mds/tool/read/text.h"

enum {
    JOB_NODE = 0,      /* of the tree of systems, above the hosts */
    ALL_LOCATIONS = 0, /* the group; that of a communicator has its number and 1 */
};

#define COLLECTIVE(name, op, role)                                                     \
    {                                                                                  \
        "MPI_" name, OTF2_COLLECTIVE_OP_##op, OTF2_REGION_ROLE_##role                  \
    }

static const struct otf2_collective collectives[] = {
    COLLECTIVE("Barrier", BARRIER, BARRIER),
    COLLECTIVE("Bcast", BCAST, COLL_ONE2ALL),
    COLLECTIVE("Gather", GATHER, COLL_ALL2ONE),
    COLLECTIVE("Gatherv", GATHERV, COLL_ALL2ONE),
    COLLECTIVE("Scatter", SCATTER, COLL_ONE2ALL),
    COLLECTIVE("Scatterv", SCATTERV, COLL_ONE2ALL),
    COLLECTIVE("Allgather", ALLGATHER, COLL_ALL2ALL),
    COLLECTIVE("Allgatherv", ALLGATHERV, COLL_ALL2ALL),
    COLLECTIVE("Alltoall", ALLTOALL, COLL_ALL2ALL),
    COLLECTIVE("Alltoallv", ALLTOALLV, COLL_ALL2ALL),
    COLLECTIVE("Alltoallw", ALLTOALLW, COLL_ALL2ALL),
    COLLECTIVE("Allreduce", ALLREDUCE, COLL_ALL2ALL),
    COLLECTIVE("Reduce", REDUCE, COLL_ALL2ONE),
    COLLECTIVE("Reduce_scatter", REDUCE_SCATTER, COLL_ALL2ALL),
    COLLECTIVE("Reduce_scatter_block", REDUCE_SCATTER_BLOCK, COLL_ALL2ALL),
    COLLECTIVE("Scan", SCAN, COLL_OTHER),
    COLLECTIVE("Exscan", EXSCAN, COLL_OTHER),
};

const struct otf2_collective *otf2_collective_of(const char *primitive)
{
    for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); i++) {
        if (strcmp(collectives[i].primitive, primitive) == 0) {
            return &collectives[i];
        }
    }
    return NULL;
}

OTF2_StringRef otf2_define_string(struct otf2_archive *archive, const char *text)
{
    char *plain = text_utf8(text, strlen(text));

    archive->has_no_memory |= plain == NULL;
    if (plain != NULL) {
        otf2_note(archive, OTF2_GlobalDefWriter_WriteString(archive->definitions,
                                                            archive->n_strings, plain));
    }
    free(plain);
    return archive->n_strings++;
}

/** A text with a number, like "rank 7". */
static OTF2_StringRef numbered(struct otf2_archive *archive, const char *word,
                               uint32_t number)
{
    char text[64];

    snprintf(text, sizeof(text), "%s %u", word, number);
    return otf2_define_string(archive, text);
}

static int compare_ids(const void *left, const void *right)
{
    const struct otf2_comm *a = left, *b = right;

    return a->comm->sum.id < b->comm->sum.id ? -1 : a->comm->sum.id > b->comm->sum.id;
}

size_t otf2_comm_number(const struct otf2_archive *archive, uint64_t id)
{
    const struct comm wanted = {.sum.id = id};
    const struct otf2_comm key = {.comm = &wanted};
    const struct otf2_comm *found = NULL;

    if (archive->n_comms > 0) {
        found =
            bsearch(&key, archive->members, archive->n_comms, sizeof(key), compare_ids);
    }
    return found == NULL ? archive->n_comms : (size_t)(found - archive->members);
}

/** A rank's communicators have it as a member. */
static void add_member(struct otf2_archive *archive, uint32_t number)
{
    const struct dump_file *file = &archive->run->files[number];

    for (uint32_t i = 0; i < file->comms.n; i++) {
        struct otf2_comm *its =
            &archive->members[otf2_comm_number(archive, dump_comm(file, i).id)];

        if (its->n == 0 || its->files[its->n - 1] != number) {
            its->files[its->n++] = number;
        }
    }
}

void otf2_find_comms(struct otf2_archive *archive)
{
    size_t n = 0;

    archive->comms = comms_of(archive->run, &n);
    archive->members = calloc(n + 1, sizeof(*archive->members));
    if (archive->comms == NULL || archive->members == NULL) {
        archive->has_no_memory = true;
        return;
    }
    archive->n_comms = n;
    for (size_t i = 0; i < n; i++) {
        archive->members[i].comm = &archive->comms[i];
        archive->members[i].files =
            calloc(archive->comms[i].n_files, sizeof(*archive->members[i].files));
        archive->has_no_memory |= archive->members[i].files == NULL;
    }
    if (archive->has_no_memory) {
        return;
    }
    if (n > 0) {
        qsort(archive->members, n, sizeof(*archive->members), compare_ids);
    }
    for (uint32_t i = 0; i < archive->run->n_files; i++) {
        add_member(archive, i);
    }
}

void otf2_forget_comms(struct otf2_archive *archive)
{
    for (size_t i = 0; i < archive->n_comms; i++) {
        free(archive->members[i].files);
    }
    free(archive->members);
    free(archive->comms);
}

/** The clock counts nanoseconds from when the first rank began to record. */
static void define_clock(struct otf2_archive *archive)
{
    const struct run *run = archive->run;
    uint64_t began = UINT64_MAX;

    for (uint32_t i = 0; i < run->n_files; i++) {
        uint64_t its = run->files[i].process.began_unix;

        began = its < began ? its : began;
    }
    otf2_note(archive,
              OTF2_GlobalDefWriter_WriteClockProperties(
                  archive->definitions, 1000000000, 0, archive->length_ns + 1, began));
}

/** A rank's host. @return its number, that of the first rank there and 1 */
static uint32_t host_of(const struct run *run, uint32_t number)
{
    uint32_t first = 0;

    while (strcmp(run->files[first].process.host, run->files[number].process.host) !=
           0) {
        first++;
    }
    return first + 1;
}

static void define_hosts(struct otf2_archive *archive)
{
    const struct run *run = archive->run;

    otf2_note(archive,
              OTF2_GlobalDefWriter_WriteSystemTreeNode(
                  archive->definitions, JOB_NODE, otf2_define_string(archive, "job"),
                  otf2_define_string(archive, "job"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t i = 0; i < run->n_files; i++) {
        if (host_of(run, i) == i + 1) {
            otf2_note(archive,
                      OTF2_GlobalDefWriter_WriteSystemTreeNode(
                          archive->definitions, i + 1,
                          otf2_define_string(archive, run->files[i].process.host),
                          otf2_define_string(archive, "node"), JOB_NODE));
        }
    }
}

static void define_location(struct otf2_archive *archive, uint32_t location)
{
    uint32_t n_files = archive->run->n_files, lane = location / n_files;
    const struct otf2_location *its = &archive->locations[location];

    if (!its->is_used) {
        return;
    }
    otf2_note(archive,
              OTF2_GlobalDefWriter_WriteLocation(
                  archive->definitions, location, numbered(archive, "thread", lane),
                  OTF2_LOCATION_TYPE_CPU_THREAD, its->n, location % n_files));
}

static void define_ranks(struct otf2_archive *archive)
{
    const struct run *run = archive->run;

    for (uint32_t i = 0; i < run->n_files; i++) {
        otf2_note(archive, OTF2_GlobalDefWriter_WriteLocationGroup(
                               archive->definitions, i,
                               numbered(archive, "rank", run->files[i].process.rank),
                               OTF2_LOCATION_GROUP_TYPE_PROCESS, host_of(run, i),
                               OTF2_UNDEFINED_LOCATION_GROUP));
    }
    for (uint32_t i = 0; i < archive->n_lanes * run->n_files; i++) {
        define_location(archive, i);
    }
}

static OTF2_RegionRole role_of(const struct otf2_archive *archive, uint32_t name)
{
    const struct otf2_collective *collective =
        otf2_collective_of(archive->run->names[name]);

    return collective != NULL            ? collective->role
           : archive->has_messages[name] ? OTF2_REGION_ROLE_POINT2POINT
                                         : OTF2_REGION_ROLE_FUNCTION;
}

static void define_regions(struct otf2_archive *archive)
{
    OTF2_StringRef nothing = otf2_define_string(archive, "");

    for (uint32_t i = 0; i < archive->run->n_names; i++) {
        OTF2_StringRef name = otf2_define_string(archive, archive->run->names[i]);

        otf2_note(archive,
                  OTF2_GlobalDefWriter_WriteRegion(
                      archive->definitions, i, name, name, nothing, role_of(archive, i),
                      OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, nothing, 0, 0));
    }
    otf2_note(archive,
              OTF2_GlobalDefWriter_WriteAttribute(
                  archive->definitions, OTF2_ARCHIVE_PLACE,
                  otf2_define_string(archive, "place"),
                  otf2_define_string(archive, "where the call is"), OTF2_TYPE_STRING));
}

static void define_comms(struct otf2_archive *archive)
{
    uint32_t n_files = archive->run->n_files;
    uint64_t *all = calloc(n_files + 1, sizeof(*all));
    OTF2_StringRef nothing = otf2_define_string(archive, "");

    archive->has_no_memory |= all == NULL;
    for (uint32_t i = 0; all != NULL && i < n_files; i++) {
        all[i] = i;
    }
    otf2_note(archive, OTF2_GlobalDefWriter_WriteGroup(
                           archive->definitions, ALL_LOCATIONS, nothing,
                           OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                           OTF2_GROUP_FLAG_NONE, all == NULL ? 0 : n_files, all));
    for (size_t i = 0; i < archive->n_comms; i++) {
        const struct otf2_comm *its = &archive->members[i];
        OTF2_GroupRef group = (OTF2_GroupRef)i + 1;

        otf2_note(archive,
                  OTF2_GlobalDefWriter_WriteGroup(
                      archive->definitions, group, nothing, OTF2_GROUP_TYPE_COMM_GROUP,
                      OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, its->n, its->files));
        otf2_note(archive, OTF2_GlobalDefWriter_WriteComm(
                               archive->definitions, (OTF2_CommRef)i,
                               otf2_define_string(archive, comm_title(its->comm)),
                               group, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
    free(all);
}

void otf2_define(struct otf2_archive *archive)
{
    define_clock(archive);
    define_hosts(archive);
    define_ranks(archive);
    define_regions(archive);
    define_comms(archive);
}
