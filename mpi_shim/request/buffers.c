/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches the buffers of pending operations; see buffers.h. What is watched is in a
 * list: programs that are looked at so have few operations pending, and each new one is
 * compared with all anyhow.
 */
#include "mpi_shim/request/buffers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/report/finding.h"
#include "libbcs/report/lines.h"
#include "mpi_shim/collective/exchange_forms.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/real/shim_module.h"
#include "mpi_shim/request/buffer_region.h"
#include "mpi_shim/request/request.h"

enum { TOLD_MOST = 20, PATH_BYTES = 1024, WHAT_BYTES = 160 };

/** A call of the program. */
struct call {
    const char *function; /* "MPI_Isend"; NULL: not known */
    uintptr_t address;    /* that it returns to */
    const char *words;    /* for the place of it; NULL: it is one of code */
};

/** Buffers of one operation that are only sent, or that are received into. */
struct watch {
    const struct shim_request *request;
    bool is_output;
    bool is_shared; /* with another operation, which has been told: changes mean nothing
                     */
    struct call posted;
    char what[WHAT_BYTES]; /* "to rank 2, tag 7" */
    struct shim_region region;
    struct watch *next;
};

/** What has been told: it is told once. */
struct told {
    uintptr_t first, second;
    bool is_output;
};

struct room {
    struct shim_buffers buffers; /* what request.c knows of it */
    struct watch *watches;
    struct told told[TOLD_MOST];
    uint32_t n_told;
    uint64_t n_more;
    bool is_short; /* of memory, which has been told */
};

static struct room *own_room(void)
{
    return (struct room *)shim_state.buffers;
}

int shim_buffers_start(void)
{
    struct room *room = calloc(1, sizeof(*room));

    if (room == NULL) {
        return -ENOMEM;
    }
    room->buffers.check = shim_buffers_check;
    shim_state.buffers = &room->buffers;
    return 0;
}

static void watch_free(struct watch *watch)
{
    if (watch != NULL) {
        for (size_t i = 0; i < watch->region.n; i++) {
            shim_datatype_release(watch->region.pieces[i].type);
        }
        shim_region_fini(&watch->region);
        free(watch);
    }
}

void shim_buffers_stop(void)
{
    struct room *room = own_room();

    if (room == NULL) {
        return;
    }
    shim_state.buffers = NULL;
    if (room->n_more > 0) {
        bcs_warn("buffers: the same was found %llu more times",
                 (unsigned long long)room->n_more);
    }
    while (room->watches != NULL) {
        struct watch *watch = room->watches;

        room->watches = watch->next;
        watch_free(watch);
    }
    free(room);
}

/* ---------------------------------------------------------------------------
 * telling */

/** Whether something is told for the first time; and note it. */
static bool is_new(struct told told)
{
    struct room *room = own_room();

    for (uint32_t i = 0; i < room->n_told; i++) {
        const struct told *before = &room->told[i];

        if (before->first == told.first && before->second == told.second &&
            before->is_output == told.is_output) {
            room->n_more++;
            return false;
        }
    }
    if (room->n_told == TOLD_MOST) {
        room->n_more++;
        return false;
    }
    room->told[room->n_told++] = told;
    return true;
}

/** A call with its line. */
struct spot {
    const char *function;
    struct bcs_line line;
    char path[PATH_BYTES]; /* of the file of code */
};

/** Find where a call is. @param spot_out  end with spot_fini */
static void spot_find(const struct call *call, struct spot *spot_out)
{
    struct spot *spot = spot_out;

    *spot =
        (struct spot){.function = call->function == NULL ? "a call" : call->function};
    if (call->words != NULL) {
        spot->line.text = strdup(call->words);
        return;
    }
    if (shim_module_find(call->address, spot->path, sizeof(spot->path),
                         &spot->line.offset)) {
        spot->line.path = spot->path;
    }
    bcs_lines_find(&spot->line, 1);
}

static void spot_fini(struct spot *spot)
{
    free(spot->line.text);
    free(spot->line.file);
}

/** "main, file.c:12" */
static const char *words_of(const struct spot *spot)
{
    return spot->line.text == NULL ? "?" : spot->line.text;
}

/** Print what is wrong, and append it to the findings.
 *  @param one    of whose buffer it is @param other  what else is about it */
static void tell(const struct spot *one, const struct spot *other, const char *text)
{
    const struct spot *const spots[] = {one, other};
    struct bcs_finding_place places[2];
    uint32_t rank;

    bcs_error("%s", text);
    if (!bcs_findings_are_wanted()) {
        return;
    }
    rank = (uint32_t)bcs_context_rank(shim_context());
    for (int i = 0; i < 2; i++) {
        places[i] = (struct bcs_finding_place){
            .call = spots[i]->function,
            .words = words_of(spots[i]),
            .file = spots[i]->line.file,
            .line = spots[i]->line.number,
        };
    }
    bcs_finding_tell(&(struct bcs_finding){.kind = BCS_FINDING_BUFFER,
                                           .message = text,
                                           .rank = &rank,
                                           .places = places,
                                           .n_places = 2});
}

/** Where the buffer is not what it was. */
static const char *position_of(size_t at, size_t n_bytes, char text_out[static 96])
{
    if (at == SIZE_MAX) {
        snprintf(text_out, 96, "behind byte %d of %zu", SHIM_REGION_KEPT, n_bytes);
    } else {
        snprintf(text_out, 96, "first at byte %zu of %zu", at, n_bytes);
    }
    return text_out;
}

static void tell_changed(const struct watch *watch, size_t at)
{
    const struct call now = {mds_call.function, mds_call.address, mds_call.words};
    struct spot posted, completed;
    char *text, position[96];

    if (!is_new((struct told){watch->posted.address, now.address, watch->is_output})) {
        return;
    }
    spot_find(&watch->posted, &posted);
    spot_find(&now, &completed);
    if (asprintf(&text,
                 "buffers: the %s buffer of %s at %s, %s, was changed before the "
                 "operation was completed by %s at %s, %s. Until then the program must "
                 "not %s it (MPI-3.1, 3.7.2, 5.12)",
                 watch->is_output ? "receive" : "send", posted.function,
                 words_of(&posted), watch->what, completed.function,
                 words_of(&completed), position_of(at, watch->region.n_bytes, position),
                 watch->is_output ? "access" : "change") >= 0) {
        tell(&completed, &posted, text);
        free(text);
    }
    spot_fini(&posted);
    spot_fini(&completed);
}

static void tell_shared(const struct watch *one, const struct watch *other)
{
    struct spot posted, pending;
    char *text;

    if (!is_new((struct told){one->posted.address, other->posted.address,
                              one->is_output})) {
        return;
    }
    spot_find(&one->posted, &posted);
    spot_find(&other->posted, &pending);
    if (asprintf(&text,
                 "buffers: the %s buffer of %s at %s, %s, overlaps the %s buffer of %s "
                 "at %s, %s, which is pending. A receive buffer must not be used by "
                 "anything else until the receive is completed (MPI-3.1, 3.7.2, 5.12)",
                 one->is_output ? "receive" : "send", posted.function,
                 words_of(&posted), one->what, other->is_output ? "receive" : "send",
                 pending.function, words_of(&pending), other->what) >= 0) {
        tell(&posted, &pending, text);
        free(text);
    }
    spot_fini(&posted);
    spot_fini(&pending);
}

/* --------------------------------------------------------------------------
 * watching */

/** The pieces of one buffer. @return an array of one, or NULL */
static struct shim_piece *piece_of(const void *buf, size_t count,
                                   const struct shim_datatype *type)
{
    struct shim_piece *piece = malloc(sizeof(*piece));

    if (piece != NULL) {
        *piece = (struct shim_piece){buf, count, type};
    }
    return piece;
}

/** Compare a new one with all that are pending. */
static void look_for_shared(struct watch *watch)
{
    for (struct watch *other = own_room()->watches; other != NULL;
         other = other->next) {
        if (other->request != watch->request &&
            (other->is_output || watch->is_output) &&
            shim_region_overlap(&watch->region, &other->region)) {
            watch->is_shared |= other->is_output;
            other->is_shared |= watch->is_output;
            tell_shared(watch, other);
        }
    }
}

/** Watch buffers of a request. @param pieces from malloc, which are the watch's from
 *  now on */
static void add(const struct shim_request *request, bool is_output,
                struct shim_piece *pieces, size_t n, const char *what)
{
    struct room *room = own_room();
    struct watch *watch = pieces == NULL ? NULL : malloc(sizeof(*watch));

    if (watch == NULL) {
        free(pieces);
        if (!room->is_short) {
            room->is_short = true;
            bcs_warn("BCS_REFEREE_BUFFERS: no memory to watch all buffers");
        }
        return;
    }
    *watch = (struct watch){
        .request = request,
        .is_output = is_output,
        .posted = {mds_call.function, mds_call.address, mds_call.words},
        .region = {.pieces = pieces, .n = n},
    };
    snprintf(watch->what, sizeof(watch->what), "%s", what);
    for (size_t i = 0; i < n; i++) {
        shim_datatype_hold(pieces[i].type); /* the program may free it meanwhile */
    }
    shim_region_keep(&watch->region);
    look_for_shared(watch);
    watch->next = room->watches;
    room->watches = watch;
}

/** "on MPI_COMM_WORLD" */
static const char *place_of(const struct shim_comm *comm,
                            char what_out[static WHAT_BYTES])
{
    char name[MPI_MAX_OBJECT_NAME];

    shim_comm_name_group(&comm->group, name, sizeof(name));
    snprintf(what_out, WHAT_BYTES, "on %s", name);
    return what_out;
}

/** "to rank 2, tag 7, on MPI_COMM_WORLD" */
static void describe_message(bool is_output, int peer, int tag,
                             const struct shim_comm *comm,
                             char what_out[static WHAT_BYTES])
{
    char on[WHAT_BYTES], rank_text[16] = "any rank", tag_text[16] = "any tag";

    if (peer != MPI_ANY_SOURCE) {
        snprintf(rank_text, sizeof(rank_text), "rank %d", peer);
    }
    if (tag != MPI_ANY_TAG) {
        snprintf(tag_text, sizeof(tag_text), "tag %d", tag);
    }
    snprintf(what_out, WHAT_BYTES, "%s %s, %s, %.100s", is_output ? "from" : "to",
             rank_text, tag_text, place_of(comm, on));
}

/** Watch the buffer of a message, which is of a request or of its partner. */
static void add_message(const struct shim_request *request,
                        const struct shim_request *message)
{
    bool is_output =
        message->kind == SHIM_RECEIVE || message->kind == SHIM_RECEIVE_MESSAGE;
    char what[WHAT_BYTES];

    if (message->is_proc_null || message->count == 0 || message->type->size == 0 ||
        message->kind == SHIM_SEND_OF_COPY) {
        return;
    }
    describe_message(is_output, message->peer, message->tag, message->comm, what);
    add(request, is_output,
        piece_of(message->buffer, (size_t)message->count, message->type), 1, what);
}

void shim_buffers_use(const struct shim_call *call, const struct shim_comm *comm,
                      const struct shim_datatype *type)
{
    struct shim_piece piece = {call->buffer, (size_t)call->count, type};
    struct watch watch = {
        .posted = {mds_call.function, mds_call.address, mds_call.words},
        .region = {.pieces = &piece, .n = 1},
    };

    if (call->count > 0 && type->size > 0) {
        describe_message(false, call->peer, call->tag, comm, watch.what);
        look_for_shared(&watch);
    }
}

static void add_side(const struct shim_request *request, bool is_output,
                     const struct shim_side *side)
{
    char what[WHAT_BYTES];

    if (side->data != NULL && side->n_bytes > 0) {
        add(request, is_output,
            piece_of(side->buf, side->n_bytes / side->type->size, side->type), 1,
            place_of(request->comm, what));
    }
}

static void add_blocks(const struct shim_request *request, bool is_output,
                       const struct shim_blocks *blocks)
{
    size_t n = blocks->layout == NULL ? 0 : (size_t)blocks->size;
    struct shim_piece *pieces = n == 0 ? NULL : calloc(n, sizeof(*pieces));
    char what[WHAT_BYTES];

    if (n == 0) {
        return;
    }
    for (size_t i = 0; pieces != NULL && i < n; i++) {
        pieces[i].buf = shim_layout_block(blocks->layout, (int32_t)i, &pieces[i].count,
                                          &pieces[i].type);
    }
    add(request, is_output, pieces, n, place_of(request->comm, what));
}

/** Watch the buffers of a collective; what is in place is received into. */
static void add_exchange(const struct shim_request *request)
{
    const struct shim_exchange *x = request->exchange;

    if (x->out.data != NULL) {
        add_side(request, true, &x->out);
    }
    if (x->in.data != NULL && (x->out.data == NULL || x->in.buf != x->out.buf)) {
        add_side(request, false, &x->in);
    }
    add_blocks(request, true, &x->to);
    if (x->from.blocks.data != NULL) {
        add_blocks(request, false, &x->from);
    }
}

void shim_buffers_post(const struct shim_request *request)
{
    if (!request->is_active) {
        return;
    }
    if (request->kind != SHIM_EXCHANGE) {
        add_message(request, request);
        if (request->partner != NULL) {
            add_message(request, request->partner);
        }
    } else if (request->exchange != NULL) {
        add_exchange(request);
    }
}

/** End the watches of a request. @param is_over  and look whether all is as it was */
static void end(const struct shim_request *request, bool is_over)
{
    struct watch **link = &own_room()->watches;

    while (*link != NULL) {
        struct watch *watch = *link;
        size_t at;

        if (watch->request != request) {
            link = &watch->next;
            continue;
        }
        if (is_over && !watch->is_shared && !shim_region_is_same(&watch->region, &at)) {
            tell_changed(watch, at);
        }
        *link = watch->next;
        watch_free(watch);
    }
}

void shim_buffers_check(const struct shim_request *request)
{
    end(request, true);
}

void shim_buffers_forget(const struct shim_request *request)
{
    end(request, false);
}
