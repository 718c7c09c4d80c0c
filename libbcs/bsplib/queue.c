/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages with tags. One goes to a handler that puts it into the list of its sender;
 * bsplib_queue_turn makes one queue of the lists.
 *
 * There are three sizes of tags: that of the messages in the queue, that of those that
 * are sent now, and that which was set last. Every superstep each takes the place of
 * the one before.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/bsplib/bsplib.h"
#include "libbcs/fabric/base/align.h"

/** A message; its tag and its payload, each aligned for any type, follow. */
struct bsplib_tagged {
    struct bsplib_tagged *next;
    size_t n_bytes; /* of the payload */
    _Alignas(16) uint8_t bytes[];
};

struct bsplib_tagged_list {
    struct bsplib_tagged *first, *last;
};

static size_t tag_room(int n_bytes)
{
    return bcs_align_up((size_t)n_bytes, 16);
}

static void free_all(struct bsplib_tagged *message)
{
    while (message != NULL) {
        struct bsplib_tagged *next = message->next;

        free(message);
        message = next;
    }
}

/** The data are the tag, of the size of the superstep, and the payload. */
static void receive(int srcNode, void *destAddr, int nBytes)
{
    struct bsplib *bsp = bsplib_self;
    struct bsplib_queue *messages = &bsp->queue;
    size_t n_tag = (size_t)messages->sending_tag, n_bytes = (size_t)nBytes - n_tag;
    size_t room = tag_room(messages->sending_tag);
    struct bsplib_tagged *message = malloc(sizeof(*message) + room + n_bytes);
    struct bsplib_tagged_list *list;

    if (messages->coming == NULL) {
        messages->coming = calloc((size_t)bsp->n_procs, sizeof(*messages->coming));
    }
    if (message == NULL || messages->coming == NULL) {
        bsp_abort("bsp_sync: no memory for a message of %d bytes\n", nBytes);
        return;
    }
    message->next = NULL;
    message->n_bytes = n_bytes;
    memcpy(message->bytes, destAddr, n_tag);
    memcpy(message->bytes + room, (const uint8_t *)destAddr + n_tag, n_bytes);
    list = &messages->coming[srcNode];
    if (list->first == NULL) {
        list->first = message;
    } else {
        list->last->next = message;
    }
    list->last = message;
}

void bsplib_queue_turn(struct bsplib *bsp)
{
    struct bsplib_queue *messages = &bsp->queue;

    free_all(messages->first);
    free_all(messages->taken);
    messages->first = NULL;
    messages->taken = NULL;
    for (int i = 0; messages->coming != NULL && i < bsp->n_procs; i++) {
        struct bsplib_tagged_list *list = &messages->coming[i];

        if (list->first != NULL) {
            list->last->next = messages->first;
            messages->first = list->first;
            *list = (struct bsplib_tagged_list){0};
        }
    }
    messages->queue_tag = messages->sending_tag;
    messages->sending_tag = messages->set_tag;
    messages->n_set = 0;
}

void bsplib_queue_fini(struct bsplib *bsp)
{
    bsplib_queue_turn(bsp);
    bsplib_queue_turn(bsp);
    free(bsp->queue.coming);
    bsp->queue.coming = NULL;
}

void bsplib_call_set_tagsize(int *tag_nbytes)
{
    struct bsplib *bsp = bsplib_check("bsp_set_tagsize");
    struct bsplib_queue *messages = &bsp->queue;
    int before = messages->set_tag;

    if (tag_nbytes == NULL || *tag_nbytes < 0) {
        bsp_abort("bsp_set_tagsize: %s\n", tag_nbytes == NULL
                                               ? "the size's address is NULL"
                                               : "the size may not be negative");
        return;
    }
    messages->set_tag = *tag_nbytes;
    messages->n_set++;
    bsp->bits |= BSPLIB_REGISTERS;
    *tag_nbytes = before;
}

void bsplib_call_send(int pid, const void *tag, const void *payload, int payload_nbytes)
{
    const struct bsplib *bsp = bsplib_check("bsp_send");
    const struct bsplib_queue *messages = &bsp->queue;
    uint8_t small[256], *data = small;
    size_t n_tag = (size_t)messages->sending_tag, n_bytes;

    bsplib_check_pid(bsp, "bsp_send", pid);
    if (payload_nbytes < 0 || payload_nbytes > INT_MAX - messages->sending_tag) {
        bsp_abort("bsp_send: a payload of %d bytes; allowed are 0 to %d\n",
                  payload_nbytes, INT_MAX - messages->sending_tag);
    }
    if ((tag == NULL && n_tag != 0) || (payload == NULL && payload_nbytes != 0)) {
        bsp_abort("bsp_send: tag or payload is NULL, but not its size\n");
    }
    n_bytes = n_tag + (size_t)payload_nbytes;
    if (n_bytes > sizeof(small)) {
        data = malloc(n_bytes);
    }
    if (data == NULL) {
        bsp_abort("bsp_send: no memory for %zu bytes\n", n_bytes);
        return;
    }
    if (n_tag != 0) {
        memcpy(data, tag, n_tag);
    }
    if (payload_nbytes != 0) {
        memcpy(data + n_tag, payload, (size_t)payload_nbytes);
    }
    bsplib_send("bsp_send", pid,
                &(struct bsplib_message){.data = data, .n_bytes = n_bytes}, receive);
    if (data != small) {
        free(data);
    }
}

void bsp_qsize(int *nmessages, int *accum_nbytes)
{
    const struct bsplib_queue *messages = &bsplib_check("bsp_qsize")->queue;
    size_t n_messages = 0, n_bytes = 0;

    if (nmessages == NULL || accum_nbytes == NULL) {
        bsp_abort("bsp_qsize: neither argument may be NULL\n");
        return;
    }
    for (const struct bsplib_tagged *m = messages->first; m != NULL; m = m->next) {
        n_messages++;
        n_bytes += m->n_bytes;
    }
    if (n_messages > INT_MAX || n_bytes > INT_MAX) {
        bsp_abort("bsp_qsize: %zu messages of %zu bytes do not fit into an int\n",
                  n_messages, n_bytes);
    }
    *nmessages = (int)n_messages;
    *accum_nbytes = (int)n_bytes;
}

void bsp_get_tag(int *status, void *tag)
{
    const struct bsplib_queue *messages = &bsplib_check("bsp_get_tag")->queue;
    const struct bsplib_tagged *first = messages->first;

    if (status == NULL) {
        bsp_abort("bsp_get_tag: the address of the status is NULL\n");
        return;
    }
    if (first == NULL) {
        *status = -1;
        return;
    }
    if (tag == NULL && messages->queue_tag != 0) {
        bsp_abort("bsp_get_tag: the address of the tag is NULL, but it has %d bytes\n",
                  messages->queue_tag);
        return;
    }
    *status = (int)first->n_bytes;
    if (messages->queue_tag != 0) {
        memcpy(tag, first->bytes, (size_t)messages->queue_tag);
    }
}

/** Take the first message out of the queue; it is freed when the superstep ends. */
static struct bsplib_tagged *take(struct bsplib_queue *messages)
{
    struct bsplib_tagged *first = messages->first;

    messages->first = first->next;
    first->next = messages->taken;
    messages->taken = first;
    return first;
}

void bsp_move(void *payload, int reception_nbytes)
{
    struct bsplib_queue *messages = &bsplib_check("bsp_move")->queue;
    const struct bsplib_tagged *first;
    size_t n_bytes;

    if (reception_nbytes < 0 || (payload == NULL && reception_nbytes != 0)) {
        bsp_abort("bsp_move: %d bytes%s\n", reception_nbytes,
                  payload == NULL ? " to NULL" : "; the size may not be negative");
    }
    if (messages->first == NULL) {
        bsp_abort("bsp_move: the queue is empty\n");
    }
    first = take(messages);
    n_bytes = (size_t)reception_nbytes;
    n_bytes = n_bytes < first->n_bytes ? n_bytes : first->n_bytes;
    if (n_bytes != 0) {
        memcpy(payload, first->bytes + tag_room(messages->queue_tag), n_bytes);
    }
}

int bsp_hpmove(void **tag_ptr, void **payload_ptr)
{
    struct bsplib_queue *messages = &bsplib_check("bsp_hpmove")->queue;
    struct bsplib_tagged *first;

    if (tag_ptr == NULL || payload_ptr == NULL) {
        bsp_abort("bsp_hpmove: neither argument may be NULL\n");
        return -1;
    }
    if (messages->first == NULL) {
        return -1;
    }
    first = take(messages);
    *tag_ptr = first->bytes;
    *payload_ptr = first->bytes + tag_room(messages->queue_tag);
    return (int)first->n_bytes;
}
