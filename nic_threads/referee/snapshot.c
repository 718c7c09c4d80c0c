/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the records of ranks; see snapshot.h.
 */
#include "nic_threads/referee/snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "nic_threads/node/views.h"

/** A thread's record, as it was read. */
struct record {
    uint64_t sequence; /* also of one that is not there; UNREAD: it was being written */
    bool is_there;     /* the thread waits */
};

/** No sequence of a record that is whole. */
#define UNREAD UINT64_MAX

struct nic_snapshot {
    const struct nic_engine *engine;
    uint32_t n_ranks;
    bool of_machine; /* others are left out */
    size_t n_record_words;
    struct record *records; /* [n_ranks][BCS_STAND_THREADS], and what they say: */
    uint64_t *stands;       /* the same of n_record_words */
};

static size_t number_of(uint32_t rank, uint32_t thread)
{
    return (size_t)rank * BCS_STAND_THREADS + thread;
}

static struct record *record_of(const struct nic_snapshot *snapshot, uint32_t rank,
                                uint32_t thread)
{
    return &snapshot->records[number_of(rank, thread)];
}

static struct bcs_stand *stand_of(const struct nic_snapshot *snapshot, uint32_t rank,
                                  uint32_t thread)
{
    return (void *)(snapshot->stands +
                    number_of(rank, thread) * snapshot->n_record_words);
}

static struct bcs_stand_slot *slot_of(const struct nic_snapshot *snapshot,
                                      uint32_t rank, uint32_t thread)
{
    const struct nic_engine *engine = snapshot->engine;
    uint32_t port = nic_engine_port_of(engine, rank);

    return bcs_stand_slot_at(nic_engine_is_near_rank(engine, rank)
                                 ? nic_engine_stands(engine, port)
                                 : nic_engine_far_stands(engine, port),
                             thread, snapshot->n_ranks);
}

int nic_snapshot_create(struct nic_engine *engine, bool of_machine,
                        struct nic_snapshot **snapshot_out)
{
    struct nic_snapshot *snapshot = calloc(1, sizeof(*snapshot));
    uint32_t n = nic_engine_n_ranks(engine);

    if (snapshot == NULL) {
        return -ENOMEM;
    }
    snapshot->engine = engine;
    snapshot->n_ranks = n;
    snapshot->of_machine = of_machine;
    snapshot->n_record_words = bcs_stand_words(n);
    snapshot->records = calloc(number_of(n, 0), sizeof(*snapshot->records));
    snapshot->stands =
        calloc(number_of(n, 0), snapshot->n_record_words * sizeof(uint64_t));
    if (snapshot->records == NULL || snapshot->stands == NULL) {
        nic_snapshot_destroy(snapshot);
        return -ENOMEM;
    }
    *snapshot_out = snapshot;
    return 0;
}

void nic_snapshot_destroy(struct nic_snapshot *snapshot)
{
    if (snapshot != NULL) {
        free(snapshot->records);
        free(snapshot->stands);
        free(snapshot);
    }
}

/** Read a record; one that has never been written costs no memory here. */
static void read_one(const struct nic_snapshot *snapshot, uint32_t rank,
                     uint32_t thread)
{
    const struct bcs_stand_slot *slot = slot_of(snapshot, rank, thread);
    struct record *record = record_of(snapshot, rank, thread);
    int rc = BCS_STAND_E_NONE;

    /* relaxed: read again below, and, if nobody waits, in nic_snapshot_have_changed */
    record->sequence = atomic_load_explicit(&slot->sequence, memory_order_relaxed);
    if (record->sequence != 0) {
        rc = bcs_stand_read(slot, snapshot->n_ranks, stand_of(snapshot, rank, thread),
                            &record->sequence);
    }
    record->is_there = rc == 0;
    if (rc == BCS_STAND_E_BUSY) {
        record->sequence = UNREAD;
    }
}

void nic_snapshot_read(struct nic_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->n_ranks; i++) {
        bool is_read =
            !snapshot->of_machine || nic_engine_is_near_rank(snapshot->engine, i);

        for (uint32_t thread = 0; is_read && thread < BCS_STAND_THREADS; thread++) {
            read_one(snapshot, i, thread);
        }
    }
}

/** Whether a thread of a rank is in another wait, or has told anew of it, since the
 *  record had a sequence. */
static bool has_changed(const struct nic_snapshot *snapshot, uint32_t rank,
                        uint32_t thread, uint64_t before)
{
    /* acquire: partner of the fence in bcs_stand_write, as far as somebody has changed
     * what was read before */
    uint64_t sequence = atomic_load_explicit(&slot_of(snapshot, rank, thread)->sequence,
                                             memory_order_acquire);

    return bcs_stand_wait_of(sequence) != bcs_stand_wait_of(before);
}

bool nic_snapshot_turn(struct nic_snapshot *snapshot, const uint64_t *ranks)
{
    for (uint32_t i = 0; i < snapshot->n_ranks; i++) {
        bool is_meant = (ranks[i / 64] >> i % 64 & 1) != 0;

        for (uint32_t thread = 0; is_meant && thread < BCS_STAND_THREADS; thread++) {
            const struct record *record = record_of(snapshot, i, thread);
            uint64_t before = record->sequence;

            read_one(snapshot, i, thread);
            if (bcs_stand_wait_of(record->sequence) != bcs_stand_wait_of(before)) {
                return false;
            }
        }
    }
    return true;
}

uint64_t nic_snapshot_sequence(const struct nic_snapshot *snapshot, uint32_t rank,
                               uint32_t thread)
{
    return record_of(snapshot, rank, thread)->sequence;
}

const struct bcs_stand *nic_snapshot_stand(const struct nic_snapshot *snapshot,
                                           uint32_t rank, uint32_t thread)
{
    return record_of(snapshot, rank, thread)->is_there
               ? stand_of(snapshot, rank, thread)
               : NULL;
}

bool nic_snapshot_have(const struct nic_snapshot *snapshot, uint32_t rank)
{
    uint32_t n_told = 0, n_threads = 1;

    for (uint32_t i = 0; i < BCS_STAND_THREADS; i++) {
        const struct bcs_stand *stand = nic_snapshot_stand(snapshot, rank, i);

        if (stand != NULL) {
            n_told++;
            n_threads = stand->n_threads;
        }
    }
    return n_told > 0 && n_told >= n_threads;
}

bool nic_snapshot_have_changed(const struct nic_snapshot *snapshot,
                               const uint64_t *ranks)
{
    for (uint32_t i = 0; i < snapshot->n_ranks; i++) {
        bool is_meant = (ranks[i / 64] >> i % 64 & 1) != 0;

        for (uint32_t thread = 0; is_meant && thread < BCS_STAND_THREADS; thread++) {
            if (has_changed(snapshot, i, thread,
                            record_of(snapshot, i, thread)->sequence)) {
                return true;
            }
        }
    }
    return false;
}

bool nic_snapshot_have_answer(const struct nic_snapshot *snapshot, uint32_t rank,
                              uint64_t asked)
{
    for (uint32_t i = 0; i < BCS_STAND_THREADS; i++) {
        /* acquire: pairs with the release of the answer */
        if (record_of(snapshot, rank, i)->is_there &&
            atomic_load_explicit(&slot_of(snapshot, rank, i)->answered,
                                 memory_order_acquire) != asked) {
            return false;
        }
    }
    return true;
}

uint64_t nic_snapshot_waits(const struct nic_snapshot *snapshot, const uint64_t *ranks)
{
    uint64_t sum = 1;

    for (uint32_t i = 0; i < snapshot->n_ranks; i++) {
        bool is_meant = (ranks[i / 64] >> i % 64 & 1) != 0;

        for (uint32_t thread = 0; is_meant && thread < BCS_STAND_THREADS; thread++) {
            const struct bcs_stand *stand = nic_snapshot_stand(snapshot, i, thread);

            sum = sum * 31 + (stand == NULL ? i : stand->since_ns);
        }
    }
    return sum;
}

uint64_t nic_snapshot_changes(const struct nic_snapshot *snapshot)
{
    const struct nic_engine *engine = snapshot->engine;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < snapshot->n_ranks; i++) {
        const struct bcs_port *port;

        if (!nic_engine_is_near_rank(engine, i)) {
            continue;
        }
        port = nic_engine_port(engine, nic_engine_port_of(engine, i));
        /* seq_cst: see referee.c */
        sum = sum * 31 + atomic_load_explicit(&port->park, memory_order_seq_cst);
        for (uint32_t thread = 0; thread < BCS_STAND_THREADS; thread++) {
            uint64_t sequence = atomic_load_explicit(
                &slot_of(snapshot, i, thread)->sequence, memory_order_seq_cst);

            sum = sum * 31 + bcs_stand_wait_of(sequence);
        }
    }
    return sum;
}
