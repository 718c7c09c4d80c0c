/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes JSON of a job; see job_json.h.
 */
#include "job_json.h"

#include <bcs/version.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_tree.h"
#include "libbcs/fabric/base/clock.h"
#include "mds/tool/read/text.h"
#include "where.h"

static const char *const kind_words[BCS_STAND_KINDS] = {
    "send", "receive", "probe", "collective", "foreign", "other"};

/** A text that may have any bytes. */
static json_t *text_of(const char *text)
{
    char *plain = text_utf8(text, strlen(text));
    json_t *value = json_string(plain == NULL ? "?" : plain);

    free(plain);
    return value;
}

/** Who has called, of the places but the first. */
static json_t *callers_of(const struct where *where)
{
    json_t *list = json_array();

    for (uint32_t i = 1; i < where->n; i++) {
        json_array_append_new(list, text_of(where->words[i]));
    }
    return list;
}

/** The files of all places, with their paths. */
static json_t *sources_of(const struct where *where)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < where->n; i++) {
        json_t *source = json_object();

        if (where->files[i] != NULL) {
            json_object_set_new(source, "file", text_of(where->files[i]));
        }
        json_array_append_new(list, source);
    }
    return list;
}

static json_t *operations_of(const struct bcs_stand *stand)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < bcs_stand_n_listed(stand); i++) {
        const struct bcs_stand_operation *one = &stand->operations[i];

        json_array_append_new(
            list,
            json_pack("{s:s, s:i, s:i, s:I, s:I}", "kind",
                      one->kind < BCS_STAND_KINDS ? kind_words[one->kind] : "?", "peer",
                      one->peer, "tag", one->tag, "bytes", (json_int_t)one->n_bytes,
                      "context", (json_int_t)one->context_id));
    }
    return list;
}

static json_t *ranks_of(const struct bcs_stand *stand, uint32_t n_ranks)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < n_ranks; i++) {
        if (bcs_stand_has(stand, i)) {
            json_array_append_new(list, json_integer(i));
        }
    }
    return list;
}

/** How long ago a record's time was. */
static double seconds_since(const struct bcs_stand *stand)
{
    uint64_t now_ns = bcs_clock_now_ns();

    return now_ns > stand->since_ns ? (double)(now_ns - stand->since_ns) / 1e9 : 0;
}

/** A wait of a rank. */
static json_t *wait_of(const struct bcs_stand *stand, const struct where *where,
                       uint32_t n_ranks)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:I, s:o, s:o, s:o, s:I, s:f, s:b, s:o, "
        "s:o, s:i}",
        "call", text_of(stand->call), "method", text_of(stand->method), "place",
        where->n == 0 ? json_null() : text_of(where->words[0]), "callers",
        callers_of(where), "sources", sources_of(where), "lacks_lines",
        (int)where->lacks_lines, "communicator", text_of(stand->comm), "context",
        (json_int_t)stand->context_id, "collective", text_of(stand->collective), "root",
        stand->root < 0 ? json_null() : json_integer(stand->root), "reduction",
        text_of(stand->reduction), "number", (json_int_t)stand->number, "seconds",
        seconds_since(stand), "needs_all", (int)stand->needs_all, "waits_for",
        ranks_of(stand, n_ranks), "operations", operations_of(stand), "pending",
        (int)stand->n_operations);
}

/** The last look in vain of a rank that polls; null: it does not, or on another
 *  machine. */
static json_t *poll_of(const struct bcs_look *look, uint32_t rank,
                       struct places *places, struct bcs_stand *stand)
{
    uint64_t sequence;
    struct where where;
    json_t *poll;

    if (bcs_look_stand(look, rank, BCS_STAND_POLLS, stand, &sequence) != 0) {
        return json_null();
    }
    where = where_find(places, NULL, bcs_look_pid(look, rank), stand, BCS_STAND_FRAMES);
    poll = json_pack("{s:o, s:o, s:o, s:f}", "call", text_of(stand->call), "place",
                     where.n == 0 ? json_null() : text_of(where.words[0]), "callers",
                     callers_of(&where), "seconds", seconds_since(stand));
    where_fini(&where);
    return poll;
}

static json_t *rank_of(const struct bcs_look *look, uint32_t rank,
                       struct places *places, struct bcs_stand *stand)
{
    uint32_t n_ranks = bcs_look_n_ranks(look);
    json_t *waits = json_array();
    int64_t pid = bcs_look_pid(look, rank);
    uint64_t sequence;

    for (uint32_t i = 0; i < BCS_STAND_THREADS; i++) {
        if (bcs_look_stand(look, rank, i, stand, &sequence) == 0) {
            struct bcs_stand_files files;
            bool is_far = bcs_look_files_of(look, rank, i, &files);
            struct where where = where_find(places, is_far ? &files : NULL, pid, stand,
                                            BCS_STAND_FRAMES);

            json_array_append_new(waits, wait_of(stand, &where, n_ranks));
            where_fini(&where);
        }
    }
    return json_pack(
        "{s:i, s:I, s:b, s:o, s:o}", "rank", (int)rank, "pid", (json_int_t)pid,
        "is_known", (int)bcs_look_is_known(look, rank), "poll",
        json_array_size(waits) == 0 ? poll_of(look, rank, places, stand) : json_null(),
        "waits", waits);
}

json_t *job_json_of(const struct bcs_look *look, const struct bcs_look_found *found,
                    struct places *places)
{
    const struct bcs_board *board = bcs_look_board(look);
    struct bcs_stand *stand = calloc(bcs_stand_words(board->n_ranks), sizeof(uint64_t));
    json_t *ranks = json_array(), *tree;

    bcs_look_ask(look);
    for (uint32_t i = 0; stand != NULL && i < board->n_ranks; i++) {
        json_array_append_new(ranks, rank_of(look, i, places, stand));
    }
    free(stand);
    tree = job_tree_of(ranks);
    return json_pack("{s:I, s:i, s:i, s:b, s:o, s:o}", "pid",
                     (json_int_t)found->handle.pid, "n_ranks", (int)board->n_ranks,
                     "n_nodes", (int)board->n_nodes, "has_links", (int)board->is_linked,
                     "ranks", ranks, "tree", tree);
}

int job_json_open(const struct bcs_look_found *found, struct bcs_look **look_out)
{
    char version[BCS_SIGN_VERSION_BYTES] = "";
    int rc = bcs_look_open(found, look_out, version);

    if (rc == -EPROTO) {
        fprintf(stderr,
                "bcs-top: the job of process %" PRId64
                " is of bcs %s built otherwise, this is %s: use the bcs-top of that\n",
                found->handle.pid, version, bcs_version());
    } else if (rc < 0 && rc != -ENOENT && rc != -EAGAIN) {
        fprintf(stderr, "bcs-top: cannot look at the job of process %" PRId64 ": %s\n",
                found->handle.pid, strerror(-rc));
    }
    return rc;
}
