/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages with tags. One goes to a handler that puts it into the list of its sender;
 * bsplib_queue_turn makes one queue of the lists.
 *
 * There are three sizes of tags: that of the messages in the queue, that of those that are
 * sent now, and that which was set last. Every superstep each takes the place of the one
 * before.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/bsplib/bsplib.h"

/** A message; its tag and its payload, each aligned for any type, follow. */
struct tagged {
    struct tagged *next;
    size_t n_bytes; /* of the payload */
    _Alignas(16) uint8_t bytes[];
};

struct list {
    struct tagged *first, *last;
};

static struct {
    struct list *coming; /* [n_procs] by sender; NULL before the first message */
    struct tagged *queue;
    struct tagged *taken; /* in this superstep, by bsp_hpmove: still the program's */
    int queue_tag, sending_tag, set_tag;
    int n_set; /* calls of bsp_set_tagsize in this superstep */
} messages;

static size_t tag_room(int n_bytes)
{
    return ((size_t)n_bytes + 15) & ~(size_t)15;
}

static void free_all(struct tagged *message)
{
    while (message != NULL) {
        struct tagged *next = message->next;

        free(message);
        message = next;
    }
}

/** The data are the tag, of the size of the superstep, and the payload. */
static void receive(int srcNode, void *destAddr, int nBytes)
{
    size_t n_tag = (size_t)messages.sending_tag, n_bytes = (size_t)nBytes - n_tag;
    size_t room = tag_room(messages.sending_tag);
    struct tagged *message = malloc(sizeof(*message) + room + n_bytes);
    struct list *list;

    if (messages.coming == NULL) {
        messages.coming = calloc((size_t)bsplib.n_procs, sizeof(*messages.coming));
    }
    if (message == NULL || messages.coming == NULL) {
        bsp_abort("bsp_sync: no memory for a message of %d bytes\n", nBytes);
        return;
    }
    message->next = NULL;
    message->n_bytes = n_bytes;
    memcpy(message->bytes, destAddr, n_tag);
    memcpy(message->bytes + room, (const uint8_t *)destAddr + n_tag, n_bytes);
    list = &messages.coming[srcNode];
    if (list->first == NULL) {
        list->first = message;
    } else {
        list->last->next = message;
    }
    list->last = message;
}

void bsplib_queue_turn(void)
{
    free_all(messages.queue);
    free_all(messages.taken);
    messages.queue = NULL;
    messages.taken = NULL;
    for (int i = 0; messages.coming != NULL && i < bsplib.n_procs; i++) {
        struct list *list = &messages.coming[i];

        if (list->first != NULL) {
            list->last->next = messages.queue;
            messages.queue = list->first;
            *list = (struct list){0};
        }
    }
    messages.queue_tag = messages.sending_tag;
    messages.sending_tag = messages.set_tag;
    messages.n_set = 0;
}

void bsplib_queue_fini(void)
{
    bsplib_queue_turn();
    bsplib_queue_turn();
    free(messages.coming);
    messages.coming = NULL;
}

void bsplib_tagsize(int *n_calls_out, int *tagsize_out)
{
    *n_calls_out = messages.n_set;
    *tagsize_out = messages.set_tag;
}

void bsp_set_tagsize(int *tag_nbytes)
{
    int before = messages.set_tag;

    bsplib_check("bsp_set_tagsize");
    if (tag_nbytes == NULL || *tag_nbytes < 0) {
        bsp_abort("bsp_set_tagsize: %s\n", tag_nbytes == NULL
                                               ? "the size's address is NULL"
                                               : "the size may not be negative");
        return;
    }
    messages.set_tag = *tag_nbytes;
    messages.n_set++;
    bsplib.bits |= BSPLIB_REGISTERS;
    *tag_nbytes = before;
}

void bsp_send(int pid, const void *tag, const void *payload, int payload_nbytes)
{
    uint8_t small[256], *data = small;
    size_t n_tag = (size_t)messages.sending_tag, n_bytes;

    bsplib_check("bsp_send");
    bsplib_check_pid("bsp_send", pid);
    if (payload_nbytes < 0 || payload_nbytes > INT_MAX - messages.sending_tag) {
        bsp_abort("bsp_send: a payload of %d bytes; allowed are 0 to %d\n",
                  payload_nbytes, INT_MAX - messages.sending_tag);
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
    size_t n_messages = 0, n_bytes = 0;

    bsplib_check("bsp_qsize");
    if (nmessages == NULL || accum_nbytes == NULL) {
        bsp_abort("bsp_qsize: neither argument may be NULL\n");
        return;
    }
    for (const struct tagged *m = messages.queue; m != NULL; m = m->next) {
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
    const struct tagged *first = messages.queue;

    bsplib_check("bsp_get_tag");
    if (status == NULL) {
        bsp_abort("bsp_get_tag: the address of the status is NULL\n");
        return;
    }
    if (first == NULL) {
        *status = -1;
        return;
    }
    if (tag == NULL && messages.queue_tag != 0) {
        bsp_abort("bsp_get_tag: the address of the tag is NULL, but it has %d bytes\n",
                  messages.queue_tag);
        return;
    }
    *status = (int)first->n_bytes;
    if (messages.queue_tag != 0) {
        memcpy(tag, first->bytes, (size_t)messages.queue_tag);
    }
}

/** Take the first message out of the queue; it is freed when the superstep ends. */
static struct tagged *take(void)
{
    struct tagged *first = messages.queue;

    messages.queue = first->next;
    first->next = messages.taken;
    messages.taken = first;
    return first;
}

void bsp_move(void *payload, int reception_nbytes)
{
    const struct tagged *first;
    size_t n_bytes;

    bsplib_check("bsp_move");
    if (reception_nbytes < 0 || (payload == NULL && reception_nbytes != 0)) {
        bsp_abort("bsp_move: %d bytes%s\n", reception_nbytes,
                  payload == NULL ? " to NULL" : "; the size may not be negative");
    }
    if (messages.queue == NULL) {
        bsp_abort("bsp_move: the queue is empty\n");
    }
    first = take();
    n_bytes = (size_t)reception_nbytes;
    n_bytes = n_bytes < first->n_bytes ? n_bytes : first->n_bytes;
    if (n_bytes != 0) {
        memcpy(payload, first->bytes + tag_room(messages.queue_tag), n_bytes);
    }
}

int bsp_hpmove(void **tag_ptr, void **payload_ptr)
{
    struct tagged *first;

    bsplib_check("bsp_hpmove");
    if (tag_ptr == NULL || payload_ptr == NULL) {
        bsp_abort("bsp_hpmove: neither argument may be NULL\n");
        return -1;
    }
    if (messages.queue == NULL) {
        return -1;
    }
    first = take();
    *tag_ptr = first->bytes;
    *payload_ptr = first->bytes + tag_room(messages.queue_tag);
    return (int)first->n_bytes;
}
