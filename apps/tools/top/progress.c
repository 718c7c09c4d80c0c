/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints lines about a job; see progress.h. Whether anything has moved is known by the
 * sum of all that messages and collectives change (bcs_look_sum), as what is counted
 * here may miss something.
 */
#include "progress.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "job_look.h"
#include "libbcs/fabric/base/clock.h"
#include "rows.h"
#include "starter.h"
#include "where.h"
#include "words.h"

#define SHORT_SLEEP_NS UINT64_C(100000000) /* so that its end is soon noticed */

enum { LINE_BYTES = 512 };

/** A job that is accompanied. */
struct company {
    const struct starter_job *job;
    struct places *places;
    uint64_t interval_ns;
    struct bcs_traffic traffic;
    struct job_look before, now;
    uint64_t sum;      /* at the last look */
    uint64_t moved_ns; /* the last look that has found it to move */
};

/** How fast it goes. */
static void add_speed(struct words *words, const struct rows *rows)
{
    words_add_number(words, rows->messages_s);
    words_add(words, " messages/s, ");
    words_add_number(words, rows->bytes_s);
    words_add(words, "B/s, ");
    words_add_number(words, rows->collectives_s);
    words_add(words, " collectives/s, ");
    words_add_number(words, rows->slices_s);
    words_add(words, " slices/s");
}

/** Who waits, and in what most of them do. */
static void add_waits(struct words *words, const struct company *company,
                      const struct rows *rows)
{
    const struct row *most = NULL;
    const struct job_wait *wait;
    struct where where;

    for (uint32_t i = 0; i < rows->n; i++) {
        if (rows->rows[i].wait != ROWS_NO_WAIT &&
            (most == NULL || rows->rows[i].n_ranks > most->n_ranks)) {
            most = &rows->rows[i];
        }
    }
    if (most == NULL) {
        words_add(words, "no rank waits");
        return;
    }
    words_add(words, "%u of %u ranks wait: rank%s ", rows->n_waiting,
              company->now.n_ranks, most->n_ranks > 1 ? "s" : "");
    words_add_ranks(words, most->ranks, most->n_ranks, 16);
    words_add(words, " in ");
    wait = &company->now.waits[most->wait];
    place_renew(company->places);
    where = where_find(company->places, job_wait_files(wait),
                       company->now.ranks[most->ranks[0]].pid, &wait->stand, 1);
    words_add_wait(words, &company->now, most, where.n == 0 ? NULL : where.words[0]);
    where_fini(&where);
}

static int print_line(const struct company *company)
{
    uint64_t now_ns = company->now.now_ns;
    uint64_t began_ns = bcs_look_board(company->job->look)->began_ns;
    char room[LINE_BYTES];
    struct words words = words_begin(room, sizeof(room));
    struct rows rows;
    int rc = rows_make(&company->before, &company->now, true, ROWS_BY_RANK, &rows);

    if (rc < 0) {
        return rc;
    }
    words_add(&words, "bcsrun: ");
    words_add_time(&words, (double)(now_ns - began_ns) / 1e9);
    words_add(&words, ": ");
    if (company->moved_ns == now_ns) {
        add_speed(&words, &rows);
    } else {
        words_add(&words, "nothing has moved for ");
        words_add_time(&words, (double)(now_ns - company->moved_ns) / 1e9);
    }
    words_add(&words, "; ");
    add_waits(&words, company, &rows);
    rows_fini(&rows);
    return printf("%s\n", words.text) < 0 || fflush(stdout) != 0 ? -EIO : 0;
}

/** Look, and remember what has come of the look before. @return 0 or -errno */
static int look(struct company *company)
{
    struct job_look now;
    uint64_t sum;
    int rc = bcs_look_sum(company->job->look, &sum);

    rc = rc < 0 ? rc : job_look_take(company->job->look, &company->traffic, &now);
    if (rc < 0) {
        return rc;
    }
    if (sum != company->sum || now.has_moved || company->moved_ns == 0) {
        company->moved_ns = now.now_ns;
    }
    company->sum = sum;
    job_look_fini(&company->before);
    company->before = company->now;
    company->now = now;
    return 0;
}

/** Wait for the next line. @return whether the job is still there */
static bool await_time(const struct company *company, uint64_t until_ns)
{
    uint64_t now_ns;

    while ((now_ns = bcs_clock_now_ns()) < until_ns) {
        uint64_t left_ns = until_ns - now_ns;

        if (!bcs_look_is_there(&company->job->found)) {
            return false;
        }
        starter_sleep(left_ns < SHORT_SLEEP_NS ? left_ns : SHORT_SLEEP_NS);
    }
    return bcs_look_is_there(&company->job->found);
}

/** Accompany a job until it has ended. @return 0 or -errno */
static int accompany(struct company *company)
{
    uint64_t next_ns = bcs_clock_now_ns();
    int rc = look(company);

    while (rc == 0 && await_time(company, next_ns += company->interval_ns)) {
        rc = look(company);
        rc = rc < 0 ? rc : print_line(company);
    }
    job_look_fini(&company->before);
    job_look_fini(&company->now);
    bcs_traffic_fini(&company->traffic);
    return rc;
}

int progress_tell(int64_t starter, uint64_t interval_ns)
{
    struct places *places = place_open(PLACE_HASTY_NS);
    int rc = places == NULL ? -ENOMEM : 0;

    while (rc == 0) {
        struct starter_job job;

        rc = starter_await_job(starter, &job);
        if (rc == 0) {
            rc = accompany(&(struct company){
                .job = &job, .places = places, .interval_ns = interval_ns});
            bcs_look_close(job.look);
            starter_sleep(SHORT_SLEEP_NS);
        }
    }
    place_close(places);
    return EXIT_FAILURE;
}
