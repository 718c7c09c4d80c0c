/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a job without processes; see fake_job.h.
 */
#include "tests/unit/fake_job.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libbcs/fabric/base/limits.h"

/** @return a file as segments are, or -errno */
static int make_file(uint64_t n_bytes)
{
    int fd = memfd_create("bcs", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0 || ftruncate(fd, (off_t)n_bytes) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0) {
        return -errno;
    }
    return fd;
}

/** What a board says of a job of that size. @return 0 or -EINVAL */
static int fill_board(struct fake_job *fake)
{
    struct bcs_board *board = fake->board;
    const char *bad;

    board->shape = (struct nic_shape){
        FAKE_RANKS,
        FAKE_NODE_RANKS,
        FAKE_NODE_RANKS,
        false,
        64,
        4,
        5000,
        7000,
        200,
        128,
        300,
        64,
        64,
        0,
        {0},
    };
    board->n_nodes = FAKE_NODES;
    board->n_near = FAKE_NODES;
    board->n_ranks = FAKE_RANKS;
    return bcs_limits_parse("least", &board->shape.limits, &bad) &&
                   nic_layout_init(&fake->layout, &board->shape) == 0 &&
                   fake->layout.n_nodes == FAKE_NODES
               ? 0
               : -EINVAL;
}

/** The heap of a node. @return 0 or -errno */
static int add_heap(struct fake_job *fake, uint32_t node)
{
    struct bcs_shm_handle handle = {.pid = getpid()};

    fake->heaps[node] = make_file(fake->layout.heap_bytes);
    handle.fd = fake->heaps[node];
    memcpy(&fake->board->nodes[node].memory, &handle, sizeof(handle));
    atomic_store(&fake->board->nodes[node].is_ready, 1);
    return fake->heaps[node] < 0 ? fake->heaps[node] : 0;
}

int fake_job_make(struct fake_job *fake_out)
{
    struct fake_job *fake = fake_out;
    int rc;

    *fake = (struct fake_job){.segment = make_file(FAKE_SEGMENT_BYTES)};
    if (fake->segment < 0) {
        return fake->segment;
    }
    fake->sign = mmap(NULL, FAKE_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                      fake->segment, 0);
    if (fake->sign == MAP_FAILED) {
        return -errno;
    }
    fake->board = (void *)((char *)fake->sign + FAKE_BOARD);
    rc = fill_board(fake);
    for (uint32_t i = 0; i < FAKE_NODES && rc == 0; i++) {
        rc = add_heap(fake, i);
    }
    memcpy(fake->sign->magic, BCS_SIGN_MAGIC, sizeof(fake->sign->magic));
    fake->sign->layout = bcs_board_layout();
    fake->sign->board = FAKE_BOARD;
    atomic_store(&fake->sign->is_ready, 1);
    fake->found.handle = (struct bcs_shm_handle){.pid = getpid(), .fd = fake->segment};
    return rc;
}

void fake_job_end(struct fake_job *fake)
{
    munmap(fake->sign, FAKE_SEGMENT_BYTES);
    close(fake->segment);
    for (uint32_t i = 0; i < FAKE_NODES; i++) {
        close(fake->heaps[i]);
    }
}
