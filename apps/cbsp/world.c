/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an application needs of cBSP. The only file of the applications that calls it;
 * every process runs it.
 */
#include "apps/cbsp/world.h"

#include <bcs/cbsp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXIT_UNUSABLE 2

/* The library has logged what is wrong; the launcher ends the others. */
static void end_if(int result)
{
    if (result != 0) {
        fflush(stdout);
        _Exit(EXIT_UNUSABLE);
    }
}

void world_fail(const struct world *world, const char *text)
{
    fprintf(stderr, "process %d: %s\n", world->pid, text);
    end_if(1);
    abort();
}

void *world_array(const struct world *world, size_t n, size_t element_bytes)
{
    void *array = calloc(n > 0 ? n : 1, element_bytes);

    if (array == NULL) {
        world_fail(world, "no memory; allowed: a smaller problem");
    }
    return array;
}

void world_init(struct world *world)
{
    *world = (struct world){0};
    end_if(cBSP_initialize());
    world->pid = cBSP_pid();
    world->n_processes = cBSP_nprocs();
}

void world_fini(struct world *world)
{
    end_if(cBSP_finalize());
    *world = (struct world){0};
}

void area_init(struct area *area, struct world *world, size_t n_bytes)
{
    area->region = world->n_regions++;
    area->mine = world_array(world, n_bytes, 1);
    area->there = world_array(world, (size_t)world->n_processes, sizeof(void *));
    end_if(cBSP_export(area->region, area->mine, n_bytes));
    end_if(cBSP_gsync());
    for (int process = 0; process < world->n_processes; process++) {
        end_if(cBSP_import(process, area->region, &area->there[process], NULL));
    }
}

void area_fini(struct area *area)
{
    end_if(cBSP_unexport(area->region));
    end_if(cBSP_gsync());
    free(area->mine);
    free(area->there);
    *area = (struct area){0};
}

void world_put(int process, const struct area *area, size_t offset, const void *source,
               size_t n_bytes)
{
    end_if(cBSP_send(process, (char *)area->there[process] + offset, source, n_bytes,
                     NULL));
}

void world_deliver(int process, world_handler_fn *handler, const void *source,
                   size_t n_bytes)
{
    end_if(cBSP_send(process, NULL, source, n_bytes, handler));
}

static void sync_all(struct world *world)
{
    world->n_supersteps++;
    end_if(cBSP_gsync());
}

void world_sync(struct world *world, int64_t n_messages)
{
    world->n_known++;
    if (!world->is_counting) {
        sync_all(world);
        return;
    }
    if (n_messages > INT_MAX) {
        world_fail(world, "more messages in a superstep than an int can count");
    }
    world->n_supersteps++;
    end_if(cBSP_nsync((int)n_messages));
}

void world_sync_unknown(struct world *world)
{
    sync_all(world);
}

void world_share(struct world *world, const struct area *area, const void *mine,
                 size_t n_bytes)
{
    size_t offset = (size_t)world->pid * n_bytes;

    for (int process = 0; process < world->n_processes; process++) {
        if (process != world->pid) {
            world_put(process, area, offset, mine, n_bytes);
        }
    }
    world_sync(world, world->n_processes - 1);
    memcpy(area->mine + offset, mine, n_bytes);
}

double world_now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void world_start(struct world *world)
{
    end_if(cBSP_gsync());
    world->timed = (struct world_timing){.seconds = world_now_seconds()};
    world->n_supersteps = 0;
    world->n_known = 0;
}

void world_stop(struct world *world)
{
    int64_t n_supersteps = world->n_supersteps;
    double start = world->timed.seconds;

    end_if(cBSP_gsync());
    world->timed = (struct world_timing){.n_supersteps = n_supersteps,
                                         .n_known = world->n_known,
                                         .seconds = world_now_seconds() - start};
}
