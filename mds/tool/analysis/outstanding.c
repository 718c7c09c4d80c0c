/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what stands out; see outstanding.h. One thread.
 */
#include "mds/tool/analysis/outstanding.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "mds/tool/analysis/split_read.h"

enum {
    MOST_RANKS = 4,  /* that are told to be waited for */
    MOST_SITES = 10, /* that are looked at */
};

/** What is worked on. */
struct work {
    const struct run *run;
    const struct waits *waits;
    struct places *places;
    struct efficiency efficiency;
    const uint64_t
        *waited_ns; /* [n_files] by rank: how long it has waited for others, */
    const uint64_t *blame_ns; /* and others because of it; NULL: neither is known */
    uint64_t *ns;             /* both, if no events tell them; else NULL */
    struct site *sites;       /* [n_sites] then, where late ranks were waited for */
    size_t n_sites;
    double slice_ns;   /* for the begin of slices, mean of the ranks; 0: not known */
    double unsplit_ns; /* in calls of which it is not known what they waited for */
    FILE *out;
    size_t n_told;
    bool has_no_memory;
};

static double seconds(double ns)
{
    return ns / 1e9;
}

static uint32_t rank_of(const struct work *work, uint32_t number)
{
    return work->run->files[number].process.rank;
}

/** Whether a time that each rank has lost, in the mean, is worth a word. */
static bool is_much(const struct work *work, double ns)
{
    return ns >= OUTSTANDING_NS &&
           efficiency_part(ns, work->efficiency.run_ns) >= OUTSTANDING_PART;
}

static double percent(const struct work *work, double ns)
{
    return 100 * efficiency_part(ns, work->efficiency.run_ns);
}

static void end_sentence(struct work *work)
{
    fputc('\0', work->out);
    work->n_told++;
}

static void put_place(struct work *work, const struct site *site)
{
    char *words = site_words(site, work->places);

    work->has_no_memory |= words == NULL;
    fprintf(work->out, "%s", words == NULL ? "" : words);
    free(words);
}

/** The place of the waits that were most to blame, of a rank if one is given; by
 *  events. */
static void put_wait(struct work *work, int64_t late_rank)
{
    const struct waits *waits = work->waits;
    const struct wait *found = NULL;

    for (size_t i = 0; i < waits->n; i++) {
        const struct wait *wait = &waits->waits[i];

        if ((late_rank < 0 || wait->late_rank == late_rank) &&
            (found == NULL || wait->root_ns > found->root_ns)) {
            found = wait;
        }
    }
    if (found != NULL) {
        fprintf(work->out, "; longest in ");
        put_place(work, &found->waiting);
        fprintf(work->out, ", for ");
        put_place(work, &found->late);
        fprintf(work->out, " of rank %u, %.3f s (%s)", found->late_rank,
                seconds((double)found->root_ns), wait_names[found->kind]);
    }
}

/** The place where most was waited for late ranks, or for one that is given. Its time
 *  is of all late ranks, so it is not told of one. */
static void put_site(struct work *work, int64_t late_rank)
{
    for (size_t i = 0; i < work->n_sites; i++) {
        const struct site *site = &work->sites[i]; /* the longest first */

        if (late_rank < 0 || (site->fault.ticks > 0 && site->fault.rank == late_rank)) {
            fprintf(work->out, "; longest in ");
            put_place(work, site);
            return;
        }
    }
}

/** The place of the longest waits, and what for if that is known. @param late_rank -1:
 *  any */
static void put_longest(struct work *work, int64_t late_rank)
{
    if (work->ns != NULL) {
        put_site(work, late_rank);
    } else {
        put_wait(work, late_rank);
    }
}

static void tell_imbalance(struct work *work)
{
    const struct efficiency *efficiency = &work->efficiency;
    double lost_ns = efficiency->most_ns - efficiency->outside_ns;
    uint32_t longest = 0, n_above = 0;

    if (!is_much(work, lost_ns)) {
        return;
    }
    for (uint32_t i = 0; i < work->run->n_files; i++) {
        uint64_t its_ns = efficiency_outside_ns(&work->run->summaries[i]);

        n_above += (double)its_ns > efficiency->outside_ns;
        if (its_ns > efficiency_outside_ns(&work->run->summaries[longest])) {
            longest = i;
        }
    }
    fprintf(work->out,
            "Load imbalance costs %.1f %% of all time: rank %u was outside of MPI for "
            "the longest, %.3f s; %u of %u ranks were for longer than the mean, %.3f "
            "s.",
            percent(work, lost_ns), rank_of(work, longest),
            seconds(efficiency->most_ns), n_above, work->run->n_files,
            seconds(efficiency->outside_ns));
    end_sentence(work);
}

/** The rank that was most to blame for waits. @return its number, *sum_ns_out all such
 *  waits */
static uint32_t find_late(const struct work *work, double *sum_ns_out)
{
    const uint64_t *blame_ns = work->blame_ns;
    uint32_t late = 0;

    *sum_ns_out = 0;
    for (uint32_t i = 0; i < work->run->n_files; i++) {
        *sum_ns_out += (double)blame_ns[i];
        late = blame_ns[i] > blame_ns[late] ? i : late;
    }
    return late;
}

static void tell_late(struct work *work)
{
    double sum_ns;
    uint32_t late = find_late(work, &sum_ns), rank = rank_of(work, late);
    double its_ns = (double)work->blame_ns[late];
    double mean_ns = its_ns / work->run->n_files;

    if (!is_much(work, mean_ns) || its_ns < OUTSTANDING_BLAME * sum_ns) {
        return;
    }
    fprintf(work->out,
            "Rank %u is late: others have waited for it for %.3f s, %.1f %% of all "
            "time",
            rank, seconds(its_ns), percent(work, mean_ns));
    put_longest(work, rank);
    fputc('.', work->out);
    end_sentence(work);
}

/** The ranks that were most to blame for waits, from the first one on. */
static void put_blamed(struct work *work)
{
    const uint64_t *blame_ns = work->blame_ns;
    uint64_t last_ns = UINT64_MAX; /* of the one that was told last, */
    uint32_t last = 0;             /* and its number */

    for (uint32_t n = 0; n < MOST_RANKS && n < work->run->n_files; n++) {
        uint32_t next = work->run->n_files;

        for (uint32_t i = 0; i < work->run->n_files; i++) {
            bool is_behind =
                blame_ns[i] < last_ns || (blame_ns[i] == last_ns && n > 0 && i > last);

            if (is_behind &&
                (next == work->run->n_files || blame_ns[i] > blame_ns[next])) {
                next = i;
            }
        }
        fprintf(work->out, "%s rank %u (%.3f s)", n > 0 ? "," : "", rank_of(work, next),
                seconds((double)blame_ns[next]));
        last_ns = blame_ns[next];
        last = next;
    }
}

static void tell_serialisation(struct work *work)
{
    const struct efficiency *efficiency = &work->efficiency;
    double ideal_ns = efficiency->transfer * efficiency->run_ns;
    double lost_ns = ideal_ns - efficiency->most_ns;

    if (!is_much(work, lost_ns)) {
        return;
    }
    fprintf(work->out,
            "Serialisation costs %.1f %% of all time: ranks compute one after the "
            "other. Others have waited most for",
            percent(work, lost_ns));
    put_blamed(work);
    put_longest(work, -1);
    fputc('.', work->out);
    end_sentence(work);
}

/** What the calls of a place have cost beside waiting for others. */
static uint64_t own_ns(const struct work *work, const struct site *site)
{
    uint64_t waited_ns = 0;

    if (work->ns != NULL) {
        return site->split.ns[MDS_PART_TRANSFER];
    }
    for (size_t i = 0; i < work->waits->n; i++) {
        if (site_compare(&work->waits->waits[i].waiting, site) == 0) {
            waited_ns += work->waits->waits[i].total_ns;
        }
    }
    return site->time.total_ns > waited_ns ? site->time.total_ns - waited_ns : 0;
}

/** The place whose calls cost most by themselves, of those with the longest calls. */
static void put_costly_place(struct work *work)
{
    size_t n, most = 0;
    struct site *sites = sites_of(work->run, -1, &n);
    uint64_t most_ns = 0;

    work->has_no_memory |= sites == NULL;
    for (size_t i = 0; sites != NULL && i < n && i < MOST_SITES; i++) {
        uint64_t its_ns = own_ns(work, &sites[i]);

        if (its_ns > most_ns) {
            most_ns = its_ns;
            most = i;
        }
    }
    if (most_ns > 0) {
        fprintf(work->out, "; most those of ");
        put_place(work, &sites[most]);
        fprintf(work->out, ", %.3f s", seconds((double)most_ns));
    }
    free(sites);
}

static void tell_slices(struct work *work)
{
    if (is_much(work, work->slice_ns)) {
        fprintf(work->out,
                "Waiting for time slices to begin costs %.1f %% of all time.",
                percent(work, work->slice_ns));
        end_sentence(work);
    }
}

/** What is lost in calls beside waiting for others, and for slices. */
static void tell_transfer(struct work *work)
{
    double run_ns = work->efficiency.run_ns;
    double lost_ns = run_ns - work->efficiency.transfer * run_ns - work->slice_ns;

    if (!is_much(work, lost_ns)) {
        return;
    }
    fprintf(work->out,
            "Calls themselves, not who is late for them, cost %.1f %% of all time",
            percent(work, lost_ns));
    put_costly_place(work);
    fputc('.', work->out);
    end_sentence(work);
}

/** Calls of which it is not known what they have waited for. */
static void tell_unsplit(struct work *work)
{
    fprintf(work->out,
            "%.1f %% of all time is spent in calls of which it was not recorded what "
            "they waited for.",
            percent(work, work->unsplit_ns));
    end_sentence(work);
}

/** How many calls have lost their events, and what that leaves out. */
static void tell_lost(struct work *work)
{
    uint64_t n_calls = 0, n_lost = 0;
    uint32_t n_ranks = 0;

    for (uint32_t i = 0; i < work->run->n_files; i++) {
        const struct dump_file *file = &work->run->files[i];
        uint64_t its_lost = timeline_lost(file);

        n_calls += its_lost + file->events.n;
        if (file->events.n > 0 && its_lost > 0) { /* events were recorded */
            n_lost += its_lost;
            n_ranks++;
        }
    }
    if (n_lost == 0) {
        return;
    }
    fprintf(work->out,
            "%u of %u ranks have lost events, of %" PRIu64 " of %" PRIu64 " calls: %s "
            "A larger BCS_MDS_EVENTS keeps more.",
            n_ranks, work->run->n_files, n_lost, n_calls,
            work->blame_ns == NULL
                ? "only load imbalance is told."
                : "it is told which rank calls have waited for, not whom that rank has "
                  "waited for itself, nor in which call it was.");
    end_sentence(work);
}

/** Take what each rank has recorded of its own waits. */
static void split_take(struct work *work)
{
    uint32_t n = work->run->n_files;
    struct split_rank *ranks = split_ranks(work->run);

    work->ns = calloc((size_t)n + 1, 2 * sizeof(*work->ns));
    work->sites = split_sites(work->run, -1, &work->n_sites);
    work->has_no_memory |= ranks == NULL || work->ns == NULL || work->sites == NULL;
    for (uint32_t i = 0; i < n && !work->has_no_memory; i++) {
        work->ns[i] = split_late_ns(ranks[i].own.ns);
        work->ns[n + i] = split_late_ns(ranks[i].others_ns);
        work->slice_ns += (double)ranks[i].own.ns[MDS_PART_SLICE] / n;
        work->unsplit_ns += (double)ranks[i].own.ns[MDS_PART_OTHER] / n;
    }
    free(ranks);
    work->waited_ns = work->ns;
    work->blame_ns = work->ns + n;
}

static bool has_ended(const struct run *run)
{
    for (uint32_t i = 0; i < run->n_files; i++) {
        if (run->files[i].process.end != MDS_DUMP_END_FINALIZE) {
            return false;
        }
    }
    return true;
}

bool outstanding_is_whole(const struct waits *waits)
{
    return waits->n_events > 0 && waits->n_left_out == 0;
}

/** What is lost in waits and in calls. */
static void tell_waits(struct work *work)
{
    bool is_known = !is_much(work, work->unsplit_ns);

    efficiency_split(work->run, work->waited_ns, &work->efficiency);
    tell_late(work);
    tell_serialisation(work);
    tell_slices(work);
    if (is_known) {
        tell_transfer(work);
    } else {
        tell_unsplit(work);
    }
    if (work->n_told == 0) {
        fprintf(work->out, "Nothing that costs %.0f %% of all time.",
                100 * OUTSTANDING_PART);
        end_sentence(work);
    }
}

static void tell(struct work *work)
{
    work->efficiency = efficiency_of(work->run);
    tell_imbalance(work);
    if (outstanding_is_whole(work->waits)) {
        work->waited_ns = work->waits->waited_ns;
        work->blame_ns = work->waits->root_ns;
    } else if (split_is_in_all(work->run)) {
        split_take(work);
    }
    if (work->blame_ns != NULL && !work->has_no_memory) {
        tell_waits(work);
    }
    tell_lost(work);
}

int outstanding_of(const struct run *run, const struct waits *waits,
                   struct places *places, char **text_out)
{
    struct work work = {.run = run, .waits = waits, .places = places};
    size_t n_bytes;
    char *text;

    work.out = open_memstream(&text, &n_bytes);
    if (work.out == NULL) {
        return -ENOMEM;
    }
    if (run->n_files > 1 && has_ended(run)) {
        tell(&work);
    }
    end_sentence(&work);
    free(work.ns);
    free(work.sites);
    if (fclose(work.out) != 0 || work.has_no_memory) {
        free(text);
        return -ENOMEM;
    }
    *text_out = text;
    return 0;
}
