/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what this rank has left; see lint_entries.h. Requests are in their arena,
 * objects among the notes of lint.c, and messages in the queue of the port.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/message/unreceived.h"
#include "mpi_shim/calls/lint.h"
#include "mpi_shim/calls/lint_entries.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/shim_module.h"
#include "mpi_shim/request/request.h"

enum { FIRST_ENTRIES = 16 };

bool shim_left_is_same(const struct shim_left_entry *a, const struct shim_left_entry *b)
{
    return a->kind == b->kind && a->offset == b->offset &&
           strcmp(a->call, b->call) == 0 && strcmp(a->path, b->path) == 0 &&
           ((a->kind != SHIM_LEFT_MESSAGE && a->kind != SHIM_LEFT_CALL) ||
            strcmp(a->about, b->about) == 0);
}

void shim_left_add(struct shim_left_list *list, const struct shim_left_entry *entry)
{
    for (uint32_t i = 0; i < list->n; i++) {
        if (shim_left_is_same(&list->entries[i], entry)) {
            list->entries[i].n += entry->n;
            return;
        }
    }
    if (list->n == list->n_room && list->n < SHIM_LEFT_MOST) {
        uint32_t n = list->n == 0 ? FIRST_ENTRIES : 2 * list->n;
        struct shim_left_entry *larger = realloc(list->entries, n * sizeof(*larger));

        if (larger != NULL) {
            list->entries = larger;
            list->n_room = n;
        }
    }
    if (list->n == list->n_room || list->n == SHIM_LEFT_MOST) {
        list->n_more[entry->kind] += entry->n;
        return;
    }
    list->entries[list->n++] = *entry;
}

/* --------------------------------------------------------------------------- places */

/** Whether a file is a part of Open MPI's, which makes objects for itself. */
static bool is_library(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;

    return strncmp(name, "libmpi.so", strlen("libmpi.so")) == 0 ||
           strncmp(name, "mca_", strlen("mca_")) == 0;
}

bool shim_left_set_origin(struct shim_left_entry *entry, struct shim_lint_origin origin)
{
    snprintf(entry->call, sizeof(entry->call), "%s",
             origin.call == NULL ? "a call" : origin.call);
    if (origin.words != NULL) {
        snprintf(entry->path, sizeof(entry->path), "%s", origin.words);
        entry->is_place = true;
        return true;
    }
    return !shim_module_find(origin.address, entry->path, sizeof(entry->path),
                             &entry->offset) ||
           !is_library(entry->path);
}

/* --------------------------------------------------------------------------
 * requests */

static void name_comm(const struct shim_comm *comm, char *name_out, size_t n_name_bytes)
{
    if (comm->handle == shim_handles.comm_null) {
        snprintf(name_out, n_name_bytes, "a communicator that has been freed");
    } else {
        shim_comm_name_group(&comm->group, name_out, n_name_bytes);
    }
}

/** Write a rank or a tag, which may be any. */
static const char *any_or(int value, int any, char text_out[static 16])
{
    snprintf(text_out, 16, value == any ? "any" : "%d", value);
    return text_out;
}

static void describe_request(const struct shim_request *request, char *about_out)
{
    bool is_receive =
        request->kind == SHIM_RECEIVE || request->kind == SHIM_RECEIVE_MESSAGE;
    char comm[MPI_MAX_OBJECT_NAME], peer[16], tag[16];

    name_comm(request->comm, comm, sizeof(comm));
    if (request->kind == SHIM_EXCHANGE) {
        snprintf(about_out, SHIM_LEFT_ABOUT_BYTES, "on %s%s", comm,
                 request->is_persistent && request->is_active ? ", started" : "");
        return;
    }
    snprintf(about_out, SHIM_LEFT_ABOUT_BYTES, "%s rank %s, tag %s, on %s, %zu bytes%s",
             is_receive ? "from" : "to", any_or(request->peer, MPI_ANY_SOURCE, peer),
             any_or(request->tag, MPI_ANY_TAG, tag), comm,
             (size_t)request->count * request->type->size,
             request->is_persistent && request->is_active ? ", started" : "");
}

/** Whether the program has a request, and has not taken it back by MPI_Cancel. */
static bool is_left(const struct shim_request *request)
{
    return request->error_comm != NULL && request->comm != NULL &&
           request->base.result.error != BCS_E_CANCELLED;
}

/** Whether a request is a part of another one, as the send of an MPI_Isendrecv. */
static bool is_part(const struct shim_request *request)
{
    for (uint32_t i = 0; i < shim_state.arena->n_touched; i++) {
        const struct shim_request *other = shim_request_at(i);

        if (other->error_comm != NULL && other->partner == request) {
            return true;
        }
    }
    return false;
}

static void find_requests(struct shim_left_list *list)
{
    for (uint32_t i = 0; i < shim_state.arena->n_touched; i++) {
        const struct shim_request *request = shim_request_at(i);
        struct shim_left_entry entry = {.n = 1};

        if (!is_left(request)) {
            continue;
        }
        if (shim_left_set_origin(&entry, shim_lint_request_origin(i)) &&
            (entry.path[0] != '\0' || !is_part(request))) {
            entry.kind =
                request->is_persistent ? SHIM_LEFT_PERSISTENT : SHIM_LEFT_REQUEST;
            describe_request(request, entry.about);
            shim_left_add(list, &entry);
        }
    }
}

/* ---------------------------------------------------------------------------
 * objects */

/** A function of shim_lint_each. */
static void look_at_object(const struct shim_lint_object *object, void *arg)
{
    static const uint32_t kinds[] = {
        [SHIM_LINT_COMM] = SHIM_LEFT_COMM,
        [SHIM_LINT_GROUP] = SHIM_LEFT_GROUP,
        [SHIM_LINT_TYPE] = SHIM_LEFT_TYPE,
        [SHIM_LINT_OP] = SHIM_LEFT_OP,
        [SHIM_LINT_KEYVAL] = SHIM_LEFT_KEYVAL,
        [SHIM_LINT_ERRHANDLER] = SHIM_LEFT_ERRHANDLER,
    };
    struct shim_left_entry entry = {.kind = kinds[object->kind], .n = 1};
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length;

    if (!shim_left_set_origin(&entry, object->origin)) {
        return;
    }
    if (object->kind == SHIM_LINT_COMM) {
        shim_real.Comm_get_name((MPI_Comm)object->handle, name, &length);
        if (name[0] != '\0') {
            snprintf(entry.about, sizeof(entry.about), "named %s", name);
        }
    } else if (object->kind == SHIM_LINT_TYPE && !object->is_committed) {
        snprintf(entry.about, sizeof(entry.about), "never committed");
    }
    shim_left_add(arg, &entry);
}

/* --------------------------------------------------------------------------
 * messages */

static void add_message(struct shim_left_list *list,
                        const struct bcs_unreceived *message)
{
    struct shim_left_entry entry = {.kind = SHIM_LEFT_MESSAGE, .n = 1};
    char comm[MPI_MAX_OBJECT_NAME];

    shim_comm_name_context(message->context_id, comm, sizeof(comm));
    snprintf(entry.about, sizeof(entry.about), "tag %d, on %s", message->tag,
             comm[0] == '\0' ? "a communicator that has been freed" : comm);
    snprintf(entry.first, sizeof(entry.first), "from rank %u, %llu bytes",
             message->from, (unsigned long long)message->n_bytes);
    shim_left_add(list, &entry);
}

static void find_messages(struct shim_left_list *list)
{
    const struct shim_comm *world = shim_comm_find(shim_handles.comm_world);
    struct bcs_unreceived *messages =
        calloc(SHIM_LEFT_MESSAGES_MOST, sizeof(*messages));
    uint32_t n = 0;

    shim_enter();
    /* also without memory, as the others expect it */
    bcs_unreceived(shim_context(), &world->group, messages,
                   messages == NULL ? 0 : SHIM_LEFT_MESSAGES_MOST, &n);
    shim_leave();
    for (uint32_t i = 0; i < n; i++) {
        add_message(list, &messages[i]);
    }
    free(messages);
}

void shim_left_find(struct shim_left_list *list)
{
    *list = (struct shim_left_list){0};
    find_messages(list);
    find_requests(list);
    shim_lint_each(look_at_object, list);
}
