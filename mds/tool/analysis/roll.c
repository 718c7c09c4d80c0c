/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups ranks by the call that they are in, its communicator and its place; see
 * roll.h. How long they have been there is known of processes that live on this
 * machine.
 */
#include "mds/tool/analysis/roll.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/fabric/base/clock.h"
#include "mds/source/place.h"
#include "mds/tool/read/manifest.h"

enum { MOST_LINES = 60, MOST_RANGES = 6 };

/** Where a rank stands. */
struct stand {
    const struct dump_file *file;
    struct mds_dump_now now;
    const char *call; /* ""; outside of MPI */
    const char *path; /* of the module; "": none */
    const char *comm; /* its name; NULL: none */
    uint64_t comm_id;
    bool is_alive;
    double seconds; /* if it is: there for so long */
};

/** Whether the process of a file lives on this machine. */
static bool is_alive(const struct dump_file *file)
{
    char host[sizeof(file->process.host)] = "";

    gethostname(host, sizeof(host) - 1);
    return strcmp(host, file->process.host) == 0 && file->process.pid <= INT32_MAX &&
           file->process.pid > 0 &&
           (kill((pid_t)file->process.pid, 0) == 0 || errno == EPERM);
}

static struct stand stand_of(const struct dump_file *file)
{
    uint64_t now_ns = bcs_clock_now_ns();
    struct stand stand = {
        .file = file,
        .now = dump_now(file, 0),
        .call = "",
        .path = "",
        .is_alive = is_alive(file),
    };
    uint64_t since_ns = file->process.began_monotonic + stand.now.since;

    stand.seconds = now_ns > since_ns ? (double)(now_ns - since_ns) / 1e9 : 0;
    if (stand.now.call != MDS_DUMP_NONE) {
        stand.call = dump_name(file, dump_call(file, stand.now.call).name);
    }
    if (stand.now.module != MDS_DUMP_NONE) {
        stand.path = dump_name(file, dump_module(file, stand.now.module).name);
    }
    if (stand.now.words != 0) {
        stand.path = dump_name(file, stand.now.words - 1);
    }
    if (stand.now.comm != MDS_DUMP_NONE) {
        struct mds_dump_comm comm = dump_comm(file, stand.now.comm);

        stand.comm_id = comm.id;
        stand.comm = dump_name(file, comm.name);
    }
    return stand;
}

/** Whether ranks stand at the same place, and if not, which line comes first. */
static int compare_places(const struct stand *a, const struct stand *b)
{
    int order = strcmp(a->call, b->call);

    if (order == 0) {
        order = strcmp(a->path, b->path);
    }
    if (order == 0 && a->now.address != b->now.address) {
        order = a->now.address < b->now.address ? -1 : 1;
    }
    if (order == 0 && a->comm_id != b->comm_id) {
        order = a->comm_id < b->comm_id ? -1 : 1;
    }
    return order != 0 ? order : (int)a->is_alive - (int)b->is_alive;
}

static int compare(const void *left, const void *right)
{
    const struct stand *a = left, *b = right;
    int order = compare_places(a, b);

    return order != 0 ? order : a->file->process.rank < b->file->process.rank ? -1 : 1;
}

/** Ranks in their order, as "0-3,7"; of many ranges the first ones. */
static void print_ranks(const struct stand *stands, size_t n)
{
    uint32_t n_ranges = 0;
    size_t i = 0;

    while (i < n && n_ranges < MOST_RANGES) {
        uint32_t first = stands[i].file->process.rank, last = first;

        for (i++; i < n && stands[i].file->process.rank == last + 1; i++) {
            last++;
        }
        printf("%s%u", n_ranges++ > 0 ? "," : "", first);
        if (last > first) {
            printf("-%u", last);
        }
    }
    printf("%s", i < n ? ",..." : "");
}

/** For whom a group waits, if all for the same: words such as "rank 3, tag 7". */
static void print_peer(const struct stand *stands, size_t n)
{
    const struct mds_dump_now *first = &stands[0].now;
    bool is_one = true;

    if (first->has_peer == 0) {
        return;
    }
    for (size_t i = 1; i < n; i++) {
        is_one &= stands[i].now.peer == first->peer && stands[i].now.tag == first->tag;
    }
    if (!is_one) {
        printf(", each with others");
        return;
    }
    if (first->peer < 0) {
        printf(", any rank");
    } else {
        printf(", rank %" PRId32, first->peer);
    }
    if (first->tag < 0) {
        printf(", any tag");
    } else {
        printf(", tag %" PRId32, first->tag);
    }
}

static void print_text(const char *text)
{
    manifest_print(stdout, text, strlen(text));
}

/** @return 0 or -ENOMEM */
static int print_place(const struct stand *stand, struct places *places)
{
    struct place_module module = {0};
    char *words;

    if (stand->now.words != 0) {
        printf(", at ");
        print_text(stand->path);
        return 0;
    }
    if (stand->now.module != MDS_DUMP_NONE) {
        module.path = stand->path;
        module.id = dump_module_id(stand->file, stand->now.module);
        module.n_id_bytes = dump_module(stand->file, stand->now.module).id_bytes;
    }
    words = place_describe(places, &module, stand->now.address, NULL);
    if (words == NULL) {
        return -ENOMEM;
    }
    printf(", at ");
    print_text(words);
    free(words);
    return 0;
}

/** Since when a group has stood there. */
static void print_since(const struct stand *stands, size_t n)
{
    double least = stands[0].seconds, first = (double)stands[0].now.since / 1e9;

    for (size_t i = 1; i < n; i++) {
        double since = (double)stands[i].now.since / 1e9;

        least = stands[i].seconds < least ? stands[i].seconds : least;
        first = since > first ? since : first;
    }
    if (stands[0].is_alive) {
        printf(", for %.1f s", least);
    } else {
        printf(", since %.3f s of the run", first);
    }
}

/** A line for ranks at the same place. @return 0 or -ENOMEM */
static int print_group(const struct stand *stands, size_t n, struct places *places)
{
    int rc = 0;

    printf("  ");
    print_ranks(stands, n);
    printf(": ");
    if (stands[0].call[0] == '\0') {
        printf("outside of MPI");
    } else {
        printf("%s", stands[0].call);
        print_peer(stands, n);
        if (stands[0].comm != NULL) {
            printf(", on ");
            print_text(stands[0].comm[0] == '\0' ? "a communicator without a name"
                                                 : stands[0].comm);
        }
        rc = print_place(&stands[0], places);
    }
    print_since(stands, n);
    printf("%s\n", stands[0].is_alive ? "" : " (no such process any more)");
    return rc;
}

/** @return 0 or -ENOMEM */
static int print_all(struct stand *stands, size_t n, struct places *places)
{
    size_t n_same, n_lines = 0;
    int rc = 0;

    qsort(stands, n, sizeof(*stands), compare);
    printf("\nWhere ranks stand that have not ended:\n");
    for (size_t i = 0; i < n && rc == 0; i += n_same) {
        n_same = 1;
        while (i + n_same < n && compare_places(&stands[i], &stands[i + n_same]) == 0) {
            n_same++;
        }
        if (n_lines++ < MOST_LINES) {
            rc = print_group(&stands[i], n_same, places);
        }
    }
    if (n_lines > MOST_LINES) {
        printf("  and %zu places more\n", n_lines - MOST_LINES);
    }
    return rc;
}

int roll_print(const struct run *run)
{
    struct stand *stands = calloc((size_t)run->n_files + 1, sizeof(*stands));
    struct places *places = place_open(PLACE_PATIENT_NS);
    size_t n = 0;
    int rc = stands == NULL || places == NULL ? -ENOMEM : 0;

    for (uint32_t i = 0; i < run->n_files && rc == 0; i++) {
        if (run->files[i].now.n > 0) {
            stands[n++] = stand_of(&run->files[i]);
        }
    }
    if (n > 0) {
        rc = print_all(stands, n, places);
    }
    place_close(places);
    free(stands);
    return rc;
}
