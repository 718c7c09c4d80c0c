/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for the places of a process's channels, and for its regions, in rooms of eight
 * sizes for each power of two: what was given back is used again as it is, and a room
 * is at most an eighth larger than what it was taken for. When nothing is left that was
 * never used, a room is taken that is larger. What an end gives back the other end may
 * still write to, until it is closed, too: until then it is retired, and looked at when
 * memory is taken. Called under the lock of the state.
 */
#include <stdlib.h>

#include "libbcs/channel/channel_state.h"

enum { LEAST_BYTES = 512, STEPS = 8 };

_Static_assert((uint64_t)LEAST_BYTES << (CHANNEL_CLASSES / STEPS - 1) ==
                   CHANNEL_POOL_BYTES,
               "there is a class for all that the pool has");

/** Bytes of the rooms of a class; a multiple of 64. */
static uint64_t bytes_of(uint32_t class)
{
    return ((uint64_t)LEAST_BYTES << (class / STEPS)) / STEPS * (STEPS + class % STEPS);
}

/** The least class whose rooms have so many bytes. */
static uint32_t class_of(uint64_t n_bytes)
{
    uint32_t class = 0;

    while (bytes_of(class) < n_bytes) {
        class ++;
    }
    return class;
}

uint64_t channel_pool_room_bytes(uint64_t n_bytes)
{
    return bytes_of(class_of(n_bytes));
}

void channel_pool_init(struct channel_pool *pool, uint64_t gva, uint64_t n_bytes)
{
    *pool = (struct channel_pool){.next_gva = gva, .end_gva = gva + n_bytes};
}

void channel_pool_put_back(struct channel_pool *pool, struct channel_room *room)
{
    room->next = pool->rooms[room->class];
    pool->rooms[room->class] = room;
}

/** Free what nobody writes to any more. */
static void collect(struct channel_pool *pool)
{
    struct channel_room **at = &pool->retired;

    while (*at != NULL) {
        struct channel_room *room = *at;

        /* Pairs with the put of channel_door_close, which follows all that was sent. */
        if (__atomic_load_n(&room->other->closed, __ATOMIC_ACQUIRE) < room->opened) {
            at = &room->next;
            continue;
        }
        *at = room->next;
        channel_pool_put_back(pool, room);
    }
}

static struct channel_room *take_new(struct channel_pool *pool, uint32_t class)
{
    uint64_t n_bytes = bytes_of(class);
    struct channel_room *room;

    if (pool->end_gva - pool->next_gva < n_bytes) {
        return NULL;
    }
    room = calloc(1, sizeof(*room));
    if (room != NULL) {
        room->class = class;
        room->gva = pool->next_gva;
        pool->next_gva += n_bytes;
    }
    return room;
}

/** Take the first free room that is large enough. @return NULL: there is none */
static struct channel_room *take_used(struct channel_pool *pool, uint32_t class,
                                      uint32_t last_class)
{
    struct channel_room *room;

    while (class < last_class && pool->rooms[class] == NULL) {
        class ++;
    }
    room = pool->rooms[class];
    if (room != NULL) {
        pool->rooms[class] = room->next;
        room->next = NULL;
    }
    return room;
}

struct channel_room *channel_pool_take(struct channel_pool *pool, uint64_t n_bytes,
                                       bool *was_used_out)
{
    uint32_t class = class_of(n_bytes);
    struct channel_room *room;

    collect(pool);
    room = take_used(pool, class, class);
    *was_used_out = room != NULL;
    if (room == NULL) {
        room = take_new(pool, class);
    }
    if (room == NULL) {
        room = take_used(pool, class, CHANNEL_CLASSES - 1);
        *was_used_out = true;
    }
    return room;
}

void channel_pool_give(struct channel_pool *pool, struct channel_room *room,
                       const struct channel_door *other, uint64_t opened)
{
    if (room == NULL) {
        return;
    }
    room->other = other;
    room->opened = opened;
    room->next = pool->retired;
    pool->retired = room;
}

static void free_list(struct channel_room *room)
{
    while (room != NULL) {
        struct channel_room *next = room->next;

        free(room);
        room = next;
    }
}

void channel_pool_fini(struct channel_pool *pool)
{
    for (uint32_t i = 0; i < CHANNEL_CLASSES; i++) {
        free_list(pool->rooms[i]);
    }
    free_list(pool->retired);
}
