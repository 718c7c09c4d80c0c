/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing and reading where a thread stands; see stand.h for the protocol. Runs in the
 * process that waits, and in any that looks.
 */
#include "libbcs/fabric/ring/stand.h"

enum { TRIES = 100 };

/** Where is_waiting stands: a record that is withdrawn changes this word alone. */
enum { WAITING_WORD = offsetof(struct bcs_stand, is_waiting) / sizeof(uint64_t) };

/** Where the operations begin, of so many words each, and the ranks behind them. */
enum {
    OPERATIONS_WORD = offsetof(struct bcs_stand, operations) / sizeof(uint64_t),
    OPERATION_WORDS = sizeof(struct bcs_stand_operation) / sizeof(uint64_t),
    RANKS_WORD = sizeof(struct bcs_stand) / sizeof(uint64_t)
};

/** Where the operations end that are pending; of none the first one is told, empty. */
static size_t end_of_operations(const struct bcs_stand *stand)
{
    uint32_t n = bcs_stand_n_listed(stand);

    return OPERATIONS_WORD + (n == 0 ? 1 : n) * OPERATION_WORDS;
}

/** Whether a verdict on a wait for both needs to know of one of them only. */
static bool are_alike(const struct bcs_stand_operation *one,
                      const struct bcs_stand_operation *other)
{
    return one->peer == other->peer && (one->peer >= 0 || one->kind == other->kind);
}

/** Whether one of the first n of a list is like another one. */
static bool has_like(const struct bcs_stand_operation list[], uint32_t n,
                     const struct bcs_stand_operation *one)
{
    for (uint32_t i = 0; i < n; i++) {
        if (are_alike(&list[i], one)) {
            return true;
        }
    }
    return false;
}

/** Where the list has room for an operation. If it is full, that is the place of the
 *  last one that is like another one, unless the new one is: as many partners as can be
 *  are listed.
 *  @return NULL: nowhere */
static struct bcs_stand_operation *room_for(struct bcs_stand *stand,
                                            const struct bcs_stand_operation *one)
{
    struct bcs_stand_operation *list = stand->operations;

    if (stand->n_operations < BCS_STAND_OPERATIONS) {
        return &list[stand->n_operations];
    }
    if (has_like(list, BCS_STAND_OPERATIONS, one)) {
        return NULL;
    }
    for (uint32_t i = BCS_STAND_OPERATIONS; i-- > 1;) {
        if (has_like(list, i, &list[i])) {
            return &list[i];
        }
    }
    return NULL;
}

void bcs_stand_list(struct bcs_stand *stand,
                    const struct bcs_stand_operation *operation)
{
    struct bcs_stand_operation *room = room_for(stand, operation);

    if (room != NULL) {
        *room = *operation;
    }
    stand->n_operations++;
}

uint32_t bcs_stand_parts(const struct bcs_stand *stand, uint32_t n_ranks,
                         struct bcs_stand_part parts_out[BCS_STAND_PARTS])
{
    if (stand == NULL) {
        parts_out[0] = (struct bcs_stand_part){WAITING_WORD, WAITING_WORD + 1};
        return 1;
    }
    parts_out[0] = (struct bcs_stand_part){0, end_of_operations(stand)};
    parts_out[1] = (struct bcs_stand_part){RANKS_WORD, bcs_stand_words(n_ranks)};
    return 2;
}

/** Store the words of a part. @param stand  NULL: they are 0 */
static void store(struct bcs_stand_slot *slot, const struct bcs_stand *stand,
                  const struct bcs_stand_part *part)
{
    const uint64_t *words = (const uint64_t *)(const void *)stand;

    for (size_t i = part->begin; i < part->end; i++) {
        atomic_store_explicit(&slot->words[i], words == NULL ? 0 : words[i],
                              memory_order_relaxed);
    }
}

/** Load the words from one to before another one. */
static void load(const struct bcs_stand_slot *slot, size_t begin, size_t end,
                 struct bcs_stand *stand_out)
{
    uint64_t *words = (uint64_t *)(void *)stand_out;

    for (size_t i = begin; i < end; i++) {
        words[i] = atomic_load_explicit(&slot->words[i], memory_order_relaxed);
    }
}

void bcs_stand_write(struct bcs_stand_slot *slot, const struct bcs_stand *stand,
                     uint32_t n_ranks)
{
    /* relaxed: only the writer changes it */
    uint64_t sequence = atomic_load_explicit(&slot->sequence, memory_order_relaxed);
    struct bcs_stand_part parts[BCS_STAND_PARTS];
    uint32_t n_parts = bcs_stand_parts(stand, n_ranks, parts);

    atomic_store_explicit(&slot->sequence, sequence + 1, memory_order_relaxed);
    /* partner of the fence in read_once: who sees a word sees the odd sequence */
    atomic_thread_fence(memory_order_release);
    for (uint32_t i = 0; i < n_parts; i++) {
        store(slot, stand, &parts[i]);
    }
    /* release: pairs with the acquire in read_once */
    atomic_store_explicit(&slot->sequence, sequence + 2, memory_order_release);
}

void bcs_stand_touch(struct bcs_stand_slot *slot)
{
    /* relaxed: only the writer changes it; release: pairs with the acquires of who
     * reads it again */
    uint64_t before = atomic_load_explicit(&slot->sequence, memory_order_relaxed);

    atomic_store_explicit(&slot->sequence, before + 2, memory_order_release);
}

/** @return whether the words belong together */
static bool read_once(const struct bcs_stand_slot *slot, uint32_t n_ranks,
                      struct bcs_stand *stand_out, uint64_t *sequence_out)
{
    /* acquire: pairs with the release at the end of bcs_stand_write */
    uint64_t sequence = atomic_load_explicit(&slot->sequence, memory_order_acquire);

    load(slot, 0, OPERATIONS_WORD, stand_out);
    load(slot, OPERATIONS_WORD, end_of_operations(stand_out), stand_out);
    load(slot, RANKS_WORD, bcs_stand_words(n_ranks), stand_out);
    /* partner of the fence in bcs_stand_write */
    atomic_thread_fence(memory_order_acquire);
    *sequence_out = sequence;
    return sequence % 2 == 0 &&
           atomic_load_explicit(&slot->sequence, memory_order_relaxed) == sequence;
}

int bcs_stand_read(const struct bcs_stand_slot *slot, uint32_t n_ranks,
                   struct bcs_stand *stand_out, uint64_t *sequence_out)
{
    uint64_t sequence;
    int n_tries = 0;

    while (!read_once(slot, n_ranks, stand_out, &sequence)) {
        if (++n_tries == TRIES) {
            return BCS_STAND_E_BUSY;
        }
    }
    *sequence_out = sequence;
    if (!stand_out->is_waiting) {
        return BCS_STAND_E_NONE;
    }
    stand_out->call[BCS_STAND_CALL_BYTES - 1] = '\0';
    stand_out->collective[BCS_STAND_COLLECTIVE_BYTES - 1] = '\0';
    stand_out->comm[BCS_STAND_COMM_BYTES - 1] = '\0';
    stand_out->agent_words[BCS_AGENT_BYTES - 1] = '\0';
    stand_out->lines[BCS_STAND_LINES_BYTES - 1] = '\0';
    return 0;
}
