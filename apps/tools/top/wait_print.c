/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads waits; see wait_print.h.
 */
#include "wait_print.h"

#include <string.h>

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
