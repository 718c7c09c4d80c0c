/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares what was sent with what is waited for; see near_miss.h. Of a send that is over nothing is
 * kept, so that its line is known only while the sender waits in it.
 */
#include "near_miss.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/manifest.h"
#include "ranks.h"

enum { MOST_LINES = 10, ANY = -1 };

/** In what a message is not what is waited for. */
enum difference { IN_NOTHING, IN_TAG, IN_SOURCE, IN_COMMUNICATOR, IN_MORE };

static const char *const difference_words[] = {
    [IN_TAG] = "tag",
    [IN_SOURCE] = "source",
    [IN_COMMUNICATOR] = "communicator",
};

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text == NULL ? "" : text;
}

static json_int_t number_in(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void print_text(const char *text)
{
    manifest_print(stdout, text, strlen(text));
}

/** The waits of a rank of a job. */
static const json_t *waits_of(const json_t *job, json_int_t rank)
{
    const json_t *ranks = json_object_get(job, "ranks");

    return rank < 0 ? NULL
                    : json_object_get(json_array_get(ranks, (size_t)rank), "waits");
}

/** The context of the communicator that a wait, or an operation, is about. Odd ones have the messages
 *  of its collectives. */
static json_int_t comm_of(const json_t *of)
{
    return number_in(of, "context") & ~(json_int_t)1;
}

json_t *near_miss_read(const char *text)
{
    uint32_t from, to;
    uint64_t n_bytes, context;
    int32_t tag;
    int n = 0;

    if (sscanf(text, "%" SCNu32 ",%" SCNu32 ",%" SCNd32 ",%" SCNu64 ",%" SCNu64 "%n",
               &from, &to, &tag, &n_bytes, &context, &n) != 5 ||
        text[n] != '\0') {
        return NULL;
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "from", (json_int_t)from, "to",
                     (json_int_t)to, "tag", (json_int_t)tag, "bytes",
                     (json_int_t)n_bytes, "context", (json_int_t)context);
}

static enum difference difference_of(const json_t *message, const json_t *operation)
{
    json_int_t peer = number_in(operation, "peer"), tag = number_in(operation, "tag");
    bool has_tag = tag == ANY || tag == number_in(message, "tag");
    bool has_source = peer == ANY || peer == number_in(message, "from");
    bool has_context = number_in(operation, "context") == number_in(message, "context");

    switch ((int)has_tag + (int)has_source + (int)has_context) {
    case 3:
        return IN_NOTHING;
    case 2:
        return !has_tag ? IN_TAG : !has_source ? IN_SOURCE : IN_COMMUNICATOR;
    default:
        return IN_MORE;
    }
}

/** The name of a communicator of which some rank has told. @return "": nobody has */
static const char *name_of(const json_t *job, json_int_t context)
{
    const json_t *rank, *wait;
    size_t i, j;

    json_array_foreach(json_object_get(job, "ranks"), i, rank)
    {
        json_array_foreach(json_object_get(rank, "waits"), j, wait)
        {
            if (comm_of(wait) == (context & ~(json_int_t)1) &&
                *text_in(wait, "communicator") != '\0') {
                return text_in(wait, "communicator");
            }
        }
    }
    return "";
}

/** The wait in which a message's sender waits for it to go. @return NULL: it does not */
static const json_t *wait_of_sender(const json_t *job, const json_t *message)
{
    const json_t *wait, *one;
    size_t i, j;

    json_array_foreach(waits_of(job, number_in(message, "from")), i, wait)
    {
        json_array_foreach(json_object_get(wait, "operations"), j, one)
        {
            if (strcmp(text_in(one, "kind"), "send") == 0 &&
                number_in(one, "peer") == number_in(message, "to") &&
                number_in(one, "tag") == number_in(message, "tag") &&
                number_in(one, "context") == number_in(message, "context")) {
                return wait;
            }
        }
    }
    return NULL;
}

/** Whether a receive is the first that a message is almost for; then note it. */
static bool note_if_near(const json_t *job, json_t *message, const json_t *wait,
                         const json_t *operation)
{
    enum difference in = difference_of(message, operation);
    const char *kind = text_in(operation, "kind");
    bool is_asked = strcmp(kind, "receive") == 0 || strcmp(kind, "probe") == 0;

    if (!is_asked || in == IN_NOTHING || in == IN_MORE) {
        return false;
    }
    json_object_set_new(
        message, "near_miss",
        json_pack("{s:s, s:O, s:O, s:s, s:O, s:O}", "in", difference_words[in],
                  "expected_source", json_object_get(operation, "peer"), "expected_tag",
                  json_object_get(operation, "tag"), "expected_communicator",
                  name_of(job, number_in(operation, "context")), "call",
                  json_object_get(wait, "call"), "place",
                  json_object_get(wait, "place")));
    return true;
}

void near_miss_find(const json_t *job, json_t *message)
{
    const json_t *wait, *operation, *sending = wait_of_sender(job, message);
    bool is_found = false;
    size_t i, j;

    json_object_set_new(message, "communicator",
                        json_string(name_of(job, number_in(message, "context"))));
    if (sending != NULL) {
        json_object_set(message, "call", json_object_get(sending, "call"));
        json_object_set(message, "place", json_object_get(sending, "place"));
    }
    json_array_foreach(waits_of(job, number_in(message, "to")), i, wait)
    {
        json_array_foreach(json_object_get(wait, "operations"), j, operation)
        {
            is_found = is_found || note_if_near(job, message, wait, operation);
        }
    }
}

/* ------------------------------------------------------------------------- printing */

/** "MPI_Recv at main, prog.c:12", as far as it is known. */
static void print_call(const json_t *of, const char *before)
{
    const char *call = text_in(of, "call"), *place = text_in(of, "place");

    if (*call != '\0') {
        printf("%s", before);
        print_text(call);
        if (*place != '\0') {
            printf(" at ");
            print_text(place);
        }
    }
}

/** Who has sent what to whom. */
static void print_sent(const json_t *message)
{
    printf("rank %lld has sent tag %lld (%lld bytes",
           (long long)number_in(message, "from"), (long long)number_in(message, "tag"),
           (long long)number_in(message, "bytes"));
    print_call(message, ", ");
    printf(") to rank %lld", (long long)number_in(message, "to"));
}

static void print_name(const char *name)
{
    printf(" on ");
    print_text(*name == '\0' ? "another communicator" : name);
}

static void print_near(const json_t *message, const json_t *near)
{
    const char *in = text_in(near, "in");

    printf("  near miss: ");
    print_sent(message);
    if (strcmp(in, difference_words[IN_TAG]) == 0) {
        printf(", which expects tag %lld", (long long)number_in(near, "expected_tag"));
    } else if (strcmp(in, difference_words[IN_SOURCE]) == 0) {
        printf(", which expects it from rank %lld",
               (long long)number_in(near, "expected_source"));
    } else {
        print_name(text_in(message, "communicator"));
        printf(", which expects it");
        print_name(text_in(near, "expected_communicator"));
    }
    print_call(near, ", in ");
    putchar('\n');
}

static void print_far(const json_t *message)
{
    const char *name = text_in(message, "communicator");

    printf("  ");
    print_sent(message);
    if (*name != '\0') {
        print_name(name);
    }
    printf(", which has not been received\n");
}

/** Print those messages that are near misses, or those that are none. */
static void print_messages(const json_t *job, bool are_near)
{
    const json_t *message;
    size_t i, n = 0;

    json_array_foreach(json_object_get(job, "unreceived"), i, message)
    {
        const json_t *near = json_object_get(message, "near_miss");

        if ((near != NULL) != are_near || n++ >= MOST_LINES) {
            continue;
        }
        if (are_near) {
            print_near(message, near);
        } else {
            print_far(message);
        }
    }
    if (n > MOST_LINES) {
        printf("  and %zu messages more\n", n - MOST_LINES);
    }
}

/** Whether a wait is for a collective, be it for a message of it. */
static bool is_of_collective(const json_t *wait)
{
    const json_t *first = json_array_get(json_object_get(wait, "operations"), 0);

    return *text_in(wait, "collective") != '\0' || number_in(first, "context") % 2 != 0;
}

/** The collective that a wait is for: its call, or, if it does not block, what it is in words.
 *  @return "": none, or it is not known which */
static const char *collective_of(const json_t *wait)
{
    const char *call = text_in(wait, "call");

    return !is_of_collective(wait) ? ""
           : *call == '\0' || strncmp(call, "MPI_Wait", 8) == 0
               ? text_in(wait, "collective")
               : call;
}

/** Collect who is in which collective: by communicator, and by call, its ranks. For json_decref. */
static json_t *collectives_of(const json_t *job)
{
    json_t *comms = json_object();
    const json_t *rank, *wait;
    size_t i, j;

    json_array_foreach(json_object_get(job, "ranks"), i, rank)
    {
        json_array_foreach(json_object_get(rank, "waits"), j, wait)
        {
            char key[32];
            json_t *comm;

            if (*collective_of(wait) == '\0') {
                continue;
            }
            snprintf(key, sizeof(key), "%lld", (long long)comm_of(wait));
            if (json_object_get(comms, key) == NULL) {
                json_object_set_new(comms, key, json_object());
            }
            comm = json_object_get(comms, key);
            if (json_object_get(comm, collective_of(wait)) == NULL) {
                json_object_set_new(comm, collective_of(wait), json_array());
            }
            json_array_append(json_object_get(comm, collective_of(wait)),
                              json_object_get(rank, "rank"));
        }
    }
    return comms;
}

/** "ranks 0,1 are in MPI_Barrier on the grid, rank 2 is in MPI_Bcast" */
static void print_collectives(const json_t *job)
{
    json_t *comms = collectives_of(job), *calls, *ranks;
    const char *key, *call;

    json_object_foreach(comms, key, calls)
    {
        bool is_first = true;

        if (json_object_size(calls) < 2) {
            continue;
        }
        printf("  ");
        json_object_foreach(calls, call, ranks)
        {
            bool are_many = json_array_size(ranks) > 1;

            printf("%srank%s ", is_first ? "" : ", ", are_many ? "s" : "");
            ranks_print(ranks);
            printf(" %s in ", are_many ? "are" : "is");
            print_text(call);
            if (is_first) {
                print_name(name_of(job, strtoll(key, NULL, 10)));
            }
            is_first = false;
        }
        putchar('\n');
    }
    json_decref(comms);
}

void near_miss_print(const json_t *job)
{
    print_collectives(job);
    print_messages(job, true);
    print_messages(job, false);
}
