/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens jobs of others and reads them; see look.h.
 */
#include "apps/tools/look/look.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apps/tools/look/data_sum.h"
#include "apps/tools/look/far_records.h"
#include "apps/tools/look/found_board.h"
#include "libbcs/fabric/base/park.h"

enum { ASK_ROUNDS = 10, THREAD_ROUNDS = 2, ASK_NS = 2000000 };

/** A node's heap: the pages of its ports, and of where they stand; and the file. */
struct heap {
    const char *ports, *stands;
    struct bcs_shm_segment file;
};

struct bcs_look {
    const void *segment; /* of the machine */
    uint64_t n_bytes;
    /* The head alone, as it was when it was checked: the segment's may change at any
     * time. */
    struct bcs_board *board;
    const struct bcs_board_node *nodes; /* [board->n_nodes] in the segment */
    struct nic_layout layout;
    uint64_t ports_bytes, stands_bytes;
    uint32_t *ports; /* [n_ranks] by rank; NULL: each rank is its own port */
    uint32_t *ranks; /* [n_ports] by port; NULL: the same */
    struct bcs_far_records far;
    struct heap heaps[]; /* [board->n_nodes] those of near nodes are open */
};

static int open_heap(struct bcs_look *look, uint32_t node)
{
    const struct bcs_board_node *place = &look->nodes[node];
    const struct nic_layout *layout = &look->layout;
    struct bcs_shm_segment *segment = &look->heaps[node].file;
    struct bcs_shm_handle handle;
    const void *ports = NULL, *stands = NULL;
    int rc;

    /* acquire: pairs with the release in libbcs/api/board_fill.c */
    if (atomic_load_explicit(&place->is_ready, memory_order_acquire) == 0) {
        return -EAGAIN;
    }
    memcpy(&handle, &place->memory, sizeof(handle));
    rc = bcs_shm_segment_look(segment, &handle);
    if (rc < 0) {
        segment->fd = -1;
        return rc;
    }
    rc = segment->n_bytes != layout->heap_bytes ? -EINVAL : 0;
    rc = rc < 0 ? rc
                : bcs_shm_segment_view(segment, layout->port_gva & ~UINT64_C(4095),
                                       look->ports_bytes, &ports);
    if (rc == 0) {
        look->heaps[node].ports = (const char *)ports + layout->port_gva % 4096;
        rc = bcs_shm_segment_view(segment, layout->stands.gva, look->stands_bytes,
                                  &stands);
        look->heaps[node].stands = stands;
    }
    return rc;
}

void bcs_look_close(struct bcs_look *look)
{
    if (look == NULL) {
        return;
    }
    for (uint32_t i = 0; i < look->layout.n_nodes; i++) {
        uintptr_t ports = (uintptr_t)look->heaps[i].ports & ~(uintptr_t)4095;

        if (ports != 0) {
            munmap((void *)ports, look->ports_bytes);
        }
        if (look->heaps[i].stands != NULL) {
            munmap((void *)(uintptr_t)look->heaps[i].stands, look->stands_bytes);
        }
        bcs_shm_segment_close_fd(&look->heaps[i].file);
    }
    bcs_far_records_close(&look->far);
    munmap((void *)(uintptr_t)look->segment, look->n_bytes);
    free(look->ports);
    free(look->ranks);
    free(look->board);
    free(look);
}

/** Make a look of a machine's segment. @return NULL: see rc_out */
static struct bcs_look *look_at(const char *base, uint64_t n_bytes, char *version_out,
                                int *rc_out)
{
    const struct bcs_board_node *nodes = NULL;
    struct bcs_board *board = calloc(1, sizeof(*board));
    struct bcs_look *look = NULL;
    int rc = board == NULL ? -ENOMEM
                           : bcs_board_find(base, n_bytes, board, &nodes, version_out);

    if (rc == 0) {
        look = calloc(1, sizeof(*look) + board->n_nodes * sizeof(look->heaps[0]));
        rc = look == NULL ? -ENOMEM : 0;
    }
    if (rc < 0) {
        free(board);
        *rc_out = rc;
        return NULL;
    }
    look->segment = base;
    look->n_bytes = n_bytes;
    look->board = board;
    look->nodes = nodes;
    for (uint32_t i = 0; i < board->n_nodes; i++) {
        look->heaps[i].file.fd = -1;
    }
    return look;
}

/** Take over which port each rank has, and check that no two have one. @return 0,
 *  -EINVAL or -ENOMEM */
static int take_map(struct bcs_look *look)
{
    uint32_t n_ranks = look->board->n_ranks, n_ports = look->board->shape.n_ports;

    if (!look->board->has_map) {
        return 0;
    }
    look->ports = calloc(n_ranks, sizeof(*look->ports));
    look->ranks = calloc(n_ports, sizeof(*look->ranks));
    if (look->ports == NULL || look->ranks == NULL) {
        return -ENOMEM;
    }
    bcs_board_copy(look->ports, &look->nodes[look->board->n_nodes],
                   n_ranks * sizeof(*look->ports));
    for (uint32_t port = 0; port < n_ports; port++) {
        look->ranks[port] = BCS_PORT_HOLE;
    }
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        uint32_t port = look->ports[rank];

        if (port >= n_ports || look->ranks[port] != BCS_PORT_HOLE) {
            return -EINVAL;
        }
        look->ranks[port] = rank;
    }
    return 0;
}

/** Open the heaps of all near nodes. */
static int open_heaps(struct bcs_look *look)
{
    const struct nic_shape *shape = &look->board->shape;
    int rc = nic_layout_init(&look->layout, shape);

    look->ports_bytes = look->layout.port_stride_bytes * shape->node_ranks + 4096;
    look->stands_bytes = nic_region_gva(&look->layout.stands, shape->node_ranks - 1) +
                         look->layout.stands.stride_bytes - look->layout.stands.gva;
    for (uint32_t i = 0; rc == 0 && i < look->board->n_near; i++) {
        rc = open_heap(look, look->board->first_near + i);
    }
    if (rc == 0 && look->board->first_near == 0 &&
        look->board->n_near < look->layout.n_nodes) {
        rc = bcs_far_records_open(&look->heaps[0].file, &look->layout, &look->far);
    }
    return rc;
}

int bcs_look_open(const struct bcs_look_found *found, struct bcs_look **look_out,
                  char *version_out)
{
    struct bcs_shm_segment segment;
    const void *base = NULL;
    struct bcs_look *look;
    int rc = bcs_shm_segment_look(&segment, &found->handle);

    if (rc < 0) {
        return rc;
    }
    rc = bcs_shm_segment_view(&segment, 0, segment.n_bytes, &base);
    bcs_shm_segment_close_fd(&segment);
    if (rc < 0) {
        return rc;
    }
    look = look_at(base, segment.n_bytes, version_out, &rc);
    if (look == NULL) {
        munmap((void *)(uintptr_t)base, segment.n_bytes);
        return rc;
    }
    rc = take_map(look);
    rc = rc < 0 ? rc : open_heaps(look);
    if (rc < 0) {
        bcs_look_close(look);
        return rc;
    }
    *look_out = look;
    return 0;
}

const struct bcs_board *bcs_look_board(const struct bcs_look *look)
{
    return look->board;
}

const struct nic_layout *bcs_look_layout(const struct bcs_look *look)
{
    return &look->layout;
}

int bcs_look_file(const struct bcs_look *look, uint32_t node)
{
    return look->heaps[node].file.fd;
}

struct bcs_node_range bcs_look_near(const struct bcs_look *look)
{
    return (struct bcs_node_range){look->board->first_near, look->board->n_near};
}

uint32_t bcs_look_n_ranks(const struct bcs_look *look)
{
    return look->board->n_ranks;
}

const uint32_t *bcs_look_ranks(const struct bcs_look *look)
{
    return look->ranks;
}

static uint32_t port_of_rank(const struct bcs_look *look, uint32_t rank)
{
    return look->ports == NULL ? rank : look->ports[rank];
}

bool bcs_look_is_near(const struct bcs_look *look, uint32_t rank)
{
    uint32_t node = nic_layout_node(&look->layout, port_of_rank(look, rank));

    return node - look->board->first_near < look->board->n_near;
}

/** What is known of a rank of another machine. @return NULL: nothing */
static const struct bcs_far_stand *far_stand_of(const struct bcs_look *look,
                                                uint32_t rank)
{
    return bcs_far_records_of(&look->far, &look->layout, port_of_rank(look, rank));
}

/** The port of a near rank. */
static const struct bcs_port *port_of(const struct bcs_look *look, uint32_t rank)
{
    const struct nic_layout *layout = &look->layout;
    uint32_t port = port_of_rank(look, rank);

    return (const void *)(look->heaps[nic_layout_node(layout, port)].ports +
                          nic_layout_port_gva(layout, port) - layout->port_gva);
}

int64_t bcs_look_pid(const struct bcs_look *look, uint32_t rank)
{
    const struct bcs_far_stand *far_stand;

    if (bcs_look_is_near(look, rank)) {
        return port_of(look, rank)->pid;
    }
    far_stand = far_stand_of(look, rank);
    return far_stand == NULL ? 0 : (int64_t)far_stand->pid;
}

bool bcs_look_is_known(const struct bcs_look *look, uint32_t rank)
{
    return bcs_look_is_near(look, rank) || bcs_look_pid(look, rank) != 0;
}

bool bcs_look_files_of(const struct bcs_look *look, uint32_t rank, uint32_t thread,
                       struct bcs_stand_files *files_out)
{
    const struct bcs_far_stand *far_stand =
        bcs_look_is_near(look, rank) ? NULL : far_stand_of(look, rank);

    if (far_stand == NULL) {
        return false;
    }
    *files_out = far_stand->files[thread];
    for (int i = 0; i < BCS_STAND_FRAMES; i++) {
        files_out->paths[i][BCS_STAND_FILE_BYTES - 1] = '\0';
    }
    return true;
}

/** Where a near rank stands. */
static struct bcs_stands *near_stands_of(const struct bcs_look *look, uint32_t rank)
{
    const struct nic_layout *layout = &look->layout;
    uint32_t port = port_of_rank(look, rank);

    return (void *)(uintptr_t)(look->heaps[nic_layout_node(layout, port)].stands +
                               nic_layout_stands_gva(layout, port) -
                               layout->stands.gva);
}

/** Where a rank stands. @return NULL: it is on another machine, and nothing is known */
static struct bcs_stands *stands_of(const struct bcs_look *look, uint32_t rank)
{
    struct bcs_far_stand *far_stand;

    if (bcs_look_is_near(look, rank)) {
        return near_stands_of(look, rank);
    }
    far_stand = (struct bcs_far_stand *)(uintptr_t)far_stand_of(look, rank);
    return far_stand == NULL ? NULL : bcs_far_stands(far_stand);
}

int bcs_look_stand(const struct bcs_look *look, uint32_t rank, uint32_t thread,
                   struct bcs_stand *stand_out, uint64_t *sequence_out)
{
    uint32_t n_ranks = bcs_look_n_ranks(look);
    struct bcs_stands *stands = stands_of(look, rank);

    return stands == NULL ? BCS_STAND_E_NONE
                          : bcs_stand_read(bcs_stand_slot_at(stands, thread, n_ranks),
                                           n_ranks, stand_out, sequence_out);
}

/** Whether a rank's process holds the lock of its desk. */
static bool holds_own_lock(const struct bcs_look *look, uint32_t rank)
{
    const struct nic_layout *layout = &look->layout;
    uint32_t port = port_of_rank(look, rank);
    uint32_t desk = nic_layout_desk(layout, port) % layout->n_desks, lock = 0;
    uint64_t gva =
        layout->desk_gva + desk * layout->desk_stride_bytes + look->board->lock_offset;

    return pread(bcs_look_file(look, nic_layout_node(layout, port)), &lock,
                 sizeof(lock), (off_t)gva) == sizeof(lock) &&
           (lock & ~BCS_BOARD_LOCK_FLAGS) == port + 1;
}

/** Whether a thread of a rank has told that it waits. */
static bool has_told(const struct bcs_look *look, uint32_t rank)
{
    enum { AT = offsetof(struct bcs_stand, is_waiting) };
    struct bcs_stands *stands = stands_of(look, rank);
    bool has = false;

    for (uint32_t i = 0; stands != NULL && i < BCS_STAND_THREADS; i++) {
        const struct bcs_stand_slot *slot =
            bcs_stand_slot_at(stands, i, bcs_look_n_ranks(look));
        /* relaxed: a guess by one word, that nothing else is read for */
        uint64_t word =
            atomic_load_explicit(&slot->words[AT / 8], memory_order_relaxed);
        uint8_t bytes[sizeof(word)];

        memcpy(bytes, &word, sizeof(word));
        has |= bytes[AT % 8] != 0;
    }
    return has;
}

bool bcs_look_is_waiting(const struct bcs_look *look, uint32_t rank)
{
    return (bcs_look_is_near(look, rank) &&
            (bcs_park_is_announced(&port_of(look, rank)->park) ||
             holds_own_lock(look, rank))) ||
           has_told(look, rank);
}

/** How many threads of a rank have told, and how many there may be. */
struct telling {
    uint32_t n_told, n_threads;
};

static struct telling telling_of(const struct bcs_look *look, uint32_t rank,
                                 struct bcs_stand *stand)
{
    struct telling telling = {.n_threads = 1};
    uint64_t sequence;

    for (uint32_t i = 0; i < BCS_STAND_THREADS; i++) {
        if (bcs_look_stand(look, rank, i, stand, &sequence) == 0) {
            telling.n_told++;
            telling.n_threads = stand->n_threads > telling.n_threads
                                    ? stand->n_threads
                                    : telling.n_threads;
        }
    }
    return telling;
}

/**
 * Wake who sleeps and has told nothing.
 *
 * @param of_threads also those of which some thread has told, but not all: others may
 *                    do something else and never tell
 * @return how many there are
 */
static uint32_t ask_once(const struct bcs_look *look, struct bcs_stand *stand,
                         bool of_threads)
{
    uint32_t n_asked = 0;

    for (uint32_t i = 0; i < bcs_look_n_ranks(look); i++) {
        const struct bcs_port *port;
        struct telling telling;

        if (!bcs_look_is_near(look, i)) {
            continue;
        }
        port = port_of(look, i);
        if (!bcs_park_is_announced(&port->park)) {
            continue;
        }
        telling = telling_of(look, i, stand);
        if (telling.n_told == 0 || (of_threads && telling.n_told < telling.n_threads &&
                                    telling.n_told < BCS_STAND_THREADS)) {
            bcs_word_wake(&port->park);
            n_asked++;
        }
    }
    return n_asked;
}

void bcs_look_ask(const struct bcs_look *look)
{
    struct bcs_stand *stand =
        calloc(bcs_stand_words(bcs_look_n_ranks(look)), sizeof(uint64_t));

    for (int i = 0; stand != NULL && i < ASK_ROUNDS &&
                    ask_once(look, stand, i < THREAD_ROUNDS) > 0;
         i++) {
        bcs_rest(ASK_NS);
    }
    free(stand);
}

/** Add up a table's region behind the first part, and what of it is in the first
 *  part. */
static int sum_table(int fd, const struct nic_region *region, uint64_t n, uint64_t *sum)
{
    int rc = region->n_first == 0
                 ? 0
                 : bcs_data_sum(fd, region->first_gva,
                                region->first_gva +
                                    (uint64_t)region->n_first * region->stride_bytes,
                                sum);

    if (rc == 0 && n > region->n_first) {
        rc = bcs_data_sum(fd, region->gva,
                          nic_region_gva(region, n - 1) + region->stride_bytes, sum);
    }
    return rc;
}

/** Add up what a port has: its ring and orders, its links, its cells. */
static int sum_port(const struct nic_layout *layout, int fd, uint32_t port,
                    uint64_t *sum)
{
    const struct nic_region links = nic_layout_of_port(layout, &layout->links, port);
    const struct nic_region cells = nic_layout_of_port(layout, &layout->cells, port);
    uint64_t gva = nic_layout_port_gva(layout, port);
    /* Not the words of its owner's sleep: who polls may sleep and wake. */
    int rc = bcs_data_sum(fd, gva + offsetof(struct bcs_port, n_orders),
                          gva + BCS_PORT_BYTES, sum);

    rc = rc < 0 ? rc : sum_table(fd, &links, layout->n_links, sum);
    return rc < 0 ? rc : sum_table(fd, &cells, layout->shape.n_cells, sum);
}

int bcs_look_sum(const struct bcs_look *look, uint64_t *sum_out)
{
    const struct nic_layout *layout = &look->layout;
    uint64_t n_slots = (uint64_t)layout->shape.n_ports * layout->shape.n_groups;
    struct bcs_node_range near = bcs_look_near(look);
    uint64_t sum = 0;
    int rc = 0;

    for (uint32_t i = near.first; i < near.first + near.n && rc == 0; i++) {
        int fd = look->heaps[i].file.fd;
        uint64_t of_node = 0;

        rc = sum_table(fd, &layout->slots, n_slots, &of_node);
        rc = rc < 0 ? rc
                    : sum_table(fd, &layout->near, n_slots * layout->n_near, &of_node);
        for (uint32_t j = 0; j < nic_layout_n_local(layout, i) && rc == 0; j++) {
            rc = sum_port(layout, fd, i * layout->shape.node_ranks + j, &of_node);
        }
        sum = sum * 3 + of_node;
    }
    if (rc == 0) {
        *sum_out = sum;
    }
    return rc;
}

bool bcs_look_is_there(const struct bcs_look_found *found)
{
    struct bcs_shm_segment segment;
    bool is_there = bcs_shm_segment_look(&segment, &found->handle) == 0;

    if (is_there) {
        is_there = segment.device == found->device && segment.inode == found->inode;
        bcs_shm_segment_close_fd(&segment);
    }
    return is_there;
}
