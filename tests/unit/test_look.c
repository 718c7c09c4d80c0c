/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looking at a job whose owner changes its memory meanwhile: what was checked stays as it was.
 */
#include "libbcs/look/look.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libbcs/base/limits.h"
#include "libbcs/tools/top/job_look.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 5, NODE_RANKS = 2, N_NODES = 3, SEGMENT_BYTES = 4096 };

/** A job without processes: its segment, and the heaps of its nodes. */
struct fake {
    struct bcs_sign *sign;
    struct bcs_board *board;
    struct bcs_look_found found;
    int segment, heaps[N_NODES];
};

static int make_file(uint64_t n_bytes)
{
    int fd = memfd_create("bcs", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)n_bytes), 0);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    return fd;
}

static void make_job(struct fake *fake)
{
    struct nic_layout layout;
    const char *bad;

    fake->segment = make_file(SEGMENT_BYTES);
    fake->sign =
        mmap(NULL, SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fake->segment, 0);
    ck_assert_ptr_ne(fake->sign, MAP_FAILED);
    fake->board = (void *)((char *)fake->sign + 256);
    fake->board->shape = (struct nic_shape){
        N_RANKS, NODE_RANKS, NODE_RANKS, false, 64, 4,   5000,
        7000,    200,        128,        300,   0,  {0},
    };
    ck_assert(bcs_limits_parse("least", &fake->board->shape.limits, &bad));
    fake->board->n_nodes = N_NODES;
    ck_assert_int_eq(nic_layout_init(&layout, &fake->board->shape), 0);
    ck_assert_uint_eq(layout.n_nodes, N_NODES);
    for (uint32_t i = 0; i < N_NODES; i++) {
        struct bcs_shm_handle handle = {.pid = getpid()};

        fake->heaps[i] = make_file(layout.heap_bytes);
        handle.fd = fake->heaps[i];
        memcpy(&fake->board->nodes[i].memory, &handle, sizeof(handle));
        atomic_store(&fake->board->nodes[i].is_ready, 1);
    }
    memcpy(fake->sign->magic, BCS_SIGN_MAGIC, sizeof(fake->sign->magic));
    fake->sign->layout = bcs_board_layout();
    fake->sign->board = 256;
    atomic_store(&fake->sign->is_ready, 1);
    fake->found.handle = (struct bcs_shm_handle){.pid = getpid(), .fd = fake->segment};
}

static void end_job(struct fake *fake)
{
    munmap(fake->sign, SEGMENT_BYTES);
    close(fake->segment);
    for (uint32_t i = 0; i < N_NODES; i++) {
        close(fake->heaps[i]);
    }
}

START_TEST(what_was_checked_stays_whatever_the_owner_does)
{
    char version[BCS_SIGN_VERSION_BYTES];
    struct bcs_traffic traffic = {0};
    struct job_look taken;
    struct bcs_look *look;
    struct fake fake;

    make_job(&fake);
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), 0);
    fake.board->shape.n_ports = UINT32_MAX;
    fake.board->shape.node_ranks = 0;
    fake.board->n_nodes = UINT32_MAX;
    fake.board->lock_offset = UINT32_MAX;
    fake.board->slice_offset = UINT32_MAX;
    memset(fake.board->driver, 'x', sizeof(fake.board->driver));

    ck_assert_uint_eq(bcs_look_board(look)->shape.n_ports, N_RANKS);
    ck_assert_uint_eq(bcs_look_board(look)->shape.node_ranks, NODE_RANKS);
    ck_assert_uint_eq(bcs_look_board(look)->n_nodes, N_NODES);
    ck_assert_uint_ne(bcs_look_board(look)->slice_offset, UINT32_MAX);
    ck_assert_uint_ne(bcs_look_board(look)->lock_offset, UINT32_MAX);
    ck_assert_int_eq(bcs_look_board(look)->driver[0], '\0');
    ck_assert_int_eq(job_look_take(look, &traffic, &taken), 0);
    ck_assert_uint_eq(taken.n_ranks, N_RANKS);
    job_look_fini(&taken);
    bcs_traffic_fini(&traffic);
    bcs_look_close(look);
    end_job(&fake);
}
END_TEST

START_TEST(a_board_that_makes_no_sense_is_refused)
{
    char version[BCS_SIGN_VERSION_BYTES];
    struct bcs_look *look;
    struct fake fake;

    make_job(&fake);
    fake.board->n_nodes = N_NODES + 1;
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    fake.board->n_nodes = N_NODES;
    fake.board->shape.has_links = 2;
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    fake.board->shape.has_links = 0;
    fake.sign->board = SEGMENT_BYTES - 8;
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    fake.sign->board = UINT64_MAX - 7;
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    fake.sign->board = 256;
    atomic_store(&fake.board->nodes[N_NODES - 1].is_ready, 0);
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EAGAIN);
    end_job(&fake);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("look");

    tcase_add_test(tcase, what_was_checked_stays_whatever_the_owner_does);
    tcase_add_test(tcase, a_board_that_makes_no_sense_is_refused);
    return run_tcase("look", tcase);
}
