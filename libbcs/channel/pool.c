/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for the places of a process's channels, in sizes of powers of two. What a reader gives
 * back its writer may still write to, until it has closed its end, too: until then it is
 * retired, and looked at when memory is taken. Called under the lock of the state.
 */
#include <stdlib.h>

#include "libbcs/channel/channel.h"

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
        if (__atomic_load_n(&room->writer->closed, __ATOMIC_ACQUIRE) < room->opened) {
            at = &room->next;
            continue;
        }
        *at = room->next;
        channel_pool_put_back(pool, room);
    }
}

static struct channel_room *take_new(struct channel_pool *pool, uint32_t class)
{
    uint64_t n_bytes = UINT64_C(1) << class;
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

struct channel_room *channel_pool_take(struct channel_pool *pool, uint64_t n_bytes,
                                       bool *was_used_out)
{
    uint32_t class = 9;
    struct channel_room *room;

    while (UINT64_C(1) << class < n_bytes) {
        class ++;
    }
    collect(pool);
    room = pool->rooms[class];
    *was_used_out = room != NULL;
    if (room == NULL) {
        return take_new(pool, class);
    }
    pool->rooms[class] = room->next;
    room->next = NULL;
    return room;
}

void channel_pool_give(struct channel_pool *pool, struct channel_room *room,
                       const struct channel_door *writer, uint64_t opened)
{
    if (room == NULL) {
        return;
    }
    room->writer = writer;
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
