/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts what has gone on; see traffic.h. A rank's messages are in its own ring, or,
 * where each process writes to rings of its own at each other one, in these; there the
 * links of desks have what engines tell each other, and are not read. Collectives of a
 * node that take no descriptor are counted by the line of their first member
 * (libbcs/fabric/ring/near_line.h).
 *
 * What is not in a ring any more was written over, so that of the many messages of a
 * look some stand for all; of few rings that have moved more of them are read than of
 * many.
 */
#include "apps/tools/look/traffic.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tools/look/elements.h"
#include "libbcs/fabric/ring/near_line.h"

enum { READ_MOST = 8192, READ_LEAST = 8, FIRST_ROOM = 64 };

/** A look under way. */
struct tally {
    const struct bcs_look *look;
    const struct nic_layout *layout;
    struct bcs_traffic *traffic;
    struct bcs_counts rings, groups, desks; /* found now */
    uint64_t at_ring, at_group, at_desk;    /* how far those before have been passed */
    uint64_t n_moved;
    uint32_t n_read_most; /* descriptors of a ring */
    struct bcs_descriptor entries[BCS_RING_MOST];
};

static int add_count(struct bcs_counts *counts, const struct bcs_count *count)
{
    if (counts->n == counts->n_room) {
        uint64_t n_room = counts->n_room == 0 ? FIRST_ROOM : counts->n_room * 2;
        struct bcs_count *longer =
            realloc(counts->counts, n_room * sizeof(counts->counts[0]));

        if (longer == NULL) {
            return -ENOMEM;
        }
        counts->counts = longer;
        counts->n_room = n_room;
    }
    counts->counts[counts->n++] = *count;
    return 0;
}

/** What a count was before, by ascending ids. */
static struct bcs_count count_before(const struct bcs_counts *before, uint64_t *at,
                                     uint64_t id)
{
    while (*at < before->n && before->counts[*at].id < id) {
        ++*at;
    }
    return *at < before->n && before->counts[*at].id == id
               ? before->counts[*at]
               : (struct bcs_count){.id = id, .mean_bytes = -1};
}

static bool read_whole(int fd, void *to, uint64_t n_bytes, uint64_t gva)
{
    return pread(fd, to, n_bytes, (off_t)gva) == (ssize_t)n_bytes;
}

/** A ring. */
struct place {
    uint64_t gva;
    uint32_t size;
    uint32_t from; /* port of who writes it */
    uint64_t id;
};

/** Read the last entries of a ring before a position. @return how many; 0: it cannot be
 *  read */
static uint32_t read_entries(struct tally *tally, int fd, const struct place *ring,
                             uint32_t head, uint32_t n)
{
    uint32_t begin = (head - n) & (ring->size - 1);
    uint32_t n_straight = n < ring->size - begin ? n : ring->size - begin;
    const uint64_t entries = ring->gva + offsetof(struct bcs_ring, entries);
    const uint64_t n_bytes = sizeof(struct bcs_descriptor);

    return read_whole(fd, tally->entries, n_straight * n_bytes,
                      entries + begin * n_bytes) &&
                   read_whole(fd, tally->entries + n_straight,
                              (n - n_straight) * n_bytes, entries)
               ? n
               : 0;
}

/** Count what a ring has moved since the look before. */
static int count_moved(struct tally *tally, int fd, const struct place *ring,
                       struct bcs_count *count, uint32_t n_moved)
{
    uint32_t n = n_moved < ring->size ? n_moved : ring->size;

    n = n < tally->n_read_most ? n : tally->n_read_most;
    tally->n_moved++;
    return bcs_flow_add(
        &tally->traffic->flows,
        &(struct bcs_flow_window){
            .entries = tally->entries,
            .n = read_entries(tally, fd, ring, (uint32_t)count->value, n),
            .n_moved = n_moved,
            .from = ring->from,
            .n_ports = tally->layout->shape.n_ports,
            .ranks = bcs_look_ranks(tally->look),
            .mean_bytes = count->mean_bytes,
        },
        &count->mean_bytes);
}

static int count_ring(struct tally *tally, int fd, const struct place *ring)
{
    const struct bcs_traffic *traffic = tally->traffic;
    uint32_t words[2] = {0}; /* consumed, head */
    struct bcs_count count;
    uint32_t n_moved;
    int rc = 0;

    _Static_assert(offsetof(struct bcs_ring, head) == sizeof(words[0]),
                   "as it is read");
    if (!read_whole(fd, words, sizeof(words), ring->gva) || words[1] == 0) {
        return 0;
    }
    count = count_before(&traffic->rings, &tally->at_ring, ring->id);
    n_moved = words[1] - (uint32_t)count.value;
    count.value = words[1];
    if (n_moved != 0 && traffic->has_looked) {
        rc = count_moved(tally, fd, ring, &count, n_moved);
    }
    return rc < 0 ? rc : add_count(&tally->rings, &count);
}

/** The rings of a port: its own one, those that other ranks write, and its link to the
 *  node's desk. */
static int count_port(struct tally *tally, int fd, uint32_t port)
{
    const struct nic_layout *layout = tally->layout;
    const struct bcs_limits *limits = &layout->shape.limits;
    uint32_t n_ports = layout->shape.n_ports, local = port % layout->shape.node_ranks;
    uint64_t first_id = (uint64_t)port * ((uint64_t)n_ports + 2);
    struct bcs_elements links = {
        .fd = fd,
        .region = nic_layout_of_port(layout, &layout->links, port),
        .n = layout->n_links < n_ports ? layout->n_links : n_ports,
    };
    uint64_t link;
    int rc = count_ring(tally, fd,
                        &(struct place){.gva = nic_layout_port_gva(layout, port) +
                                               sizeof(struct bcs_port),
                                        .size = limits->ring,
                                        .from = port,
                                        .id = first_id});

    while (rc == 0 && bcs_elements_next(&links, &link)) {
        rc = count_ring(tally, fd,
                        &(struct place){.gva = nic_region_gva(&links.region, link),
                                        .size = limits->link,
                                        .from = (uint32_t)link,
                                        .id = first_id + 1 + link});
    }
    if (rc == 0 && nic_layout_has_node_desks(layout)) {
        rc = count_ring(
            tally, fd,
            &(struct place){.gva = nic_region_gva(&layout->node_links, local),
                            .size = limits->link,
                            .from = port,
                            .id = first_id + 1 + n_ports});
    }
    return rc;
}

/** Collectives of a slot between two numbers: each group that uses it begins at a
 *  multiple of 2^32. */
static uint64_t n_of_group(uint64_t before, uint64_t now)
{
    return before >> 32 == now >> 32 ? now - before : (uint32_t)now;
}

/** Collectives without descriptors, of the groups that a node has slots for. */
static int count_groups(struct tally *tally, int fd, uint32_t node)
{
    const struct nic_layout *layout = tally->layout;
    uint64_t n_slots = (uint64_t)layout->shape.n_ports * layout->shape.n_groups;
    const uint64_t turn = sizeof(struct bcs_near_line) * BCS_NEAR_MOST;
    struct bcs_elements blocks = {
        .fd = fd, .region = layout->near, .n = n_slots * layout->n_near};
    uint64_t block;
    int rc = 0;

    while (rc == 0 && bcs_elements_next(&blocks, &block)) {
        uint64_t gva = nic_region_gva(&layout->near, block);
        uint64_t numbers[BCS_NEAR_TURNS] = {0}, before;
        struct bcs_count count = {.id = node * n_slots + block / layout->n_near};

        if (block % layout->n_near != 0 ||
            !read_whole(fd, &numbers[0], sizeof(numbers[0]), gva) ||
            !read_whole(fd, &numbers[1], sizeof(numbers[1]), gva + turn)) {
            continue;
        }
        count.value = numbers[0] > numbers[1] ? numbers[0] : numbers[1];
        before =
            count_before(&tally->traffic->groups, &tally->at_group, count.id).value;
        tally->traffic->n_collectives += (double)n_of_group(before, count.value);
        rc = count.value == 0 ? 0 : add_count(&tally->groups, &count);
    }
    return rc;
}

/** Slices of the desks of a node. */
static int count_slices(struct tally *tally, int fd, uint32_t node)
{
    const struct nic_layout *layout = tally->layout;
    uint32_t offset = bcs_look_board(tally->look)->slice_offset;
    int rc = 0;

    for (uint32_t i = 0; i < layout->n_desks && rc == 0; i++) {
        struct bcs_count count = {.id = (uint64_t)node * layout->n_desks + i};
        uint64_t n;

        if (read_whole(fd, &count.value, sizeof(count.value),
                       layout->desk_gva + i * layout->desk_stride_bytes + offset)) {
            n = count.value -
                count_before(&tally->traffic->desks, &tally->at_desk, count.id).value;
            tally->traffic->n_slices =
                n > tally->traffic->n_slices ? n : tally->traffic->n_slices;
            rc = add_count(&tally->desks, &count);
        }
    }
    return rc;
}

static int count_node(struct tally *tally, uint32_t node)
{
    const struct nic_layout *layout = tally->layout;
    int fd = bcs_look_file(tally->look, node);
    int rc = count_groups(tally, fd, node);

    rc = rc < 0 ? rc : count_slices(tally, fd, node);
    for (uint32_t i = 0; i < nic_layout_n_local(layout, node) && rc == 0; i++) {
        rc = count_port(tally, fd, node * layout->shape.node_ranks + i);
    }
    return rc;
}

static void keep(struct bcs_counts *kept, struct bcs_counts *found)
{
    free(kept->counts);
    *kept = *found;
    *found = (struct bcs_counts){0};
}

static uint32_t read_most(const struct bcs_traffic *traffic)
{
    uint64_t most = READ_MOST / (traffic->n_moved + 1);

    return most < READ_LEAST ? READ_LEAST : (uint32_t)most;
}

int bcs_traffic_look(const struct bcs_look *look, struct bcs_traffic *traffic)
{
    struct tally tally = {
        .look = look,
        .layout = bcs_look_layout(look),
        .traffic = traffic,
        .n_read_most = read_most(traffic),
    };
    struct bcs_node_range near = bcs_look_near(look);
    int rc = 0;

    traffic->flows.n = 0;
    traffic->flows.n_collectives = 0;
    traffic->n_collectives = 0;
    traffic->n_slices = 0;
    for (uint32_t i = 0; i < near.n && rc == 0; i++) {
        rc = count_node(&tally, near.first + i);
    }
    if (rc == 0) {
        traffic->n_collectives += traffic->flows.n_collectives;
        if (!traffic->has_looked) {
            traffic->n_collectives = 0;
            traffic->n_slices = 0;
        }
        traffic->has_moved = tally.n_moved > 0 || traffic->n_collectives > 0;
        traffic->n_moved = tally.n_moved;
        traffic->has_looked = true;
        keep(&traffic->rings, &tally.rings);
        keep(&traffic->groups, &tally.groups);
        keep(&traffic->desks, &tally.desks);
    }
    free(tally.rings.counts);
    free(tally.groups.counts);
    free(tally.desks.counts);
    return rc;
}

void bcs_traffic_fini(struct bcs_traffic *traffic)
{
    free(traffic->flows.flows);
    free(traffic->rings.counts);
    free(traffic->groups.counts);
    free(traffic->desks.counts);
    *traffic = (struct bcs_traffic){0};
}
