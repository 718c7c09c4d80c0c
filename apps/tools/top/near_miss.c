/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares what was sent with what is waited for; see near_miss.h. Of a send that is
 * over nothing is kept, so that its line is known only while the sender waits in it.
 */
#include "near_miss.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "apps/tools/look/look.h"
#include "mds/tool/read/manifest.h"
#include "wait_print.h"

enum { MOST_LINES = 10, ANY = -1 };

/** In what a message is not what is waited for. */
enum difference { IN_NOTHING, IN_TAG, IN_SOURCE, IN_COMMUNICATOR, IN_MORE };

static const char *const difference_words[] = {
    [IN_TAG] = "tag",
    [IN_SOURCE] = "source",
    [IN_COMMUNICATOR] = "communicator",
};

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

json_t *near_miss_read(const char *text)
{
    uint32_t from, to;
    uint64_t n_bytes, context;
    unsigned int is_taken;
    int32_t tag;
    int n = 0;

    if (sscanf(text,
               "%" SCNu32 ",%" SCNu32 ",%" SCNd32 ",%" SCNu64 ",%" SCNu64 ",%1u%n",
               &from, &to, &tag, &n_bytes, &context, &is_taken, &n) != 6 ||
        is_taken > 1 || (text[n] != '\0' && text[n] != ',')) {
        return NULL;
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:b, s:s}", "from", (json_int_t)from,
                     "to", (json_int_t)to, "tag", (json_int_t)tag, "bytes",
                     (json_int_t)n_bytes, "context", (json_int_t)context, "taken",
                     (int)is_taken, "part_of", text[n] == ',' ? text + n + 1 : "");
}

static enum difference difference_of(const json_t *message, const json_t *operation)
{
    json_int_t peer = wait_number(operation, "peer"),
               tag = wait_number(operation, "tag");
    bool has_tag = tag == ANY || tag == wait_number(message, "tag");
    bool has_source = peer == ANY || peer == wait_number(message, "from");
    bool has_context =
        wait_number(operation, "context") == wait_number(message, "context");

    switch ((int)has_tag + (int)has_source + (int)has_context) {
    case 3:
        return IN_NOTHING;
    case 2:
        return !has_tag ? IN_TAG : !has_source ? IN_SOURCE : IN_COMMUNICATOR;
    default:
        return IN_MORE;
    }
}

/** The wait in which a message's sender waits for it to go. @return NULL: it does
 *  not */
static const json_t *wait_of_sender(const json_t *job, const json_t *message)
{
    const json_t *wait, *one;
    size_t i, j;

    json_array_foreach(waits_of(job, wait_number(message, "from")), i, wait)
    {
        json_array_foreach(json_object_get(wait, "operations"), j, one)
        {
            if (strcmp(wait_text(one, "kind"), "send") == 0 &&
                wait_number(one, "peer") == wait_number(message, "to") &&
                wait_number(one, "tag") == wait_number(message, "tag") &&
                wait_number(one, "context") == wait_number(message, "context")) {
                return wait;
            }
        }
    }
    return NULL;
}

/** Whether a message is one of a collective's. */
static bool is_part(const json_t *message)
{
    return wait_number(message, "context") % 2 != 0;
}

/** Whether two parts of collectives are of those of one number. */
static bool has_number(const json_t *message, const json_t *operation)
{
    json_int_t differing = wait_number(message, "tag") ^ wait_number(operation, "tag");

    return (differing & ((1 << BCS_STAND_NUMBER_BITS) - 1)) == 0;
}

/** Note what a wait expects in place of a message. */
static void note_near(const json_t *job, json_t *message, const json_t *wait,
                      const json_t *operation)
{
    enum difference in = difference_of(message, operation);
    const char *word = in == IN_MORE ? "tag" : difference_words[in];

    json_object_set_new(
        message, "near_miss",
        json_pack("{s:s, s:O, s:O, s:s, s:O, s:s, s:O, s:o}", "in", word,
                  "expected_source", json_object_get(operation, "peer"), "expected_tag",
                  json_object_get(operation, "tag"), "expected_communicator",
                  wait_communicator(job, wait_number(operation, "context")), "call",
                  json_object_get(wait, "call"), "method", wait_text(wait, "method"),
                  "place", json_object_get(wait, "place"), "expected_part_of",
                  is_part(message) ? wait_part_of(wait) : json_null()));
}

/** Whether its receiver has a message from a matched probe, so that nothing else asks
 *  for it. */
static bool is_taken(const json_t *message)
{
    return json_is_true(json_object_get(message, "taken"));
}

/** Whether a message, or what an operation asks for, is of a communicator that the
 *  program does not see: then it is of a method that hides it. */
static bool is_hidden(const json_t *of)
{
    return wait_is_hidden(wait_number(of, "context"));
}

/** Whether a message is almost what an operation asks for. */
static bool is_near(const json_t *message, const json_t *operation)
{
    enum difference in = difference_of(message, operation);
    const char *kind = wait_text(operation, "kind");
    bool is_asked = strcmp(kind, "receive") == 0 || strcmp(kind, "probe") == 0;

    return is_asked && in != IN_NOTHING && in != IN_MORE && !is_part(message) &&
           !is_hidden(message) && !is_hidden(operation);
}

/** Whether a message is a part of the collective that a rank waits in, but one that its
 *  sender has called otherwise: all members count their collectives alike. */
static bool is_of_other_call(const json_t *message, json_int_t rank,
                             const json_t *operation)
{
    return is_part(message) &&
           wait_number(operation, "context") == wait_number(message, "context") &&
           wait_number(operation, "tag") != wait_number(message, "tag") &&
           has_number(message, operation) &&
           (rank == wait_number(message, "to") ||
            wait_number(operation, "peer") == wait_number(message, "from"));
}

/** Look among the waits of a rank for what a message is almost for. @return whether it
 *  is found */
static bool find_among(const json_t *job, json_int_t rank, json_t *message)
{
    const json_t *wait, *operation;
    size_t i, j;

    json_array_foreach(waits_of(job, rank), i, wait)
    {
        json_array_foreach(json_object_get(wait, "operations"), j, operation)
        {
            if (is_near(message, operation) ||
                is_of_other_call(message, rank, operation)) {
                note_near(job, message, wait, operation);
                json_object_set_new(json_object_get(message, "near_miss"), "rank",
                                    json_integer(rank));
                return true;
            }
        }
    }
    return false;
}

void near_miss_find(const json_t *job, json_t *message)
{
    const json_t *sending = wait_of_sender(job, message);
    json_int_t n_ranks = is_part(message) ? wait_number(job, "n_ranks") : 0;

    json_object_set_new(
        message, "communicator",
        json_string(wait_communicator(job, wait_number(message, "context"))));
    if (sending != NULL) {
        json_object_set(message, "call", json_object_get(sending, "call"));
        json_object_set(message, "method", json_object_get(sending, "method"));
        json_object_set(message, "place", json_object_get(sending, "place"));
    }
    if (!is_taken(message) && !find_among(job, wait_number(message, "to"), message)) {
        for (json_int_t i = 0; i < n_ranks && !find_among(job, i, message); i++) {
        }
    }
}

/* ------------------------------------------------------------------------- printing */

/** "MPI_Recv at main, prog.c:12", as far as it is known. */
static void print_call(const json_t *of, const char *before)
{
    const char *call = wait_text(of, "call"), *place = wait_text(of, "place");

    if (*call != '\0') {
        printf("%s", before);
        wait_print_call(of);
        if (*place != '\0') {
            printf(" at ");
            print_text(place);
        }
    }
}

/** Who has sent what to whom. */
static void print_sent(const json_t *message)
{
    printf("rank %lld has sent ", (long long)wait_number(message, "from"));
    if (is_part(message)) {
        printf("its part of a collective (");
        print_text(wait_text(message, "part_of"));
        printf(", ");
    } else if (is_hidden(message)) {
        printf("a message of a method for objects (");
    } else {
        printf("tag %lld (", (long long)wait_number(message, "tag"));
    }
    printf("%lld bytes", (long long)wait_number(message, "bytes"));
    print_call(message, ", ");
    printf(") to rank %lld", (long long)wait_number(message, "to"));
}

static void print_name(const char *name)
{
    printf(" on ");
    print_text(*name == '\0' ? "another communicator" : name);
}

static void print_near(const json_t *message, const json_t *near)
{
    const char *in = wait_text(near, "in");

    printf("  near miss: ");
    print_sent(message);
    if (is_part(message)) {
        printf(", but rank %lld has called it otherwise (",
               (long long)wait_number(near, "rank"));
        print_text(wait_text(near, "expected_part_of"));
        putchar(')');
    } else if (strcmp(in, difference_words[IN_TAG]) == 0) {
        printf(", which expects tag %lld",
               (long long)wait_number(near, "expected_tag"));
    } else if (strcmp(in, difference_words[IN_SOURCE]) == 0) {
        printf(", which expects it from rank %lld",
               (long long)wait_number(near, "expected_source"));
    } else {
        print_name(wait_text(message, "communicator"));
        printf(", which expects it");
        print_name(wait_text(near, "expected_communicator"));
    }
    print_call(near, ", in ");
    putchar('\n');
}

static void print_far(const json_t *message)
{
    const char *name = wait_text(message, "communicator");

    printf("  ");
    print_sent(message);
    if (*name != '\0') {
        print_name(name);
    }
    printf(is_taken(message)
               ? ", which holds it from a matched probe and has not received it\n"
               : ", which has not been received\n");
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

void near_miss_print(const json_t *job)
{
    print_messages(job, true);
    print_messages(job, false);
}
