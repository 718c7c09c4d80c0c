/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking messages out of the buffers of the superstep that is being ended: one for each
 * sender, read from its top downwards as far as there are keys. Data are written to
 * their destination, and handlers run, here and nowhere else. Called by both
 * synchronizations.
 *
 * More messages than were counted are noticed in one of three ways: they are there when
 * the count has been reached (cbsp_sync.c) or when the next superstep is ended
 * (cbsp_inbox_begin); or their sender's next message has another sequence number than
 * is due. What even comes after that, cBSP_finalize finds by the number of messages in
 * all (cbsp_job.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/cbsp/notes.h"
#include "libbcs/fabric/base/notice.h"
#include "libbcs/fabric/copy/process_copy.h"

static bool has_key(const struct cbsp_in *in)
{
    /* Pairs with the store of the last word of a message's block. */
    return __atomic_load_n(in->key_at, __ATOMIC_ACQUIRE) == in->key;
}

static const struct cbsp_trailer *trailer_at(const uint64_t *key_at)
{
    return (const struct cbsp_trailer *)(const void *)(key_at + 1) - 1;
}

static enum cbsp_kind kind_of(const struct cbsp_trailer *trailer)
{
    return (enum cbsp_kind)(trailer->size >> CBSP_KIND_SHIFT);
}

static const uint64_t *top_of(const struct cbsp *cbsp, uint32_t sender)
{
    uint64_t top = cbsp_buffer_top(&cbsp->layout, sender, cbsp->superstep);

    return bcs_core_address(cbsp->core, top - sizeof(uint64_t));
}

static int fail_late(struct cbsp *cbsp, uint32_t sender, uint64_t superstep)
{
    bcs_error("superstep %" PRIu64 ": more messages than cBSP_nsync has counted: there "
              "are others of process %" PRIu32,
              superstep, sender);
    return cbsp_end_job(cbsp, -EPROTO);
}

int cbsp_inbox_begin(struct cbsp *cbsp)
{
    for (uint32_t i = 0; i < cbsp->n_procs; i++) {
        struct cbsp_in *in = &cbsp->ins[i];

        if (in->key_at != NULL && has_key(in) &&
            kind_of(trailer_at(in->key_at)) != CBSP_END) {
            return fail_late(cbsp, i, cbsp->superstep - 1);
        }
        in->key_at = top_of(cbsp, i);
        in->key = cbsp_key(cbsp->superstep, 0);
        in->lap = 0;
    }
    cbsp->n_taken = 0;
    cbsp->n_open = 0;
    return 0;
}

/** The data of a message are at address: run its handler, and count it. */
static int finish(struct cbsp *cbsp, uint32_t sender,
                  const struct cbsp_message *message, void *address)
{
    cbsp->n_taken++;
    cbsp->counts.n_messages_taken++;
    if (__builtin_expect(cbsp->collect != NULL, 0) && message->handler != CBSP_PART) {
        const struct mds_message received =
            cbsp_note_message(sender, cbsp->superstep, message);

        mds_received(cbsp->collect, &received);
    }
    if (message->handler == CBSP_PART) {
        cbsp_parts_take(cbsp, sender, address, message->n_bytes);
    } else if (message->handler != 0) {
        cBSP_handler_fn handler = cbsp_handler_find(&cbsp->handlers, message->handler);
        enum cbsp_doing doing = cbsp->doing;

        if (handler == NULL) {
            bcs_error(
                "superstep %" PRIu64 ": a message of process %" PRIu32 " has a "
                "handler in a program or library that this process has not loaded",
                cbsp->superstep, sender);
            return cbsp_end_job(cbsp, -ENOEXEC);
        }
        cbsp->doing = CBSP_HANDLING;
        handler((int)sender, address, (int)message->n_bytes);
        cbsp->doing = doing;
    }
    return cbsp->error;
}

static int take_message(struct cbsp *cbsp, uint32_t sender,
                        const struct cbsp_trailer *trailer, uint8_t *data)
{
    const struct cbsp_message message = {
        .dest = trailer->dest,
        .handler = trailer->handler,
        .n_bytes = trailer->size & CBSP_SIZE_MASK,
    };
    void *dest = (void *)(uintptr_t)message.dest; // NOLINT: the sender has checked it

    if (dest == NULL) {
        return finish(cbsp, sender, &message, data);
    }
    memcpy(dest, data, message.n_bytes);
    return finish(cbsp, sender, &message, dest);
}

/** The data of a large message are complete. */
static int finish_large(struct cbsp *cbsp, uint32_t sender, struct cbsp_in *in)
{
    uint8_t *data = in->large_data;
    int rc;

    in->large_data = NULL;
    rc = finish(cbsp, sender, &in->large, data);
    if (in->owns_large) {
        free(data);
    }
    return rc;
}

/** Ask for the next part of a large message that we may not read. */
static int ask_for_part(struct cbsp *cbsp, uint32_t sender)
{
    struct cbsp_in *in = &cbsp->ins[sender];
    uint64_t gva =
        cbsp_from_gva(&cbsp->layout, cbsp->pid) + offsetof(struct cbsp_from, n_asked);

    return cbsp_tell(cbsp, sender, gva, ++in->n_asked);
}

/** The data of a large message were to be read by us, and are complete. */
static int finish_read(struct cbsp *cbsp, uint32_t sender)
{
    struct cbsp_in *in = &cbsp->ins[sender];
    uint64_t gva =
        cbsp_from_gva(&cbsp->layout, cbsp->pid) + offsetof(struct cbsp_from, n_read);
    int rc = cbsp_tell(cbsp, sender, gva, ++in->n_read);

    return rc < 0 ? rc : finish_large(cbsp, sender, in);
}

/** Take a part of a large message from the stage buffer, if it has come. */
static int take_part(struct cbsp *cbsp, uint32_t sender)
{
    struct cbsp_in *in = &cbsp->ins[sender];
    uint64_t n_bytes = in->large.n_bytes - in->n_large;

    /* Acquire pairs with the put of the sender, which follows that of the data. */
    if (__atomic_load_n(&cbsp->from[sender].n_staged, __ATOMIC_ACQUIRE) !=
        in->n_asked) {
        return 0;
    }
    if (n_bytes > cbsp->layout.buffer_bytes) {
        n_bytes = cbsp->layout.buffer_bytes;
    }
    memcpy(in->large_data + in->n_large,
           bcs_core_address(cbsp->core, cbsp_stage_gva(&cbsp->layout, sender)),
           n_bytes);
    in->n_large += n_bytes;
    if (in->n_large < in->large.n_bytes) {
        return ask_for_part(cbsp, sender);
    }
    in->is_staged = false;
    cbsp->n_open--;
    return finish_read(cbsp, sender);
}

/** A message cannot be read in its sender's memory: have it sent, and leave all that
 *  comes after it where it is until then. What is wrong with our own memory, if
 *  anything, shows when we write there. */
static int begin_parts(struct cbsp *cbsp, uint32_t sender, int error)
{
    struct cbsp_in *in = &cbsp->ins[sender];

    if (!in->is_apart) {
        in->is_apart = true;
        bcs_notice(BCS_NOTICE_COPY_REFUSED,
                   "process %" PRIu32 " may not read the memory of process %" PRIu32
                   ": %s",
                   cbsp->pid, sender, strerror(error));
    }
    in->n_large = 0;
    in->is_staged = true;
    cbsp->n_open++;
    return ask_for_part(cbsp, sender);
}

/** Read a large message in its sender's memory, and tell that. */
static int read_large(struct cbsp *cbsp, uint32_t sender, uint64_t address)
{
    struct cbsp_in *in = &cbsp->ins[sender];
    uint64_t n_done;
    int rc;

    if (in->is_apart) {
        return begin_parts(cbsp, sender, 0);
    }
    rc = bcs_copy_read((pid_t)cbsp->from[sender].pid, address, in->large_data,
                       in->large.n_bytes, &n_done);
    if (rc == -ESRCH) {
        bcs_error("superstep %" PRIu64 ": cannot read a message of %zu bytes in the "
                  "memory of process %" PRIu32 ", which has ended",
                  cbsp->superstep, in->large.n_bytes, sender);
        return cbsp_end_job(cbsp, -ESRCH);
    }
    return rc < 0 ? begin_parts(cbsp, sender, -rc) : finish_read(cbsp, sender);
}

static int take_large(struct cbsp *cbsp, uint32_t sender,
                      const struct cbsp_trailer *trailer, const uint8_t *data)
{
    struct cbsp_in *in = &cbsp->ins[sender];
    struct cbsp_large large;

    memcpy(&large, data, sizeof(large));
    in->large = (struct cbsp_message){
        .dest = trailer->dest,
        .handler = trailer->handler,
        .n_bytes = large.n_bytes,
    };
    in->owns_large = trailer->dest == 0;
    in->large_data = in->owns_large ? malloc(large.n_bytes)
                                    : (void *)(uintptr_t)trailer->dest; // NOLINT
    in->n_large = 0;
    if (in->large_data == NULL) {
        bcs_error("superstep %" PRIu64 ": no memory for a message of %" PRIu64 " bytes",
                  cbsp->superstep, large.n_bytes);
        return cbsp_end_job(cbsp, -ENOMEM);
    }
    if (large.address == 0) {
        cbsp->n_open++;
        return 0;
    }
    return read_large(cbsp, sender, large.address);
}

static int take_piece(struct cbsp *cbsp, uint32_t sender,
                      const struct cbsp_trailer *trailer, const uint8_t *data)
{
    struct cbsp_in *in = &cbsp->ins[sender];
    uint32_t n_bytes = trailer->size & CBSP_SIZE_MASK;

    memcpy(in->large_data + in->n_large, data, n_bytes);
    in->n_large += n_bytes;
    if (in->n_large < in->large.n_bytes) {
        return 0;
    }
    cbsp->n_open--;
    return finish_large(cbsp, sender, in);
}

/** The sender's buffer is full, and all of it taken: it may go on from the top. */
static int take_overflow(struct cbsp *cbsp, uint32_t sender)
{
    struct cbsp_in *in = &cbsp->ins[sender];
    uint64_t gva =
        cbsp_from_gva(&cbsp->layout, cbsp->pid) + offsetof(struct cbsp_from, go_on);

    cbsp->n_open += in->lap == 0;
    in->lap++;
    in->key = cbsp_key(cbsp->superstep, in->lap);
    in->key_at = top_of(cbsp, sender);
    return cbsp_tell(cbsp, sender, gva, in->key);
}

static int fail_lost(struct cbsp *cbsp, uint32_t sender,
                     const struct cbsp_trailer *trailer)
{
    bcs_error("superstep %" PRIu64
              ": more messages than cBSP_nsync has counted: process "
              "%" PRIu32 " has sent %" PRIu32 " in earlier supersteps that were not",
              cbsp->superstep, sender,
              trailer->sequence - (uint32_t)cbsp->ins[sender].n_messages);
    return cbsp_end_job(cbsp, -EPROTO);
}

/** Take the message whose key is there. */
static int take_one(struct cbsp *cbsp, uint32_t sender)
{
    struct cbsp_in *in = &cbsp->ins[sender];
    const struct cbsp_trailer *trailer = trailer_at(in->key_at);
    uint8_t *data =
        (uint8_t *)(uintptr_t)trailer - cbsp_padded(trailer->size & CBSP_SIZE_MASK);

    if (trailer->sequence != (uint32_t)in->n_messages) {
        return fail_lost(cbsp, sender, trailer);
    }
    if (cbsp->outs[sender].n_ended < cbsp->superstep) {
        cbsp->outs[sender].n_ended = cbsp->superstep;
    }
    in->key_at = (const uint64_t *)(const void *)data - 1;
    switch (kind_of(trailer)) {
    case CBSP_MESSAGE:
        in->n_messages++;
        return take_message(cbsp, sender, trailer, data);
    case CBSP_LARGE:
        in->n_messages++;
        return take_large(cbsp, sender, trailer, data);
    case CBSP_PIECE:
        return take_piece(cbsp, sender, trailer, data);
    case CBSP_OVERFLOW:
        return take_overflow(cbsp, sender);
    case CBSP_END:
        cbsp->n_open--;
        return 0;
    }
    return cbsp_end_job(cbsp, -EPROTO);
}

int cbsp_inbox_take(struct cbsp *cbsp)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < cbsp->n_procs; i++) {
        const struct cbsp_in *in = &cbsp->ins[i];

        if (__builtin_expect(in->is_staged, 0)) {
            rc = take_part(cbsp, i);
        }
        while (rc == 0 && !in->is_staged && has_key(in)) {
            rc = take_one(cbsp, i);
        }
    }
    return rc;
}

void cbsp_inbox_fini(struct cbsp *cbsp)
{
    for (uint32_t i = 0; cbsp->ins != NULL && i < cbsp->n_procs; i++) {
        if (cbsp->ins[i].large_data != NULL && cbsp->ins[i].owns_large) {
            free(cbsp->ins[i].large_data);
        }
    }
    free(cbsp->ins);
    cbsp->ins = NULL;
}
