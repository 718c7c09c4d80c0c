/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places, communicators and events of a run that never was.
 */
#include <string.h>

#include "make_run.h"

/* A communicator, and files of code. A terminal would obey some of these names. */
static const char world[] = "world\033[7m";
static const char *const modules[2] = {"/nowhere/made", "/nowhere/lib\033[1m.so"};

uint64_t draw(const struct wish *wish, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = wish->seed * 0x9e3779b97f4a7c15 + a * 0xbf58476d1ce4e5b9 +
                 b * 0x94d049bb133111eb + c;

    x = (x ^ x >> 31) * 0xd6e8feb86659fd93;
    return (x ^ x >> 29) >> 8;
}

uint64_t messages(const struct wish *wish, uint64_t from, uint64_t d)
{
    return 1 + draw(wish, from, 1000, d) % 100;
}

uint64_t received(const struct wish *wish, uint64_t from, uint64_t d)
{
    return messages(wish, from, d) - (from == 0 ? wish->open : 0);
}

/** A place, and the part of a primitive's calls that is from there. */
struct site {
    uint64_t module, address, n, total, n_bytes;
};

/** A place of the p-th primitive, whose times are given. */
static void put_site(struct file *file, const struct wish *wish, uint64_t rank,
                     uint32_t p, const struct series *time, const struct site *site)
{
    uint64_t parts[PARTS], late;

    split(wish, rank, p, site->total, parts);
    late = parts[0] + parts[1] + parts[2];
    put(file, p, 4);
    put(file, site->module, 4);
    put(file, site->address, 8);
    put(file, site->n, 8);
    put(file, time->least / TICKS_PER_NS, 8);
    put(file, time->most / TICKS_PER_NS, 8);
    put(file, site->total, 8);
    put(file, site->n_bytes, 8);
    put_parts(file, wish, parts, PARTS);
    put_parts(file, wish, &late, 1);
    put_parts(file, wish, late > 0 ? &wish->late : &late, 1);
}

/** Places of each primitive: the last one in no file, of the first primitive any that
 *  found no room, with a third of the calls, and the others in a file that is not
 *  there, with as many each and the first one with the rest. */
static void put_sites(struct file *file, const struct wish *wish, uint64_t rank,
                      uint32_t p, const struct process *process)
{
    const struct series *time = &process->times[p], *size = &process->sizes[p];
    uint64_t total = time->total / TICKS_PER_NS, n_inside = wish->sites - 1;
    struct site outside = {UINT32_MAX, p == 0 ? 0 : 0x7f0000000000 + p, time->n / 3,
                           total / 3, size->total / 3};
    struct site inside = {p % 2, 0x1000 + 16 * p, time->n - outside.n,
                          total - outside.total, size->total - outside.n_bytes};
    struct site part = {p % 2, inside.address, inside.n / n_inside,
                        inside.total / n_inside, inside.n_bytes / n_inside};

    inside.n -= (n_inside - 1) * part.n;
    inside.total -= (n_inside - 1) * part.total;
    inside.n_bytes -= (n_inside - 1) * part.n_bytes;
    put_site(file, wish, rank, p, time, &inside);
    for (uint64_t i = 1; i < n_inside; i++) {
        part.address += 0x1000;
        put_site(file, wish, rank, p, time, &part);
    }
    put_site(file, wish, rank, p, time, &outside);
}

static void put_places(struct file *file, const struct wish *wish, uint64_t rank,
                       const struct process *process, const uint32_t names[2])
{
    size_t from = file->n;

    for (uint32_t i = 0; i < 2; i++) {
        put(file, names[i], 4);
        put(file, i == 0 ? 20 : 0, 4);
        put_text(file, i == 0 ? "twenty bytes of one." : "", 32);
    }
    end_section(file, 6, "modules", from, 40);
    from = file->n;
    for (uint32_t p = 0; p < wish->primitives; p++) {
        put_sites(file, wish, rank, p, process);
    }
    end_section(file, 7, "sites", from, wish->parts > 0 ? 120 : 56);
}

/** Two communicators: on the first one, which all have, are all messages; the second
 *  one has no name and is each rank's own, with a collective of 8 bytes. */
static void put_comms(struct file *file, const struct wish *wish, uint64_t rank,
                      uint32_t name)
{
    uint64_t n_sent = 0, n_received = 0, sent = 0, got = 0;
    size_t from = file->n;

    for (uint64_t d = 1; d <= wish->peers; d++) {
        uint64_t other = (rank + wish->ranks - d) % wish->ranks;

        n_sent += messages(wish, rank, d);
        sent += messages(wish, rank, d) * d * 1000;
        n_received += received(wish, other, d);
        got += received(wish, other, d) * d * 1000;
    }
    put(file, 77, 8);
    put(file, name, 4);
    put(file, wish->ranks, 4);
    put(file, n_sent, 8);
    put(file, sent, 8);
    put(file, n_received, 8);
    put(file, got, 8);
    put(file, 3, 8);
    put(file, 300, 8);
    put(file, 1000 + rank, 8);
    put(file, name + strlen(world), 4); /* "" */
    put(file, 1, 4);
    for (int i = 0; i < 4; i++) {
        put(file, 0, 8);
    }
    put(file, 1, 8);
    put(file, 8, 8);
    end_section(file, 8, "comms", from, 64);
}

/** Two events of each primitive, at places that the other sections have. Every second
 *  one has sent a message, the last one two, the second one on no communicator, which
 *  cannot be; those before them are collectives, if the primitive is one. */
static void put_events(struct file *file, const struct wish *wish, uint64_t rank)
{
    uint64_t n_events = 2 * wish->primitives;
    size_t from = file->n;

    for (uint64_t p = 0; p < n_events; p++) {
        put(file, 1000 * p, 8);
        put(file, 1000 * p + 500, 8);
        put(file, 10 * p, 8);
        put(file, p / 2, 4);
        put(file, p / 2 * wish->sites + p % 2 * (wish->sites - 1), 4);
        put(file, p == 1 ? UINT32_MAX : 0, 4);
        put(file, p % 2 + (p + 1 == n_events), 4);
        put(file, (rank + 1) % wish->ranks, 4);
        put(file, 100 + p, 4);
        put(file, p % 2 == 1 ? 1 : p >= 10 && p < 18 ? 4 : 0, 4);
        put(file, 0, 4);
        put(file, p % 2 == 1 ? 7 * p : 0, 8);
    }
    end_section(file, 9, "events", from, 64);
    from = file->n;
    put(file, 12, 8);
    put(file, n_events - 1, 4);
    put(file, 0, 4);
    put(file, rank, 4);
    put(file, 77, 4);
    put(file, 1, 4);
    put(file, 0, 4);
    end_section(file, 10, "messages", from, 32);
}

/** A full ring: calls of all primitives and places in turn, some later than others by
 *  chance. Of four that follow each other one sends a message, one gets one, one is a
 *  collective, and one sends two messages. */
static void put_ring(struct file *file, const struct wish *wish, uint64_t rank)
{
    static const uint64_t kinds[4] = {1, 2, 4, 1}, n_messages[4] = {1, 1, 0, 2};
    uint64_t next = (rank + 1) % wish->ranks;
    uint64_t last = (rank + wish->ranks - 1) % wish->ranks;
    size_t from = file->n;

    for (uint64_t i = 0; i < wish->events; i++) {
        uint64_t p = i % wish->primitives,
                 begin = 1000 * i + draw(wish, rank, 2000, i) % 400;

        put(file, begin, 8);
        put(file, begin + 500, 8);
        put(file, 8, 8);
        put(file, p, 4);
        put(file, p * wish->sites + i / wish->primitives % wish->sites, 4);
        put(file, 0, 4);
        put(file, n_messages[i % 4], 4);
        put(file, i % 4 == 1 ? last : next, 4);
        put(file, i / 4, 4);
        put(file, kinds[i % 4], 4);
        put(file, 0, 4);
        put(file, i % 4 == 2 ? 0 : 8, 8);
        put(file, 0, 8);
    }
    end_section(file, 9, "events", from, 72);
    from = file->n;
    for (uint64_t i = 3; i < wish->events; i += 4) {
        put(file, 8, 8);
        put(file, i, 4);
        put(file, 0, 4);
        put(file, next, 4);
        put(file, 77, 4);
        put(file, 1, 4);
        put(file, 0, 4);
    }
    end_section(file, 10, "messages", from, 32);
}

/** Two phases of 3 and of 1 ms, the first half of it in blocking calls, a tenth in
 *  others. */
static void put_phases(struct file *file)
{
    size_t from = file->n;

    for (int i = 0; i < 2; i++) {
        put(file, i == 0 ? 1 : (uint64_t)-3, 4);
        put(file, 0, 4);
        put(file, 2 + i, 8);
        put(file, i == 0 ? 3000000 : 1000000, 8);
        put(file, i == 0 ? 1500000 : 0, 8);
        put(file, i == 0 ? 300000 : 0, 8);
    }
    end_section(file, 12, "phases", from, 40);
}

/** Ranks with even numbers wait for the next one in the first primitive, others for
 *  anybody; rank 4 does in the second one. */
static void put_now(struct file *file, const struct wish *wish, uint64_t rank)
{
    size_t from = file->n;

    if (rank < wish->stuck) {
        put(file, 2000, 8);
        put(file, rank == 4 ? 1 : 0, 4);
        put(file, 0, 4);
        put(file, rank % 2, 4);
        put(file, 1, 4);
        put(file, 0x1234, 8);
        put(file, rank % 2 == 0 ? (rank + 1) % wish->ranks : UINT32_MAX, 4);
        put(file, rank % 2 == 0 ? 5 : UINT32_MAX, 4);
    }
    end_section(file, 11, "now", from, 40);
}

void put_place_names(struct file *file)
{
    for (uint32_t i = 0; i < 2; i++) {
        put_text(file, modules[i], strlen(modules[i]) + 1);
    }
    put_text(file, world, strlen(world) + 1);
}

void put_place_sections(struct file *file, const struct wish *wish, uint64_t rank,
                        const struct process *process, uint32_t names)
{
    const uint32_t paths[2] = {names, names + (uint32_t)strlen(modules[0]) + 1};

    put_places(file, wish, rank, process, paths);
    put_comms(file, wish, rank, paths[1] + (uint32_t)strlen(modules[1]) + 1);
    if (wish->events > 0) {
        put_ring(file, wish, rank);
    } else {
        put_events(file, wish, rank);
    }
    put_now(file, wish, rank);
    put_phases(file);
}
