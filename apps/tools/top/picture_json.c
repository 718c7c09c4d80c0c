/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts a picture into JSON; see picture_json.h.
 */
#include "picture_json.h"

/** A number that is not known if it is negative, or if no two looks tell it. */
static json_t *number_of(double value, bool is_known)
{
    return is_known && value >= 0 ? json_real(value) : json_null();
}

/** A text that may have any bytes. */
static json_t *text_of(const char *text)
{
    json_t *value = json_string(text);

    return value != NULL ? value : json_string("?");
}

static void add_rates(json_t *job, const struct picture *picture)
{
    const struct rows *rows = picture->rows;
    bool is_known = picture->before != NULL;
    double interval_ns =
        is_known ? (double)(picture->now->now_ns - picture->before->now_ns) : 0;

    json_object_set_new(job, "interval", number_of(interval_ns / 1e9, is_known));
    json_object_set_new(job, "has_moved",
                        is_known ? json_boolean(picture->still_s <= 0) : json_null());
    json_object_set_new(job, "messages_per_second",
                        number_of(rows->messages_s, is_known));
    json_object_set_new(job, "bytes_per_second", number_of(rows->bytes_s, is_known));
    json_object_set_new(job, "collectives_per_second",
                        number_of(rows->collectives_s, is_known));
    json_object_set_new(job, "slices_per_second", number_of(rows->slices_s, is_known));
    json_object_set_new(job, "computing", number_of(rows->computing, is_known));
    json_object_set_new(job, "communicating", number_of(rows->communication, is_known));
    json_object_set_new(job, "without_core", number_of(rows->without_core, is_known));
    json_object_set_new(job, "n_waiting", json_integer(rows->n_waiting));
}

static void add_pairs(json_t *job, const struct picture *picture)
{
    struct rows_pair pairs[PICTURE_PAIRS_MOST];
    uint32_t n = rows_pairs(picture->before, picture->now, pairs, PICTURE_PAIRS_MOST);
    json_t *list = json_array();

    for (uint32_t i = 0; i < n; i++) {
        json_array_append_new(
            list, json_pack("{s:I, s:I, s:f, s:f}", "from", (json_int_t)pairs[i].from,
                            "to", (json_int_t)pairs[i].to, "messages_per_second",
                            pairs[i].messages_s, "bytes_per_second", pairs[i].bytes_s));
    }
    json_object_set_new(job, "pairs", list);
}

static void add_machine(json_t *job, const struct picture *picture)
{
    const struct machine_look *now = picture->machine_now;
    double busy =
        picture->before == NULL ? -1 : machine_busy(picture->machine_before, now);
    json_t *load = now->load[0] < 0 ? json_null()
                                    : json_pack("[f, f, f]", now->load[0], now->load[1],
                                                now->load[2]);

    json_object_set_new(job, "machine",
                        json_pack("{s:I, s:o, s:o}", "cores", (json_int_t)now->n_cores,
                                  "busy", number_of(busy, true), "load", load));
}

/** What each rank does. A rank that waits with several threads has several rows, which
 *  say the same. */
static void add_ranks(json_t *job, const struct picture *picture)
{
    json_t *ranks = json_object_get(job, "ranks");
    bool is_known = picture->before != NULL;

    for (uint32_t i = 0; i < picture->rows->n; i++) {
        const struct row *row = &picture->rows->rows[i];
        json_t *rank = json_array_get(ranks, row->ranks[0]);

        json_object_set_new(rank, "core",
                            row->core >= 0 ? json_integer(row->core) : json_null());
        json_object_set_new(rank, "cpu", number_of(row->cpu, is_known));
        json_object_set_new(rank, "communicating",
                            number_of(row->communication, is_known));
        json_object_set_new(rank, "messages_per_second",
                            number_of(row->messages_s, is_known));
        json_object_set_new(rank, "bytes_per_second",
                            number_of(row->bytes_s, is_known));
    }
}

void picture_json_add(json_t *job, const struct picture *picture)
{
    json_object_set_new(job, "program", text_of(picture->program));
    json_object_set_new(job, "driver", text_of(picture->driver));
    json_object_set_new(job, "strobe", text_of(picture->strobe));
    json_object_set_new(job, "seconds", json_real(picture->age_s));
    add_rates(job, picture);
    add_pairs(job, picture);
    add_machine(job, picture);
    add_ranks(job, picture);
}
