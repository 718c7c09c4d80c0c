/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing and reading where a thread stands; see stand.h for the protocol. Runs in the
 * process that waits, and in any that looks.
 */
#include "libbcs/fabric/ring/stand.h"

#include <string.h>

enum { TRIES = 100 };

/** Steps of a sequence: of a record that changes, and of one that turns a page. Half a
 *  step: it is being written. */
#define CHANGE_STEP UINT64_C(2)
#define TURN_STEP (UINT64_C(2) << BCS_STAND_TURN_BITS)
#define WRITING_BITS ((CHANGE_STEP | TURN_STEP) / 2)

/** Where is_waiting stands: a record that is withdrawn changes this word alone. */
enum { WAITING_WORD = offsetof(struct bcs_stand, is_waiting) / sizeof(uint64_t) };

/** Where the operations begin, of so many words each, and the ranks behind them. */
enum {
    OPERATIONS_WORD = offsetof(struct bcs_stand, operations) / sizeof(uint64_t),
    OPERATION_WORDS = sizeof(struct bcs_stand_operation) / sizeof(uint64_t),
    RANKS_WORD = sizeof(struct bcs_stand) / sizeof(uint64_t)
};

/** Where the operations end that are on the page; of none the first one is told,
 *  empty. */
static size_t end_of_operations(const struct bcs_stand *stand)
{
    uint32_t n = bcs_stand_n_listed(stand);

    return OPERATIONS_WORD + (n == 0 ? 1 : n) * OPERATION_WORDS;
}

static uint32_t n_pages_of(uint32_t n, uint32_t room)
{
    return n / room + (n % room != 0);
}

uint32_t bcs_stand_n_pages(const struct bcs_stand *stand)
{
    uint32_t n = n_pages_of(stand->n_listed, BCS_STAND_OPERATIONS);
    uint32_t n_plan_pages = n_pages_of(stand->n_plans, BCS_STAND_PLANS);

    n = n > n_plan_pages ? n : n_plan_pages;
    return n == 0 ? 1 : n;
}

void bcs_stand_mark(struct bcs_stand *stand, enum bcs_stand_set set, uint32_t rank,
                    uint32_t n_ranks)
{
    uint64_t *ranks = (uint64_t *)(void *)(stand + 1);

    ranks[set * bcs_stand_rank_words(n_ranks) + rank / 64] |= UINT64_C(1) << rank % 64;
}

/** Put one of a list into the page, if it is on that, or before the page has begun on
 *  the first one. @param first  of those that are on the page */
static void put_on_page(struct bcs_stand_operation on_page[], uint32_t room,
                        uint32_t number, uint32_t page, uint32_t *first,
                        const struct bcs_stand_operation *operation)
{
    if (number == page * room) {
        *first = number;
    }
    if (number - *first < room) {
        on_page[number - *first] = *operation;
    }
}

/** Whether a record has no operation yet for whose end the same ranks suffice. Then it
 *  has. */
static bool is_news(struct bcs_stand *stand, uint32_t n_ranks,
                    const struct bcs_stand_operation *one)
{
    bool is_new;

    if (one->kind != BCS_STAND_SEND && one->kind != BCS_STAND_RECEIVE &&
        one->kind != BCS_STAND_PROBE) {
        stand->has_unknown = true;
        return false;
    }
    if (one->peer < 0) {
        is_new = !stand->has_any;
        stand->has_any = true;
        return is_new;
    }
    is_new = (bcs_stand_set(stand, BCS_STAND_PARTNERS, n_ranks)[one->peer / 64] >>
                  one->peer % 64 &
              1) == 0;
    bcs_stand_mark(stand, BCS_STAND_PARTNERS, (uint32_t)one->peer, n_ranks);
    return is_new;
}

void bcs_stand_list(struct bcs_stand *stand, uint32_t n_ranks, uint32_t page,
                    const struct bcs_stand_operation *operation)
{
    bool is_new = is_news(stand, n_ranks, operation);

    if (is_new || !stand->needs_all || stand->n_operations < BCS_STAND_OPERATIONS) {
        put_on_page(stand->operations, BCS_STAND_OPERATIONS, stand->n_listed++, page,
                    &stand->first, operation);
    }
    stand->n_operations++;
}

void bcs_stand_list_plan(struct bcs_stand *stand, uint32_t n_ranks, uint32_t page,
                         const struct bcs_stand_operation *operation)
{
    bcs_stand_mark(stand, BCS_STAND_NEEDED, (uint32_t)operation->peer, n_ranks);
    put_on_page(stand->plans, BCS_STAND_PLANS, stand->n_plans++, page,
                &stand->first_plan, operation);
}

bool bcs_stand_is_turned(const struct bcs_stand *stand, const struct bcs_stand *other,
                         uint32_t n_ranks)
{
    size_t n_bytes = BCS_STAND_SETS * bcs_stand_rank_words(n_ranks) * sizeof(uint64_t);

    return (stand->first != other->first || stand->first_plan != other->first_plan) &&
           memcmp(stand, other, offsetof(struct bcs_stand, first)) == 0 &&
           memcmp(stand + 1, other + 1, n_bytes) == 0;
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

/** Write a record. @param step  of the sequence */
static void write_record(struct bcs_stand_slot *slot, const struct bcs_stand *stand,
                         uint32_t n_ranks, uint64_t step)
{
    /* relaxed: only the writer changes it */
    uint64_t sequence = atomic_load_explicit(&slot->sequence, memory_order_relaxed);
    struct bcs_stand_part parts[BCS_STAND_PARTS];
    uint32_t n_parts = bcs_stand_parts(stand, n_ranks, parts);

    atomic_store_explicit(&slot->sequence, sequence + step / 2, memory_order_relaxed);
    /* partner of the fence in read_once: who sees a word sees that it is written */
    atomic_thread_fence(memory_order_release);
    for (uint32_t i = 0; i < n_parts; i++) {
        store(slot, stand, &parts[i]);
    }
    /* release: pairs with the acquire in read_once */
    atomic_store_explicit(&slot->sequence, sequence + step, memory_order_release);
}

void bcs_stand_write(struct bcs_stand_slot *slot, const struct bcs_stand *stand,
                     uint32_t n_ranks)
{
    write_record(slot, stand, n_ranks, CHANGE_STEP);
}

void bcs_stand_turn(struct bcs_stand_slot *slot, const struct bcs_stand *stand,
                    uint32_t n_ranks)
{
    write_record(slot, stand, n_ranks, TURN_STEP);
}

void bcs_stand_touch(struct bcs_stand_slot *slot)
{
    /* relaxed: only the writer changes it; release: pairs with the acquires of who
     * reads it again */
    uint64_t before = atomic_load_explicit(&slot->sequence, memory_order_relaxed);

    atomic_store_explicit(&slot->sequence, before + CHANGE_STEP, memory_order_release);
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
    return (sequence & WRITING_BITS) == 0 &&
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
