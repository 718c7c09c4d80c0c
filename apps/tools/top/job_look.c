/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at a job; see job_look.h.
 */
#include "job_look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/kernel_stat.h"

enum { FIRST_ROOM = 64 };

/** What the kernel says of a rank's process. */
static void ask_kernel(struct job_rank *rank)
{
    const uint64_t tick_ns = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
    struct bcs_kernel_stat stat;

    rank->core = -1;
    if (bcs_kernel_stat_process(rank->pid, &stat)) {
        rank->cpu_ns = (stat.user_time + stat.system_time) * tick_ns;
        rank->core = stat.core;
    }
}

/** Make room for one more wait. @return 0 or -ENOMEM */
static int make_room(struct job_look *look)
{
    uint32_t n_room = look->n_waits_room == 0 ? FIRST_ROOM : look->n_waits_room * 2;
    struct job_wait *waits;
    uint64_t *words;

    if (look->n_waits < look->n_waits_room) {
        return 0;
    }
    waits = realloc(look->waits, n_room * sizeof(*waits));
    if (waits == NULL) {
        return -ENOMEM;
    }
    look->waits = waits;
    words = realloc(look->released_by, (size_t)n_room * look->n_words * sizeof(*words));
    if (words == NULL) {
        return -ENOMEM;
    }
    look->released_by = words;
    look->n_waits_room = n_room;
    return 0;
}

/** Where the threads of a rank stand. @param stand  room for a record */
static int take_waits(const struct bcs_look *from, struct job_look *look, uint32_t rank,
                      struct bcs_stand *stand)
{
    struct job_rank *one = &look->ranks[rank];
    uint64_t sequence;
    int rc = 0;

    one->first_wait = look->n_waits;
    for (uint32_t i = 0; i < BCS_STAND_THREADS && rc == 0; i++) {
        if (bcs_look_stand(from, rank, i, stand, &sequence) != 0) {
            continue;
        }
        rc = make_room(look);
        if (rc == 0) {
            struct job_wait *wait = &look->waits[look->n_waits];

            *wait = (struct job_wait){.rank = rank, .stand = *stand};
            wait->is_far = bcs_look_files_of(from, rank, i, &wait->files);
            memcpy(look->released_by + (uint64_t)look->n_waits * look->n_words,
                   bcs_stand_set(stand, BCS_STAND_RELEASING, look->n_ranks),
                   look->n_words * sizeof(uint64_t));
            look->n_waits++;
            one->n_waits++;
        }
    }
    return rc;
}

static int take_ranks(const struct bcs_look *from, struct job_look *look)
{
    struct bcs_stand *stand = calloc(bcs_stand_words(look->n_ranks), sizeof(uint64_t));
    int rc = stand == NULL ? -ENOMEM : 0;

    for (uint32_t i = 0; i < look->n_ranks && rc == 0; i++) {
        look->ranks[i].pid = bcs_look_is_near(from, i) ? bcs_look_pid(from, i) : 0;
        ask_kernel(&look->ranks[i]);
        rc = take_waits(from, look, i, stand);
    }
    free(stand);
    return rc;
}

static int take_traffic(const struct bcs_look *from, struct bcs_traffic *traffic,
                        struct job_look *look)
{
    int rc = bcs_traffic_look(from, traffic);

    if (rc < 0) {
        return rc;
    }
    if (traffic->flows.n > 0) {
        look->flows = malloc(traffic->flows.n * sizeof(look->flows[0]));
        if (look->flows == NULL) {
            return -ENOMEM;
        }
        memcpy(look->flows, traffic->flows.flows,
               traffic->flows.n * sizeof(look->flows[0]));
    }
    look->n_flows = traffic->flows.n;
    look->n_collectives = traffic->n_collectives;
    look->n_slices = traffic->n_slices;
    look->has_moved = traffic->has_moved;
    return 0;
}

int job_look_take(const struct bcs_look *look, struct bcs_traffic *traffic,
                  struct job_look *look_out)
{
    uint32_t n_ranks = bcs_look_n_ranks(look);
    struct job_look taken = {
        .n_ranks = n_ranks,
        .n_words = (uint32_t)bcs_stand_rank_words(n_ranks),
        .ranks = calloc(n_ranks, sizeof(struct job_rank)),
    };
    int rc;

    bcs_look_ask(look);
    taken.now_ns = bcs_clock_now_ns();
    rc = taken.ranks == NULL ? -ENOMEM : take_traffic(look, traffic, &taken);
    rc = rc < 0 ? rc : take_ranks(look, &taken);
    if (rc < 0) {
        job_look_fini(&taken);
        return rc;
    }
    *look_out = taken;
    return 0;
}

void job_look_glance(const struct bcs_look *look, struct job_look *into)
{
    for (uint32_t i = 0; i < into->n_ranks; i++) {
        into->ranks[i].n_waiting += bcs_look_is_waiting(look, i);
        into->ranks[i].n_glances++;
    }
}

void job_look_fini(struct job_look *look)
{
    free(look->ranks);
    free(look->waits);
    free(look->released_by);
    free(look->flows);
    *look = (struct job_look){0};
}
