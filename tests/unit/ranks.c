/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks as threads; see ranks.h.
 */
#include "tests/unit/ranks.h"

#include <check.h>
#include <string.h>

#include "libbcs/session/mapping.h"

static int allgather(void *arg, const void *mine, size_t n_bytes, void *all_out)
{
    const struct ranks_rank *rank = arg;
    struct ranks_job *job = rank->job;

    ck_assert_uint_le(n_bytes, RANKS_GATHER_BYTES);
    memcpy(job->gathered[rank->entry.bootstrap.rank], mine, n_bytes);
    pthread_barrier_wait(&job->barrier);
    for (uint32_t i = 0; i < job->size; i++) {
        memcpy((uint8_t *)all_out + i * n_bytes, job->gathered[i], n_bytes);
    }
    pthread_barrier_wait(&job->barrier);
    return 0;
}

void ranks_init(struct ranks_job *job, struct ranks_rank ranks[], uint32_t size,
                uint64_t defer)
{
    char error[256];

    job->size = size;
    pthread_barrier_init(&job->barrier, NULL, size);
    for (uint32_t i = 0; i < size; i++) {
        struct bcs_entry *entry = &ranks[i].entry;

        ranks[i] = (struct ranks_rank){.job = job};
        ck_assert_int_eq(bcs_config_read(&nic_config_table, &entry->settings.nic, error,
                                         sizeof(error)),
                         0);
        entry->settings.nic.defer = defer;
        entry->bootstrap = (struct bcs_bootstrap){
            .rank = i,
            .size = size,
            .n_near = size,
            .arg = &ranks[i],
            .allgather = allgather,
        };
    }
}

void ranks_set_far(struct ranks_rank ranks[], uint32_t n, uint64_t far)
{
    for (uint32_t i = 0; i < n; i++) {
        ranks[i].entry.settings.nic.far = far;
    }
}

struct bcs_port_map *ranks_map(struct ranks_rank *rank)
{
    struct bcs_port_map *map = NULL;

    ck_assert_int_eq(
        bcs_mapping_find(&rank->entry.bootstrap, &rank->entry.settings.nic, &map), 0);
    return map;
}

void ranks_fini(struct ranks_job *job)
{
    pthread_barrier_destroy(&job->barrier);
}

struct start {
    void (*fn)(struct ranks_rank *rank);
    struct ranks_rank *rank;
};

static void *thread_main(void *arg)
{
    const struct start *start = arg;

    start->fn(start->rank);
    return NULL;
}

void ranks_run(struct ranks_rank ranks[], uint32_t n,
               void (*fn)(struct ranks_rank *rank))
{
    pthread_t threads[RANKS_MOST];
    struct start starts[RANKS_MOST];

    ck_assert_uint_le(n, RANKS_MOST);
    for (uint32_t i = 0; i < n; i++) {
        starts[i] = (struct start){fn, &ranks[i]};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, thread_main, &starts[i]), 0);
    }
    for (uint32_t i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
}

void ranks_run_two_jobs(void (*fn)(struct ranks_rank *rank))
{
    static struct ranks_job jobs[2];
    struct ranks_rank ranks[5];

    ranks_init(&jobs[0], ranks, 2, 0);
    ranks_init(&jobs[1], ranks + 2, 3, 0);
    ranks_run(ranks, 5, fn);
    ranks_fini(&jobs[0]);
    ranks_fini(&jobs[1]);
}

bool ranks_is_all(const uint8_t *bytes, size_t n_bytes, uint8_t byte)
{
    size_t i = 0;

    while (i < n_bytes && bytes[i] == byte) {
        i++;
    }
    return i == n_bytes;
}
