/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages to each other process: a stream that fills the buffer of the superstep
 * at its receiver, and a queue of what did not fit. Called by cBSP_send, and by the
 * synchronizations, which send what is in the queue.
 *
 * A message is kept if the receiver's buffer may not be written to yet (cbsp_wire.h
 * says when it may), if it is full, or if messages before it are kept. A full buffer
 * ends with CBSP_OVERFLOW; when the receiver has taken all of it, it says go on, and
 * the buffer is filled again from its top: a new lap, with other keys. That is done
 * within the synchronization only, when all messages of the superstep are known, so
 * that the last lap can end with CBSP_END. A synchronization does not end before its
 * messages have gone; those that handlers have sent belong to the next one. [cBSP 5.2]
 *
 * A message longer than a buffer is announced by CBSP_LARGE. Where processes may read
 * each other's memory, the receiver reads it from where it is kept, and says so; this
 * takes the place of the paper's clearance to write, as whoever reads does not depend
 * on the sender being awake. Elsewhere it follows in pieces, which overflow as other
 * messages do. [cBSP 5.3]
 *
 * A receiver that loses the right to read asks for the message in parts, which go one
 * after another through a stage buffer, apart from the stream: messages that follow
 * have been written there already, and have to wait. What is sent later goes in pieces.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/cbsp/notes.h"
#include "libbcs/fabric/base/log.h"

enum {
    BLOCKED = 1, /* a message cannot be written yet */
    STAGE_BYTES = 256,
    LEAST_PIECE_BYTES = 1024, /* less room than that is not worth a piece */
};

/* What must be left: an overflow or an end, and the word below it. */
#define RESERVED_BYTES (sizeof(struct cbsp_trailer) + sizeof(uint64_t))

static const uint64_t no_key;

/** The longest message that fits into an empty buffer. */
static uint64_t most_bytes(const struct cbsp *cbsp)
{
    return cbsp->layout.buffer_bytes - sizeof(struct cbsp_trailer) - RESERVED_BYTES;
}

static void *take_first(struct cbsp_queue *queue)
{
    struct cbsp_kept *kept = queue->first;

    queue->first = kept->next;
    if (queue->first == NULL) {
        queue->last = NULL;
    }
    kept->next = NULL;
    return kept;
}

static void append(struct cbsp_queue *queue, struct cbsp_kept *kept)
{
    if (queue->first == NULL) {
        queue->first = kept;
    } else {
        queue->last->next = kept;
    }
    queue->last = kept;
}

/** Whether the receiver has ended so many supersteps. @return 1, 0 or -errno */
static int ask(struct cbsp *cbsp, struct cbsp_out *out, uint64_t n_ended)
{
    const struct bcs_comparison question = {
        .variable_gva = cbsp->layout.progress_gva,
        .op = BCS_COMPARE_GE,
        .value = n_ended,
        .dests = &out->node,
    };
    bool is_true;
    int rc = bcs_compare_and_write(cbsp->core, &question, &is_true);

    cbsp->counts.n_queries++;
    if (rc < 0) {
        return cbsp_end_job(cbsp, rc);
    }
    if (is_true && out->n_ended < n_ended) {
        out->n_ended = n_ended;
    }
    return is_true;
}

/** Ask the receiver to ring when it has ended so many supersteps. */
static int want(struct cbsp *cbsp, struct cbsp_out *out, uint64_t n_ended)
{
    const struct bcs_xfer xfer = {
        .src = &n_ended,
        .n_bytes = sizeof(n_ended),
        .dest_gva = cbsp_from_gva(&cbsp->layout, cbsp->pid) +
                    offsetof(struct cbsp_from, wanted),
        .dests = &out->node,
        .remote_event_gva = cbsp->layout.wants_gva,
    };

    out->wanted = n_ended;
    return cbsp_transfer(cbsp, &xfer, 1);
}

/** Whether a buffer may be written to. A process that is not far behind is asked so
 *  that the answer does for some supersteps. @return 0, BLOCKED or -errno */
static int check_set(struct cbsp *cbsp, struct cbsp_out *out, uint64_t superstep)
{
    uint64_t needed = superstep - cbsp->layout.n_sets + 1;
    int answer = 0;

    if (out->n_ended < cbsp->n_floor) {
        out->n_ended = cbsp->n_floor;
    }
    if (cbsp_may_write(superstep, out->n_ended, cbsp->layout.n_sets)) {
        return 0;
    }
    if (superstep - 1 > needed) {
        answer = ask(cbsp, out, superstep - 1);
    }
    if (answer == 0) {
        answer = ask(cbsp, out, needed);
    }
    if (answer == 0 && out->wanted < needed) {
        answer = want(cbsp, out, needed);
        /* It may have ended them before it could see that. */
        answer = answer < 0 ? answer : ask(cbsp, out, needed);
    }
    return answer < 0 ? answer : answer == 1 ? 0 : BLOCKED;
}

/** Begin to fill a buffer from its top. */
static void begin_lap(struct cbsp *cbsp, struct cbsp_out *out, uint64_t superstep,
                      uint64_t lap)
{
    out->superstep = superstep;
    out->lap = lap;
    out->key = cbsp_key(superstep, lap);
    out->top_gva = cbsp_buffer_top(&cbsp->layout, cbsp->pid, superstep);
    out->low_gva = out->top_gva - cbsp->layout.buffer_bytes;
    out->is_full = false;
}

/** A block that rings no bell, of any length; when this returns, src may be used
 *  again. */
static int put(struct cbsp *cbsp, struct cbsp_out *out, uint64_t gva, const void *src,
               size_t n_bytes)
{
    bool is_long = n_bytes > BCS_XFER_COPIED_BYTES;
    const struct bcs_xfer xfer = {
        .src = src,
        .n_bytes = n_bytes,
        .dest_gva = gva,
        .dests = &out->node,
        .local_event_gva = is_long ? cbsp->layout.sent_gva : 0,
    };
    int rc = n_bytes == 0 ? 0 : cbsp_transfer(cbsp, &xfer, 1);

    if (rc == 0 && is_long) {
        rc = bcs_test_event(cbsp->core, cbsp->layout.sent_gva, ++cbsp->n_long_puts,
                            true);
        rc = rc < 0 ? cbsp_end_job(cbsp, rc) : 0;
    }
    return rc;
}

/** Write a message below the last one. A short one is one block; of a long one, the
 *  parts are put from where they are, the trailer last. */
static int write_message(struct cbsp *cbsp, struct cbsp_out *out, enum cbsp_kind kind,
                         const struct cbsp_message *message)
{
    struct {
        uint64_t no_key;
        uint8_t rest[STAGE_BYTES];
    } stage;
    const struct cbsp_trailer trailer = {
        .dest = message->dest,
        .handler = message->handler,
        .size = (uint32_t)kind << CBSP_KIND_SHIFT | (uint32_t)message->n_bytes,
        .sequence = (uint32_t)out->n_messages,
        .key = out->key,
    };
    uint64_t padded = cbsp_padded(message->n_bytes);
    uint64_t data_gva = out->top_gva - sizeof(trailer) - padded;
    struct bcs_xfer xfer = {
        .dests = &out->node,
        .remote_event_gva = cbsp->layout.bell_gva,
    };
    int rc = 0;

    _Static_assert(sizeof(stage) <= BCS_XFER_COPIED_BYTES, "no local event");
    assert(data_gva - sizeof(stage.no_key) >=
           out->low_gva); /* below is another buffer */
    if (padded + sizeof(trailer) <= STAGE_BYTES) {
        stage.no_key = 0;
        memcpy(stage.rest, message->data, message->n_bytes);
        memcpy(stage.rest + padded, &trailer, sizeof(trailer));
        xfer.src = &stage;
        xfer.n_bytes = sizeof(stage.no_key) + padded + sizeof(trailer);
        xfer.dest_gva = data_gva - sizeof(stage.no_key);
    } else {
        rc = put(cbsp, out, data_gva - sizeof(no_key), &no_key, sizeof(no_key));
        rc = rc < 0 ? rc : put(cbsp, out, data_gva, message->data, message->n_bytes);
        xfer.src = &trailer;
        xfer.n_bytes = sizeof(trailer);
        xfer.dest_gva = data_gva + padded;
    }
    out->top_gva = data_gva;
    return rc < 0 ? rc : cbsp_transfer(cbsp, &xfer, 1);
}

/* The message of a mark: its data, of no bytes, are copied all the same. */
static const struct cbsp_message nothing = {.data = ""};

static int write_overflow(struct cbsp *cbsp, struct cbsp_out *out)
{
    if (!out->owes_end) {
        out->owes_end = true;
        cbsp->n_queued[out->superstep % 2]++;
    }
    out->is_full = true;
    cbsp->counts.n_overflows++;
    return write_message(cbsp, out, CBSP_OVERFLOW, &nothing);
}

static int write_end(struct cbsp *cbsp, struct cbsp_out *out)
{
    out->owes_end = false;
    cbsp->n_queued[out->superstep % 2]--;
    return write_message(cbsp, out, CBSP_END, &nothing);
}

/** Write a message that fits into a buffer, if it can be now. @return 0, BLOCKED,
 *  -errno */
static int try_write(struct cbsp *cbsp, struct cbsp_out *out, uint64_t superstep,
                     enum cbsp_kind kind, const struct cbsp_message *message)
{
    int rc = 0;

    if (out->superstep != superstep) {
        rc = check_set(cbsp, out, superstep);
        if (rc != 0) {
            return rc;
        }
        begin_lap(cbsp, out, superstep, 0);
    }
    if (out->is_full) {
        return BLOCKED;
    }
    if (cbsp_padded(message->n_bytes) + sizeof(struct cbsp_trailer) + RESERVED_BYTES >
        out->top_gva - out->low_gva) {
        rc = write_overflow(cbsp, out);
        return rc < 0 ? rc : BLOCKED;
    }
    rc = write_message(cbsp, out, kind, message);
    if (kind == CBSP_MESSAGE || kind == CBSP_LARGE) {
        out->n_messages++;
    }
    return rc;
}

/** Write a large message in pieces, as many as there is room for. */
static int write_pieces(struct cbsp *cbsp, struct cbsp_out *out, struct cbsp_kept *kept)
{
    while (kept->n_gone < kept->message.n_bytes) {
        uint64_t n_left = kept->message.n_bytes - kept->n_gone;
        uint64_t used = sizeof(struct cbsp_trailer) + RESERVED_BYTES;
        uint64_t room = out->top_gva - out->low_gva;
        uint64_t most = most_bytes(cbsp);
        struct cbsp_message piece = {.data = kept->data + kept->n_gone};
        int rc;

        if (!out->is_full && room >= used + LEAST_PIECE_BYTES) {
            most = (room - used) & ~UINT64_C(7);
        }
        piece.n_bytes = n_left < most ? n_left : most;
        rc = try_write(cbsp, out, kept->superstep, CBSP_PIECE, &piece);
        if (rc != 0) {
            return rc;
        }
        kept->n_gone += piece.n_bytes;
    }
    return 0;
}

/** Send a message that was kept. @return 0, BLOCKED, -errno */
static int push(struct cbsp *cbsp, struct cbsp_out *out, struct cbsp_kept *kept)
{
    int rc;

    if (kept->message.n_bytes <= most_bytes(cbsp)) {
        return try_write(cbsp, out, kept->superstep, CBSP_MESSAGE, &kept->message);
    }
    if (!kept->is_announced) {
        bool is_read = cbsp->is_direct && !out->is_apart;
        const struct cbsp_large large = {
            .n_bytes = kept->message.n_bytes,
            .address = is_read ? (uint64_t)(uintptr_t)kept->data : 0,
        };
        struct cbsp_message announcement = kept->message;

        announcement.data = &large;
        announcement.n_bytes = sizeof(large);
        rc = try_write(cbsp, out, kept->superstep, CBSP_LARGE, &announcement);
        if (rc != 0) {
            return rc;
        }
        kept->is_announced = true;
        kept->is_read = is_read;
    }
    return kept->is_read ? 0 : write_pieces(cbsp, out, kept);
}

/** Whether the superstep whose buffer is being written is the one that is being
 *  ended. */
static bool is_ending(const struct cbsp *cbsp, const struct cbsp_out *out)
{
    return cbsp->doing != CBSP_COMPUTING && out->superstep == cbsp->superstep;
}

/** Send what was kept for one process, as far as it can go. */
static int flush_one(struct cbsp *cbsp, struct cbsp_out *out)
{
    int rc = 0;

    while (rc == 0) {
        struct cbsp_kept *kept = out->queue.first;
        bool is_over = kept == NULL || kept->superstep != out->superstep;

        if (is_over && out->owes_end) {
            rc = is_ending(cbsp, out) && !out->is_full ? write_end(cbsp, out) : BLOCKED;
            continue;
        }
        if (kept == NULL) {
            break;
        }
        rc = push(cbsp, out, kept);
        if (rc == 0) {
            take_first(&out->queue);
        }
        if (rc == 0 && kept->is_read) {
            append(&out->unread, kept);
        } else if (rc == 0) {
            cbsp->n_queued[kept->superstep % 2]--;
            free(kept);
        }
    }
    return rc < 0 ? rc : 0;
}

/** Free large messages that their receiver has read. */
static void free_read(struct cbsp *cbsp, struct cbsp_out *out,
                      const struct cbsp_from *from)
{
    /* Pairs with the put of the receiver, which follows its reading. */
    uint64_t n_read = __atomic_load_n(&from->n_read, __ATOMIC_ACQUIRE);

    for (; out->n_read < n_read; out->n_read++) {
        struct cbsp_kept *kept = take_first(&out->unread);

        cbsp->n_queued[kept->superstep % 2]--;
        free(kept);
    }
}

/** Put the part of a large message that its receiver has asked for. */
static int stage_part(struct cbsp *cbsp, uint32_t node, uint64_t n_asked)
{
    struct cbsp_out *out = &cbsp->outs[node];
    struct cbsp_kept *kept = out->unread.first;
    uint64_t n_bytes = kept->message.n_bytes - kept->n_gone;
    int rc;

    if (n_bytes > cbsp->layout.buffer_bytes) {
        n_bytes = cbsp->layout.buffer_bytes;
    }
    out->is_apart = true;
    rc = put(cbsp, out, cbsp_stage_gva(&cbsp->layout, cbsp->pid),
             kept->data + kept->n_gone, n_bytes);
    kept->n_gone += n_bytes;
    out->n_staged = n_asked;
    return rc < 0 ? rc
                  : cbsp_tell(cbsp, node,
                              cbsp_from_gva(&cbsp->layout, cbsp->pid) +
                                  offsetof(struct cbsp_from, n_staged),
                              n_asked);
}

int cbsp_outbox_flush(struct cbsp *cbsp)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < cbsp->n_procs; i++) {
        struct cbsp_out *out = &cbsp->outs[i];
        uint64_t next = cbsp_key(out->superstep, out->lap + 1);
        /* Acquire pairs with the put of the receiver, which has read all before
         * that. */
        uint64_t n_asked = __atomic_load_n(&cbsp->from[i].n_asked, __ATOMIC_ACQUIRE);

        free_read(cbsp, out, &cbsp->from[i]);
        if (n_asked != out->n_staged) {
            rc = stage_part(cbsp, i, n_asked);
        }
        /* Acquire pairs with the put of the receiver, which has read the last lap. */
        if (out->is_full && is_ending(cbsp, out) &&
            __atomic_load_n(&cbsp->from[i].go_on, __ATOMIC_ACQUIRE) == next) {
            begin_lap(cbsp, out, out->superstep, out->lap + 1);
        }
        rc = rc < 0 ? rc : flush_one(cbsp, out);
    }
    return rc;
}

bool cbsp_outbox_is_visible(const struct cbsp *cbsp)
{
    for (uint32_t i = 0; cbsp->n_queued[cbsp->superstep % 2] != 0 && i < cbsp->n_procs;
         i++) {
        const struct cbsp_out *out = &cbsp->outs[i];

        if (out->queue.first != NULL &&
            out->queue.first->superstep == cbsp->superstep && !out->is_full) {
            return false;
        }
    }
    return true;
}

static int keep(struct cbsp *cbsp, struct cbsp_out *out,
                const struct cbsp_message *message)
{
    struct cbsp_kept *kept = NULL;

    if (message->n_bytes <= SIZE_MAX - sizeof(*kept)) {
        kept = malloc(sizeof(*kept) + message->n_bytes);
    }
    if (kept == NULL) {
        bcs_error("cBSP_send: no memory to keep a message of %zu bytes",
                  message->n_bytes);
        return -ENOMEM;
    }
    *kept = (struct cbsp_kept){.message = *message, .superstep = cbsp->sending};
    memcpy(kept->data, message->data, message->n_bytes);
    kept->message.data = kept->data;
    cbsp->n_queued[kept->superstep % 2]++;
    append(&out->queue, kept);
    return 0;
}

int cbsp_outbox_send(struct cbsp *cbsp, uint32_t node,
                     const struct cbsp_message *message)
{
    struct cbsp_out *out = &cbsp->outs[node];
    bool is_large = message->n_bytes > most_bytes(cbsp);
    bool is_first = out->queue.first == NULL;
    int rc = BLOCKED;

    cbsp->counts.n_large += is_large;
    if (is_first && !is_large) {
        rc = try_write(cbsp, out, cbsp->sending, CBSP_MESSAGE, message);
    }
    if (rc == BLOCKED) {
        rc = keep(cbsp, out, message);
        if (rc == 0 && is_first && is_large) {
            rc = flush_one(cbsp, out);
        }
    }
    if (rc == 0) {
        cbsp->n_sent[cbsp->sending % 2]++;
        cbsp->counts.n_messages_sent++;
        if (__builtin_expect(cbsp->collect != NULL, 0) &&
            message->handler != CBSP_PART) {
            const struct mds_message sent =
                cbsp_note_message(node, cbsp->sending, message);

            mds_sent(cbsp->collect, &sent);
        }
    }
    return rc;
}

void cbsp_outbox_fini(struct cbsp *cbsp)
{
    for (uint32_t i = 0; cbsp->outs != NULL && i < cbsp->n_procs; i++) {
        while (cbsp->outs[i].queue.first != NULL) {
            free(take_first(&cbsp->outs[i].queue));
        }
        while (cbsp->outs[i].unread.first != NULL) {
            free(take_first(&cbsp->outs[i].unread));
        }
    }
    free(cbsp->outs);
    cbsp->outs = NULL;
}
