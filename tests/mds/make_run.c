/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the folder of a run that never was: as many ranks as wanted, with numbers that
 * a seed gives and that agree with each other. Written from docs/dump-format.md alone,
 * nothing of mds/ is in here, so that what reads the folder is held to that page. What
 * all ranks come to is printed, a line for each primitive:
 *
 *     make_run FOLDER [KEY=NUMBER]... [program=TEXT] [argument=TEXT]...
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "make_run.h"

static const struct {
    const char *name;
    uint32_t timing;
    uint32_t has_sizes;
} primitives[MOST_PRIMITIVES] = {
    {"MPI_Send", BLOCKS, 1},       {"MPI_Recv", BLOCKS, 1},
    {"MPI_Isend", 1, 1},           {"MPI_Irecv", 1, 1},
    {"MPI_Waitall", BLOCKS, 0},    {"MPI_Allreduce", BLOCKS, 1},
    {"MPI_Barrier", BLOCKS, 0},    {"MPI_Bcast", BLOCKS, 1},
    {"MPI_Alltoall", BLOCKS, 1},   {"MPI_Test", 1, 0},
    {"MPI_Wait", BLOCKS, 0},       {"MPI_Sendrecv", BLOCKS, 1},
    {"MPI_Gather", BLOCKS, 1},     {"MPI_Scatter", BLOCKS, 1},
    {"MPI_Reduce", BLOCKS, 1},     {"MPI_Allgather", BLOCKS, 1},
    {"MPI_Iprobe", 1, 0},          {"MPI_Probe", BLOCKS, 0},
    {"MPI_Ssend", BLOCKS, 1},      {"MPI_Scan", BLOCKS, 1},
    {"MPI_Exscan", BLOCKS, 1},     {"MPI_Ibarrier", 1, 0},
    {"MPI_Comm_split", BLOCKS, 0}, {"MPI_Comm_dup", BLOCKS, 0},
};

enum { UNSPLIT = 6 }; /* of the primitives */

static const char computation[] = "Comp Granularity";

static uint64_t sum_n[MOST_PRIMITIVES], sum_ns[MOST_PRIMITIVES];

/** L(i) of the page. */
static uint64_t least_of(uint64_t i, uint64_t bits)
{
    uint64_t o;

    if (i < UINT64_C(1) << bits) {
        return i;
    }
    o = (i >> bits) - 1;
    return (i - (o << bits)) << o;
}

static void add(struct series *series, uint64_t bucket, uint64_t count,
                const struct wish *wish)
{
    uint64_t value = least_of(bucket, wish->bits);

    if (series->n == 0 || value < series->least) {
        series->least = value;
    }
    if (value > series->most) {
        series->most = value;
    }
    series->counts[bucket] += count;
    series->n += count;
    series->total += count * value;
}

static void fill(const struct wish *wish, uint64_t rank, struct process *process)
{
    uint64_t first = (uint64_t)FIRST << wish->bits;

    memset(process, 0, sizeof(*process));
    for (uint64_t p = 0; p < wish->primitives; p++) {
        uint64_t from = first + (p % 4) * 8 + (p == wish->shifted ? wish->shift : 0);

        for (uint64_t i = 0; i < wish->buckets; i++) {
            uint64_t count = 1 + draw(wish, rank, p, i) % 9;

            add(&process->times[p], from + i, count, wish);
            if (primitives[p].has_sizes) {
                add(&process->sizes[p], (1 << wish->bits) + i, count, wish);
            }
            if (primitives[p].timing == BLOCKS) {
                add(&process->communication, from + i, count, wish);
            } else {
                process->instant += count * least_of(from + i, wish->bits);
            }
        }
        sum_n[p] += process->times[p].n;
        sum_ns[p] += process->times[p].total / TICKS_PER_NS;
    }
    /* One stretch of computation more than there are blocking calls. */
    add(&process->computation, ((FIRST + 8) << wish->bits) + rank % 7, 1, wish);
    add(&process->computation,
        ((FIRST + 4) << wish->bits) + (rank == wish->slow ? 1 << wish->bits : 0),
        process->communication.n, wish);
}

void split(const struct wish *wish, uint64_t rank, uint64_t p, uint64_t ns,
           uint64_t parts_out[PARTS])
{
    uint64_t late = rank == wish->late ? 0 : ns * wish->parts / 8;

    memset(parts_out, 0, PARTS * sizeof(*parts_out));
    if (primitives[p].timing != BLOCKS) {
        return;
    }
    if (p == UNSPLIT) {
        parts_out[PARTS - 1] = ns;
        return;
    }
    parts_out[(2 * p + 1) % LATE_PARTS] = late;
    parts_out[LATE_PARTS] = ns / 16;
    parts_out[LATE_PARTS + 1] = ns - late - ns / 16;
}

void put_parts(struct file *file, const struct wish *wish, const uint64_t *parts,
               uint32_t n)
{
    for (uint32_t i = 0; wish->parts > 0 && i < n; i++) {
        put(file, parts[i], 8);
    }
}

static void put_call(struct file *file, uint32_t name, uint32_t timing,
                     const struct series *time, const struct series *sizes)
{
    put(file, name, 4);
    put(file, timing, 4);
    put(file, time->n, 8);
    put(file, time->least / TICKS_PER_NS, 8);
    put(file, time->most / TICKS_PER_NS, 8);
    put(file, time->total / TICKS_PER_NS, 8);
    put(file, sizes == NULL ? 0 : sizes->n, 8);
    put(file, sizes == NULL ? 0 : sizes->total, 8);
    put(file, 0, 8);
}

static void put_buckets(struct file *file, uint32_t of, uint32_t call,
                        const struct series *series)
{
    for (uint32_t i = 0; i < MOST_BUCKETS; i++) {
        if (series->counts[i] > 0) {
            put(file, of, 4);
            put(file, call, 4);
            put(file, i, 4);
            put(file, 0, 4);
            put(file, series->counts[i], 8);
        }
    }
}

/** How long a rank has waited for the late one, by kind. */
static void sum_late(const struct wish *wish, uint64_t rank,
                     const struct process *process, uint64_t late_out[LATE_PARTS])
{
    memset(late_out, 0, LATE_PARTS * sizeof(*late_out));
    for (uint64_t p = 0; p < wish->primitives; p++) {
        uint64_t parts[PARTS];

        split(wish, rank, p, process->times[p].total / TICKS_PER_NS, parts);
        for (uint32_t i = 0; i < LATE_PARTS; i++) {
            late_out[i] += parts[i];
        }
    }
}

/** Each rank sends to the next ones, so many as there are peers, a number of messages
 *  of 1000 bytes times the distance; and has waited for the late one. */
static void put_peers(struct file *file, const struct wish *wish, uint64_t rank,
                      const struct process *process)
{
    static const uint64_t none[LATE_PARTS];
    uint64_t late[LATE_PARTS];

    sum_late(wish, rank, process, late);
    for (uint64_t other = 0; other < wish->ranks; other++) {
        uint64_t to = (other + wish->ranks - rank) % wish->ranks;
        uint64_t from = (rank + wish->ranks - other) % wish->ranks;
        uint64_t n_to = to >= 1 && to <= wish->peers ? messages(wish, rank, to) : 0;
        uint64_t n_from =
            from >= 1 && from <= wish->peers ? received(wish, other, from) : 0;

        int is_late = wish->parts > 0 && other == wish->late && rank != other;

        if (n_to + n_from > 0 || is_late) {
            put(file, other, 4);
            put(file, 0, 4);
            put(file, n_to, 8);
            put(file, n_to * to * 1000, 8);
            put(file, n_from, 8);
            put(file, n_from * from * 1000, 8);
            put_parts(file, wish, is_late ? late : none, LATE_PARTS);
        }
    }
}

static void put_process(struct file *file, const struct wish *wish, uint64_t rank,
                        const struct process *process)
{
    uint64_t ticks = process->computation.total + process->communication.total;
    char host[64];

    snprintf(host, sizeof(host), "node%llu", (unsigned long long)rank / 64);
    put(file, rank, 4);
    put(file, wish->ranks, 4);
    put(file, 1000 + rank, 8);
    put(file, UINT64_C(1790000000) * 1000000000, 8);
    put(file, UINT64_C(1000000000), 8);
    put(file, ticks / TICKS_PER_NS, 8);
    put(file, ticks, 8);
    put(file, process->instant / TICKS_PER_NS, 8);
    put(file, wish->resident + rank * 4096, 8);
    put(file, 5000 + rank, 8);
    put(file, rank < wish->stuck ? 2 : 1, 4);
    put(file, wish->bits, 4);
    put_text(file, host, 64);
}

/** All sections, in an order of their own. */
static void put_sections(struct file *file, const struct wish *wish, uint64_t rank,
                         const struct process *process)
{
    size_t from = file->n;
    uint32_t name = 0;

    put_process(file, wish, rank, process);
    end_section(file, 0, "process", from, 144);
    from = file->n;
    put_peers(file, wish, rank, process);
    end_section(file, 1, "peers", from, wish->parts > 0 ? 64 : 40);
    from = file->n;
    for (uint32_t p = 0; p < wish->primitives; p++) {
        uint64_t parts[PARTS];

        put_call(file, name, primitives[p].timing, &process->times[p],
                 &process->sizes[p]);
        split(wish, rank, p, process->times[p].total / TICKS_PER_NS, parts);
        put_parts(file, wish, parts, PARTS);
        name += (uint32_t)strlen(primitives[p].name) + 1;
    }
    end_section(file, 2, "calls", from, wish->parts > 0 ? 112 : 64);
    from = file->n;
    put_call(file, name, 0, &process->computation, NULL);
    name += (uint32_t)strlen(computation) + 1;
    put_call(file, name, 0, &process->communication, NULL);
    end_section(file, 3, "periods", from, 64);
    from = file->n;
    put_buckets(file, 0, 0, &process->computation);
    put_buckets(file, 1, 0, &process->communication);
    for (uint32_t of = 2; of <= 3; of++) {
        for (uint32_t p = 0; p < wish->primitives; p++) {
            put_buckets(file, of, p, of == 2 ? &process->times[p] : &process->sizes[p]);
        }
    }
    end_section(file, 4, "buckets", from, 24);
    from = file->n;
    for (uint32_t p = 0; p < wish->primitives; p++) {
        put_text(file, primitives[p].name, strlen(primitives[p].name) + 1);
    }
    put_text(file, computation, strlen(computation) + 1);
    put_text(file, "Comm Overhead", strlen("Comm Overhead") + 1);
    name = (uint32_t)(file->n - from);
    put_place_names(file);
    end_section(file, 5, "names", from, 1);
    if (wish->placed != 0) {
        put_place_sections(file, wish, rank, process, name);
    }
}

static int make_rank(const char *folder, const struct wish *wish, uint64_t rank,
                     struct process *process)
{
    static struct file file;
    size_t n_sections = wish->placed != 0 ? 13 : 6;
    char path[MOST_PATH];

    fill(wish, rank, process);
    file.n = 0;
    put_text(&file, "BCS-MDS\n", 8);
    put(&file, 1, 4);
    put(&file, 1, 4);
    put(&file, 0, 8);
    put(&file, n_sections, 4);
    put_text(&file, "", 4 + n_sections * 40);
    put_sections(&file, wish, rank, process);
    set(&file, 16, file.n, 8);
    snprintf(path, sizeof(path), "%s/process.%05llu.mds", folder,
             (unsigned long long)rank);
    return save(path, file.bytes, file.n);
}

/** A line of the manifest; a backslash before n, for a new line, and before itself. */
static void put_line(struct file *file, const char *key, const char *value)
{
    put_text(file, key, strlen(key));
    put_text(file, ": ", 2);
    for (; *value != '\0'; value++) {
        if (*value == '\n' || *value == '\\') {
            put_text(file, "\\", 1);
        }
        put(file, *value == '\n' ? 'n' : (unsigned char)*value, 1);
    }
    put_text(file, "\n", 1);
}

/** Take a word of the command line. @return whether it is one */
static int take(const char *word, struct wish *wish, struct file *manifest)
{
    const struct {
        const char *key;
        uint64_t *number;
    } keys[] = {
        {"ranks", &wish->ranks},       {"primitives", &wish->primitives},
        {"buckets", &wish->buckets},   {"peers", &wish->peers},
        {"bits", &wish->bits},         {"seed", &wish->seed},
        {"shift", &wish->shift},       {"shifted", &wish->shifted},
        {"resident", &wish->resident}, {"slow", &wish->slow},
        {"placed", &wish->placed},     {"stuck", &wish->stuck},
        {"nodes", &wish->nodes},       {"spans", &wish->spans},
        {"parts", &wish->parts},       {"late", &wish->late},
        {"events", &wish->events},     {"sites", &wish->sites},
        {"open", &wish->open},
    };
    size_t n = strcspn(word, "=");

    if (strncmp(word, "program=", 8) == 0 || strncmp(word, "argument=", 9) == 0) {
        put_line(manifest, word[0] == 'p' ? "program" : "argument", word + n + 1);
        return 1;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strlen(keys[i].key) == n && strncmp(word, keys[i].key, n) == 0) {
            *keys[i].number = strtoull(word + n + 1, NULL, 10);
            return 1;
        }
    }
    fprintf(stderr, "make_run: what is %s?\n", word);
    return 0;
}

static int make_manifest(const char *folder, const struct wish *wish,
                         const struct file *command)
{
    struct file file = {0};
    char path[MOST_PATH], ranks[32];
    int is_bad;

    snprintf(ranks, sizeof(ranks), "%llu", (unsigned long long)wish->ranks);
    put_line(&file, "format", "bcs-mds 1");
    put_line(&file, "state", "ended");
    put_line(&file, "written", "2026-09-21T14:13:20Z");
    put_line(&file, "version", "0.2.0");
    for (size_t i = 0; i < command->n; i++) {
        put(&file, (unsigned char)command->bytes[i], 1);
    }
    put_line(&file, "ranks", ranks);
    put_line(&file, "times", "nanoseconds of CLOCK_MONOTONIC");
    put_line(&file, "setting BCS_SLICE", "500us");
    snprintf(path, sizeof(path), "%s/manifest.txt", folder);
    is_bad = save(path, file.bytes, file.n);
    free(file.bytes);
    return is_bad;
}

int main(int argc, char **argv)
{
    struct wish wish = {.ranks = 4,
                        .primitives = 8,
                        .buckets = 16,
                        .peers = 2,
                        .bits = 4,
                        .seed = 1,
                        .slow = -1,
                        .resident = 1 << 24,
                        .placed = 1,
                        .spans = 6,
                        .sites = 2};
    static struct process process;
    struct file command = {0};
    int is_bad = argc < 2 || *argv[1] == '-';

    for (int i = 2; i < argc; i++) {
        is_bad |= !take(argv[i], &wish, &command);
    }
    if (is_bad || wish.primitives > MOST_PRIMITIVES || wish.bits > 7 ||
        wish.peers >= wish.ranks || wish.parts > 7 || wish.late >= wish.ranks ||
        wish.sites < 2 ||
        (FIRST << wish.bits) + 24 + wish.shift + wish.buckets >= (49 - wish.bits)
                                                                     << wish.bits ||
        (mkdir(argv[1], 0777) < 0 && errno != EEXIST)) {
        fprintf(stderr, "make_run: cannot make that; its comment has the arguments\n");
        return EXIT_FAILURE;
    }
    if (command.n == 0) {
        put_line(&command, "program", "./made");
    }
    is_bad = make_manifest(argv[1], &wish, &command);
    free(command.bytes);
    for (uint64_t rank = 0; rank < wish.ranks && !is_bad; rank++) {
        is_bad = make_rank(argv[1], &wish, rank, &process);
    }
    is_bad = is_bad || make_nodes(argv[1], &wish);
    for (uint64_t p = 0; p < wish.primitives; p++) {
        printf("%s %llu %llu\n", primitives[p].name, (unsigned long long)sum_n[p],
               (unsigned long long)sum_ns[p]);
    }
    return is_bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
