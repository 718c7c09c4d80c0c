/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts a job into lines; see picture.h. At 80 columns there is room for what matters
 * most, from WIDE and VERY_WIDE on for more.
 */
#include "picture.h"

#include <stdio.h>
#include <string.h>

enum {
    WIDE = 100,      /* with bytes a second */
    VERY_WIDE = 120, /* with the functions of places */
    MOST_PLACES = 3, /* of which is said how many ranks wait there */
    RANKS_BYTES = 16,
    TEXT_BYTES = 512,
};

static const char *const order_words[ROWS_ORDERS] = {"rank", "waiting time", "cpu",
                                                     "communication", "messages"};

static const char *const help_lines[] = {
    "bcs-top: what the ranks of a job do, once a second",
    "",
    "  CORE    where the rank runs, or ran last",
    "  CPU%    of a core that it has used",
    "  COMM%   of the time that it was seen in calls that wait, by samples",
    "  MSG/S   messages that it sends a second; BYTE/S: in them, about",
    "  SINCE   how long it has waited in this call; of a group: all of it",
    "  WAITS IN  call, for whom, tag, line, communicator; -: it does not wait, or for",
    "          less than a millisecond. \"without\": who has not come to a collective",
    "",
    "  q         quit            up down page-up page-down home end   scroll",
    "  j k       next, last job  left right   shift what ranks wait in",
    "  s         sort by rank, waiting time, cpu, communication, messages",
    "  g         a row for each rank, or for those that wait in the same line",
    "  p         pause: look no more, until it is pressed again",
    "  ?         this text",
};

static void add_share(struct words *words, double share)
{
    if (share < 0) {
        words_add(words, "-");
    } else {
        words_add(words, "%.0f", share * 100);
    }
}

/** How ranks spend their time. */
static void add_shares(struct words *words, const struct rows *rows)
{
    if (rows->computing >= 0) {
        words_add(words, "computing %.0f%%, communicating %.0f%%",
                  rows->computing * 100, rows->communication * 100);
        if (rows->without_core >= 0.005) {
            words_add(words, ", no core %.0f%%", rows->without_core * 100);
        }
        words_add(words, "; ");
    }
}

static void add_title(struct words *words, const struct picture *picture)
{
    words_add(words, "bcs-top: process %lld", (long long)picture->pid);
    if (picture->n_jobs > 1 || picture->number == 0) {
        words_add(words, " (%u of %u)", picture->number, picture->n_jobs);
    }
    words_add(words, picture->has_ended   ? ", ENDED"
                     : picture->is_paused ? ", PAUSED"
                                          : "");
    words_add(words, ", %u rank%s, %u node%s, ", picture->n_ranks,
              picture->n_ranks == 1 ? "" : "s", picture->n_nodes,
              picture->n_nodes == 1 ? "" : "s");
    words_add_foreign(words, picture->driver);
    words_add(words, ", ");
    words_add_foreign(words, picture->strobe);
    words_add(words, ", for ");
    words_add_time(words, picture->age_s);
}

static void add_rates(struct words *words, const struct picture *picture)
{
    const struct rows *rows = picture->rows;

    if (picture->before == NULL) {
        words_add(words, "rates come with the second look");
        return;
    }
    add_shares(words, rows);
    if (picture->still_s > 0) {
        words_add(words, "nothing has moved for ");
        words_add_time(words, picture->still_s);
        return;
    }
    words_add_number(words, rows->messages_s);
    words_add(words, " msg/s ");
    words_add_number(words, rows->bytes_s);
    words_add(words, "B/s ");
    words_add_number(words, rows->collectives_s);
    words_add(words, " coll/s");
}

/** How many ranks are in a call, by the name of the call. */
struct count {
    const char *call;
    uint32_t n;
};

/** Count the ranks by the calls that they wait in. @return how many calls, up to
 *  n_most */
static uint32_t count_calls(const struct job_look *now, struct count counts[],
                            uint32_t n_most)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < now->n_waits; i++) {
        const char *call = bcs_stand_called(&now->waits[i].stand);
        uint32_t at = 0;

        while (at < n && strcmp(counts[at].call, call) != 0) {
            at++;
        }
        if (at < n_most) {
            n += at == n;
            counts[at].call = call;
            counts[at].n++;
        }
    }
    return n;
}

/** The largest count that is not taken yet. */
static struct count *largest(struct count counts[], uint32_t n)
{
    struct count *found = NULL;

    for (uint32_t i = 0; i < n; i++) {
        if (counts[i].n > 0 && (found == NULL || counts[i].n > found->n)) {
            found = &counts[i];
        }
    }
    return found;
}

static void add_waits(struct words *words, const struct picture *picture)
{
    struct count counts[64] = {{0}}, *one;
    uint32_t n = count_calls(picture->now, counts, sizeof(counts) / sizeof(counts[0]));

    if (picture->before != NULL) {
        words_add_number(words, picture->rows->slices_s);
        words_add(words, " slices/s; ");
    }
    words_add(words, "%u of %u ranks wait", picture->rows->n_waiting, picture->n_ranks);
    for (int i = 0; i < MOST_PLACES && (one = largest(counts, n)) != NULL; i++) {
        words_add(words, i == 0 ? ", in " : ", ");
        words_add_foreign(words, *one->call == '\0' ? "a call" : one->call);
        words_add(words, " %u", one->n);
        one->n = 0;
    }
}

static void add_pairs(struct words *words, const struct picture *picture)
{
    struct rows_pair pairs[PICTURE_PAIRS_MOST];
    uint32_t n = rows_pairs(picture->before, picture->now, pairs, PICTURE_PAIRS_MOST);

    words_add(words, n == 0 ? "heaviest pairs: none" : "heaviest pairs: ");
    for (uint32_t i = 0; i < n; i++) {
        words_add(words, "%s%u>%u ", i > 0 ? ", " : "", pairs[i].from, pairs[i].to);
        words_add_number(words, pairs[i].bytes_s);
        words_add(words, "B/s");
    }
}

static void add_machine(struct words *words, const struct picture *picture)
{
    const struct machine_look *now = picture->machine_now;
    double busy = machine_busy(picture->machine_before, now);

    words_add(words, "machine: %u cores", now->n_cores);
    if (busy >= 0) {
        words_add(words, " %.0f%% busy", busy * 100);
    }
    if (now->load[0] >= 0) {
        words_add(words, ", load %.2f %.2f %.2f", now->load[0], now->load[1],
                  now->load[2]);
    }
    words_add(words, "; sorted by %s", order_words[picture->order]);
}

/** Whether there is a column of messages a second. */
static bool has_messages(const struct picture *picture, uint32_t width)
{
    return !picture->is_grouped || width >= WIDE;
}

static void add_head(struct words *words, const struct picture *picture, uint32_t width)
{
    words_add(words, picture->is_grouped ? "%-*s     N" : " RANK CORE", RANKS_BYTES,
              "RANKS");
    words_add(words, " CPU%% COMM%%");
    words_add(words, has_messages(picture, width) ? " MSG/S" : "");
    words_add(words, width >= WIDE ? " BYTE/S" : "");
    words_add(words, " SINCE WAITS IN");
}

void picture_add_line(struct words *words, const struct picture *picture,
                      enum picture_line line, uint32_t width)
{
    switch (line) {
    case PICTURE_TITLE:
        add_title(words, picture);
        break;
    case PICTURE_PROGRAM:
        words_add_foreign(words, picture->program);
        break;
    case PICTURE_RATES:
        add_rates(words, picture);
        break;
    case PICTURE_WAITS:
        add_waits(words, picture);
        break;
    case PICTURE_PAIRS:
        add_pairs(words, picture);
        break;
    case PICTURE_MACHINE:
        add_machine(words, picture);
        break;
    default:
        add_head(words, picture, width);
        break;
    }
}

/** Add something to the right of a column. */
static void add_right(struct words *words, const char *text, int width)
{
    words_add(words, " %*s", width, text);
}

static void add_number(struct words *words, double number, int width)
{
    char room[16];
    struct words text = words_begin(room, sizeof(room));

    words_add_number(&text, number);
    add_right(words, room, width);
}

static void add_percent(struct words *words, double share, int width)
{
    char room[16];
    struct words text = words_begin(room, sizeof(room));

    add_share(&text, share);
    add_right(words, room, width);
}

static void add_who(struct words *words, const struct picture *picture,
                    const struct row *row)
{
    char room[RANKS_BYTES + 8], core[16] = "-";
    struct words ranks = words_begin(room, sizeof(room));

    if (picture->is_grouped) {
        words_add_ranks(&ranks, row->ranks, row->n_ranks, RANKS_BYTES);
        words_add(words, "%-*s %5u", RANKS_BYTES, room, row->n_ranks);
        return;
    }
    if (row->core >= 0) {
        snprintf(core, sizeof(core), "%d", row->core);
    }
    words_add(words, "%5u %4s", row->ranks[0], core);
}

/** A place without its function. */
static const char *line_of(const char *place)
{
    const char *comma = place == NULL ? NULL : strrchr(place, ',');

    return comma == NULL ? place : comma + 2;
}

void picture_add_row(struct words *words, const struct picture *picture,
                     const struct row *row, const char *place, uint32_t width,
                     uint32_t n_left_out)
{
    char since[16], text[TEXT_BYTES];
    struct words time = words_begin(since, sizeof(since));
    struct words wait = words_begin(text, sizeof(text));

    add_who(words, picture, row);
    add_percent(words, row->cpu, 4);
    add_percent(words, row->communication, 5);
    if (has_messages(picture, width)) {
        add_number(words, row->messages_s, 5);
    }
    if (width >= WIDE) {
        add_number(words, row->bytes_s, 6);
    }
    if (row->wait != ROWS_NO_WAIT) {
        words_add_time(&time, row->since_s);
    }
    add_right(words, since, 5);
    words_add_wait(&wait, picture->now, row,
                   width < VERY_WIDE ? line_of(place) : place);
    words_add(words, " %s", n_left_out < wait.n ? text + n_left_out : "");
}

void picture_add_foot(struct words *words, const struct picture *picture)
{
    if (picture->has_ended) {
        words_add(words,
                  "The job has ended; this is how it was last seen.  j/k other job  "
                  "q quit");
        return;
    }
    words_add(words, "q quit  ? help  arrows scroll  j/k job  s sort  g %s  p %s",
              picture->is_grouped ? "ranks" : "groups",
              picture->is_paused ? "go on" : "pause");
}

const char *picture_help(uint32_t number)
{
    return number < sizeof(help_lines) / sizeof(help_lines[0]) ? help_lines[number]
                                                               : NULL;
}
