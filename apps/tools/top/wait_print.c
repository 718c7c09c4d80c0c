/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads waits; see wait_print.h.
 */
#include "wait_print.h"

#include <stdio.h>
#include <string.h>

#include "libbcs/fabric/ring/stand.h"
#include "mds/tool/read/manifest.h"

/* From when on a rank polls no more: its last look was so long ago. */
#define LONG_AGO_S 1.0

const char *wait_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text == NULL ? "" : text;
}

json_int_t wait_number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void print_text(const char *text)
{
    manifest_print(stdout, text, strlen(text));
}

void wait_print_call(const json_t *of)
{
    const char *method = wait_text(of, "method"), *call = wait_text(of, "call");

    call = *call == '\0' ? "a call" : call;
    print_text(*method == '\0' ? call : method);
    if (*method != '\0') {
        printf(" (");
        print_text(call);
        putchar(')');
    }
}

bool wait_is_hidden(json_int_t context)
{
    return ((uint64_t)context & BCS_CONTEXT_HIDDEN) != 0;
}

json_int_t wait_comm(const json_t *of)
{
    return wait_number(of, "context") & ~(json_int_t)1;
}

const char *wait_communicator(const json_t *job, json_int_t context)
{
    const json_t *rank, *wait;
    size_t i, j;

    json_array_foreach(json_object_get(job, "ranks"), i, rank)
    {
        json_array_foreach(json_object_get(rank, "waits"), j, wait)
        {
            if (wait_comm(wait) == (context & ~(json_int_t)1) &&
                *wait_text(wait, "communicator") != '\0') {
                return wait_text(wait, "communicator");
            }
        }
    }
    return "";
}

/** Whether a wait is for a collective, be it for a message of it. */
static bool is_of_collective(const json_t *wait)
{
    const json_t *first = json_array_get(json_object_get(wait, "operations"), 0);

    return *wait_text(wait, "collective") != '\0' ||
           wait_number(first, "context") % 2 != 0;
}

const char *wait_collective(const json_t *wait)
{
    const char *call = wait_text(wait, "call");

    return !is_of_collective(wait) ? ""
           : *call == '\0' || strncmp(call, "MPI_Wait", 8) == 0
               ? wait_text(wait, "collective")
               : call;
}

bool wait_polls(const json_t *poll)
{
    return *wait_text(poll, "call") != '\0' &&
           json_real_value(json_object_get(poll, "seconds")) < LONG_AGO_S;
}

/** Whether a method is about two ranks, not about all of a communicator. */
static bool is_for_two(const char *method)
{
    static const char *const methods[] = {"comm.send", "comm.bsend", "comm.ssend",
                                          "comm.recv", "comm.sendrecv"};

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(methods[i], method) == 0) {
            return true;
        }
    }
    return false;
}

const char *wait_shared(const json_t *wait)
{
    const char *method = wait_text(wait, "method");

    return *method == '\0' || is_for_two(method) ? wait_collective(wait) : method;
}

json_t *wait_part_of(const json_t *wait)
{
    const char *words = wait_text(wait, "collective");
    const char *what = *words == '\0' ? wait_text(wait, "call") : words;
    const char *reduction = wait_text(wait, "reduction");
    const char *between = *reduction == '\0' ? "" : ", ";

    if (json_is_null(json_object_get(wait, "root"))) {
        return json_sprintf("%s%s%s", what, between, reduction);
    }
    return json_sprintf("%s, root %d%s%s", what, (int)wait_number(wait, "root"),
                        between, reduction);
}
