/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets. All are checked at the process that makes them, which knows the
 * registrations of all.
 *
 * A buffered put goes to a handler that keeps it until bsplib_remote_apply; a request
 * goes to one that answers with the bytes as they are, and the answer is kept, too. So
 * gets are written before puts, and both in the order of processes, however they have
 * come.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/bsplib/bsplib.h"
#include "libbcs/fabric/base/align.h"

/** In front of data that are to be written later. */
struct header {
    uint64_t dest;
    uint64_t n_bytes;
};

/** Data of one sender that are to be written later, one after the other with
 *  headers. */
struct bsplib_log {
    uint8_t *bytes;
    size_t n_bytes, n_room;
};

/** What a process asks for. */
struct request {
    uint64_t source; /* here */
    struct header answer;
    uint64_t is_ordered;
};

/** Bytes that a block takes in a log, so that the next one is aligned. */
static size_t padded(size_t n_bytes)
{
    return bcs_align_up(n_bytes, sizeof(uint64_t));
}

/** Append a block to the log of its sender. */
static void keep(struct bsplib *bsp, struct bsplib_log **logs, int sender,
                 const void *bytes, size_t n_bytes)
{
    size_t needed, n_taken = padded(n_bytes);
    struct bsplib_log *log;

    if (*logs == NULL) {
        *logs = calloc((size_t)bsp->n_procs, sizeof(**logs));
    }
    if (*logs == NULL) {
        bsp_abort("bsp_sync: out of memory\n");
        return;
    }
    log = &(*logs)[sender];
    needed = log->n_bytes + n_taken;
    if (needed > log->n_room) {
        size_t n_room = needed + needed / 2 + 4096;
        uint8_t *grown = realloc(log->bytes, n_room);

        if (grown == NULL) {
            bsp_abort("bsp_sync: no memory for %zu bytes of process %d\n", needed,
                      sender);
            return;
        }
        log->bytes = grown;
        log->n_room = n_room;
    }
    memcpy(log->bytes + log->n_bytes, bytes, n_bytes);
    log->n_bytes = needed;
}

static void keep_put(int srcNode, void *destAddr, int nBytes)
{
    keep(bsplib_self, &bsplib_self->puts, srcNode, destAddr, (size_t)nBytes);
}

static void keep_got(int srcNode, void *destAddr, int nBytes)
{
    keep(bsplib_self, &bsplib_self->gots, srcNode, destAddr, (size_t)nBytes);
}

/** Write what is in the logs, in the order of the senders, and empty them. */
static void write_logs(const struct bsplib *bsp, struct bsplib_log *logs)
{
    for (int i = 0; logs != NULL && i < bsp->n_procs; i++) {
        for (size_t done = 0; done < logs[i].n_bytes;) {
            struct header header;
            const uint8_t *data = logs[i].bytes + done + sizeof(header);

            memcpy(&header, logs[i].bytes + done, sizeof(header));
            memcpy((void *)(uintptr_t)header.dest, data, header.n_bytes); // NOLINT
            done += sizeof(header) + padded(header.n_bytes);
        }
        logs[i].n_bytes = 0;
    }
}

void bsplib_remote_apply(struct bsplib *bsp)
{
    write_logs(bsp, bsp->gots);
    write_logs(bsp, bsp->puts);
}

void bsplib_remote_fini(struct bsplib *bsp)
{
    for (int i = 0; i < bsp->n_procs; i++) {
        free(bsp->puts == NULL ? NULL : bsp->puts[i].bytes);
        free(bsp->gots == NULL ? NULL : bsp->gots[i].bytes);
    }
    free(bsp->puts);
    free(bsp->gots);
    bsp->puts = NULL;
    bsp->gots = NULL;
}

/** Send data that are to be written later, by a handler that keeps them. */
static void send_kept(const char *caller, int pid, const struct header *header,
                      const void *data, cBSP_handler_fn handler)
{
    uint8_t small[256], *bytes = small;
    size_t n_bytes = sizeof(*header) + header->n_bytes;

    if (n_bytes > sizeof(small)) {
        bytes = malloc(n_bytes);
    }
    if (bytes == NULL || n_bytes > INT_MAX) {
        bsp_abort("%s: no memory for %zu bytes\n", caller, n_bytes);
        return;
    }
    memcpy(bytes, header, sizeof(*header));
    memcpy(bytes + sizeof(*header), data, header->n_bytes);
    bsplib_send(caller, pid,
                &(struct bsplib_message){.data = bytes, .n_bytes = n_bytes}, handler);
    if (bytes != small) {
        free(bytes);
    }
}

/** Answer a request with the bytes as they are now. */
static void answer(int srcNode, void *destAddr, int nBytes)
{
    const struct request *request = destAddr;
    const void *source = (const void *)(uintptr_t)request->source; // NOLINT: checked

    (void)nBytes;
    if (request->is_ordered != 0) {
        send_kept("bsp_get", srcNode, &request->answer, source, keep_got);
        return;
    }
    bsplib_send("bsp_hpget", srcNode,
                &(struct bsplib_message){
                    .dest = request->answer.dest,
                    .data = source,
                    .n_bytes = request->answer.n_bytes,
                },
                NULL);
}

/** Check what both have in common. @return the other process's address */
static uint64_t check(struct bsplib *bsp, const char *caller, int pid,
                      const struct bsplib_place *place)
{
    bsplib_check_pid(bsp, caller, pid);
    if (place->offset < 0 || place->n_bytes < 0) {
        bsp_abort("%s: offset %d, %d bytes; neither may be negative\n", caller,
                  place->offset, place->n_bytes);
    }
    return bsplib_registered(bsp, caller, pid, place);
}

void bsplib_call_put(int pid, const void *src, void *dst, int offset, int nbytes)
{
    struct bsplib *bsp = bsplib_check("bsp_put");
    struct header header = {.n_bytes = (uint64_t)nbytes};

    if (nbytes == 0) {
        return;
    }
    header.dest =
        check(bsp, "bsp_put", pid, &(struct bsplib_place){dst, offset, nbytes});
    send_kept("bsp_put", pid, &header, src, keep_put);
}

void bsplib_call_hpput(int pid, const void *src, void *dst, int offset, int nbytes)
{
    struct bsplib *bsp = bsplib_check("bsp_hpput");

    if (nbytes == 0) {
        return;
    }
    bsplib_send("bsp_hpput", pid,
                &(struct bsplib_message){
                    .dest = check(bsp, "bsp_hpput", pid,
                                  &(struct bsplib_place){dst, offset, nbytes}),
                    .data = src,
                    .n_bytes = (size_t)nbytes,
                },
                NULL);
}

/** Send a request. @param request  but for the source */
static void get(const char *caller, int pid, const void *src, int offset,
                struct request *request)
{
    struct bsplib *bsp = bsplib_check(caller);
    const struct bsplib_place place = {src, offset,
                                       (int)(int64_t)request->answer.n_bytes};

    if (request->answer.n_bytes == 0) {
        return;
    }
    request->source = check(bsp, caller, pid, &place);
    bsplib_send(caller, pid,
                &(struct bsplib_message){.data = request, .n_bytes = sizeof(*request)},
                answer);
    bsp->n_gets++;
    bsp->bits |= BSPLIB_GETS;
}

void bsplib_call_get(int pid, const void *src, int offset, void *dst, int nbytes)
{
    struct request request = {
        .answer = {(uint64_t)(uintptr_t)dst, (uint64_t)nbytes},
        .is_ordered = 1,
    };

    get("bsp_get", pid, src, offset, &request);
}

void bsplib_call_hpget(int pid, const void *src, int offset, void *dst, int nbytes)
{
    struct request request = {.answer = {(uint64_t)(uintptr_t)dst, (uint64_t)nbytes}};

    get("bsp_hpget", pid, src, offset, &request);
}
