/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looking at a job whose owner changes its memory meanwhile: what was checked stays as
 * it was.
 */
#include "apps/tools/look/look.h"

#include <bcs/version.h>
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/tools/top/job_look.h"
#include "tests/unit/fake_job.h"
#include "tests/unit/run_suite.h"

enum { RING = 8 };

static const char *version = "1.0";

/** In place of the library's: a job may be of another version. */
const char *bcs_version(void)
{
    return version;
}

START_TEST(what_was_checked_stays_whatever_the_owner_does)
{
    char version[BCS_SIGN_VERSION_BYTES];
    struct bcs_traffic traffic = {0};
    struct job_look taken;
    struct bcs_look *look;
    struct fake_job fake;

    ck_assert_int_eq(fake_job_make(&fake), 0);
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), 0);
    fake.board->shape.n_ports = UINT32_MAX;
    fake.board->shape.node_ranks = 0;
    fake.board->n_nodes = UINT32_MAX;
    fake.board->lock_offset = UINT32_MAX;
    fake.board->slice_offset = UINT32_MAX;
    memset(fake.board->driver, 'x', sizeof(fake.board->driver));

    ck_assert_uint_eq(bcs_look_board(look)->shape.n_ports, FAKE_RANKS);
    ck_assert_uint_eq(bcs_look_board(look)->shape.node_ranks, FAKE_NODE_RANKS);
    ck_assert_uint_eq(bcs_look_board(look)->n_nodes, FAKE_NODES);
    ck_assert_uint_ne(bcs_look_board(look)->slice_offset, UINT32_MAX);
    ck_assert_uint_ne(bcs_look_board(look)->lock_offset, UINT32_MAX);
    ck_assert_int_eq(bcs_look_board(look)->driver[0], '\0');
    ck_assert_int_eq(job_look_take(look, &traffic, &taken), 0);
    ck_assert_uint_eq(taken.n_ranks, FAKE_RANKS);
    job_look_fini(&taken);
    bcs_traffic_fini(&traffic);
    bcs_look_close(look);
    fake_job_end(&fake);
}
END_TEST

/** Where the ring of a port's own messages is in the heap of its node. */
static off_t ring_of(const struct bcs_look *look, uint32_t port)
{
    return (off_t)(nic_layout_port_gva(bcs_look_layout(look), port) +
                   sizeof(struct bcs_port));
}

static void write_at(int fd, off_t at, const void *data, size_t n_bytes)
{
    ck_assert_int_eq(pwrite(fd, data, n_bytes, at), (ssize_t)n_bytes);
}

/** Put a message into a ring of RING entries, at a position that counts on; and say
 *  that all before it and itself were read. */
static void move(const struct fake_job *fake, off_t ring, uint32_t position,
                 uint32_t to, uint64_t n_bytes)
{
    const struct bcs_descriptor entry = {
        .kind = BCS_SEND, .port = to, .n_bytes = n_bytes};
    const uint32_t head = position + 1;

    write_at(fake->heaps[0],
             ring + (off_t)(offsetof(struct bcs_ring, entries) +
                            position % RING * sizeof(entry)),
             &entry, sizeof(entry));
    write_at(fake->heaps[0], ring + (off_t)offsetof(struct bcs_ring, head), &head,
             sizeof(head));
}

START_TEST(what_a_ring_has_moved_is_counted_when_it_has_gone_round)
{
    const uint32_t begin = UINT32_MAX - 1; /* the positions go round, too */
    char version[BCS_SIGN_VERSION_BYTES];
    struct bcs_traffic traffic = {0};
    struct bcs_look *look;
    struct fake_job fake;
    off_t ring;

    ck_assert_int_eq(fake_job_make(&fake), 0);
    fake.board->shape.limits.ring = RING;
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), 0);
    ring = ring_of(look, 1);
    for (uint32_t i = 0; i < RING; i++) { /* long ago */
        move(&fake, ring, begin - RING + i, 4, 1000);
    }
    ck_assert_int_eq(bcs_traffic_look(look, &traffic), 0);
    ck_assert_uint_eq(traffic.flows.n, 0);
    for (uint32_t i = 0; i < RING - 1; i++) {
        move(&fake, ring, begin + i, 3, 10 + i);
    }
    ck_assert_int_eq(bcs_traffic_look(look, &traffic), 0);
    ck_assert_uint_eq(traffic.flows.n, 1);
    ck_assert_uint_eq(traffic.flows.flows[0].from, 1);
    ck_assert_uint_eq(traffic.flows.flows[0].to, 3);
    ck_assert_double_eq(traffic.flows.flows[0].n_messages, RING - 1);
    ck_assert_double_eq(traffic.flows.flows[0].n_bytes,
                        10 * (RING - 1) + (RING - 1) * (RING - 2) / 2);
    ck_assert_int_eq(bcs_traffic_look(look, &traffic), 0);
    ck_assert(!traffic.has_moved);
    bcs_traffic_fini(&traffic);
    bcs_look_close(look);
    fake_job_end(&fake);
}
END_TEST

/** Let a thread of a rank tell that it waits, in a collective of that number, for
 *  ranks: a bit each. */
static void tell(const struct fake_job *fake, uint32_t rank, uint32_t thread,
                 uint64_t number, uint64_t ranks)
{
    uint64_t words[sizeof(struct bcs_stand) / sizeof(uint64_t) + BCS_STAND_SETS] = {0};
    struct bcs_stand *stand = (void *)words;
    uint64_t at = nic_layout_stands_gva(&fake->layout, rank);
    int heap = fake->heaps[nic_layout_node(&fake->layout, rank)];
    char *memory = mmap(NULL, fake->layout.heap_bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED, heap, 0);

    ck_assert(memory != MAP_FAILED);
    ck_assert_uint_eq(sizeof(words), bcs_stand_words(FAKE_RANKS) * sizeof(uint64_t));
    stand->is_waiting = 1;
    stand->number = number;
    words[sizeof(*stand) / sizeof(uint64_t)] = ranks; /* the first set */
    bcs_stand_write(bcs_stand_slot_at((void *)(memory + at), thread, FAKE_RANKS), stand,
                    FAKE_RANKS);
    munmap(memory, fake->layout.heap_bytes);
}

START_TEST(each_wait_is_of_its_rank_and_for_its_own_ranks)
{
    char version[BCS_SIGN_VERSION_BYTES];
    struct bcs_traffic traffic = {0};
    struct job_look taken;
    struct bcs_look *look;
    struct fake_job fake;

    ck_assert_int_eq(fake_job_make(&fake), 0);
    tell(&fake, 1, 0, 11, 1 << 4);
    tell(&fake, 1, 3, 12, 1 << 2);
    tell(&fake, 4, 1, 13, 1 << 0 | 1 << 1);
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), 0);
    ck_assert_int_eq(job_look_take(look, &traffic, &taken), 0);

    ck_assert_uint_eq(taken.n_waits, 3);
    for (uint32_t i = 0; i < FAKE_RANKS; i++) {
        ck_assert_uint_eq(taken.ranks[i].n_waits, i == 1 ? 2 : i == 4);
        ck_assert_uint_eq(taken.ranks[i].first_wait, i < 2 ? 0 : 2);
        ck_assert_int_eq(job_look_has(&taken, 0, i), i == 4);
        ck_assert_int_eq(job_look_has(&taken, 1, i), i == 2);
        ck_assert_int_eq(job_look_has(&taken, 2, i), i < 2);
    }
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(taken.waits[i].rank, i < 2 ? 1 : 4);
        ck_assert_uint_eq(taken.waits[i].stand.number, 11 + i);
    }
    job_look_glance(look, &taken);
    job_look_glance(look, &taken);
    for (uint32_t i = 0; i < FAKE_RANKS; i++) {
        ck_assert_uint_eq(taken.ranks[i].n_waiting, i == 1 || i == 4 ? 2 : 0);
        ck_assert_uint_eq(taken.ranks[i].n_glances, 2);
    }
    job_look_fini(&taken);
    bcs_traffic_fini(&traffic);
    bcs_look_close(look);
    fake_job_end(&fake);
}
END_TEST

/** How often a job is among those that were found. */
static int count(const struct fake_job *fake, const struct bcs_look_found *found, int n)
{
    struct stat segment;
    int n_seen = 0;

    ck_assert_int_eq(fstat(fake->segment, &segment), 0);
    for (int i = 0; i < n; i++) {
        n_seen += found[i].device == segment.st_dev && found[i].inode == segment.st_ino;
    }
    return n_seen;
}

/** Put a map on the board: of the ports, the third is a hole. */
static void put_map(const struct fake_job *fake, const uint32_t ports[], uint32_t n)
{
    fake->board->n_ranks = n;
    fake->board->has_map = 1;
    memcpy(bcs_board_ports(fake->board, FAKE_NODES), ports, n * sizeof(ports[0]));
}

START_TEST(ranks_are_found_by_their_ports)
{
    static const uint32_t ports[] = {4, 1, 3, 0};
    char version[BCS_SIGN_VERSION_BYTES];
    struct bcs_traffic traffic = {0};
    struct job_look taken;
    struct bcs_look *look;
    struct fake_job fake;

    ck_assert_int_eq(fake_job_make(&fake), 0);
    put_map(&fake, ports, 4);
    tell(&fake, 4, 0, 17, 1); /* port 4, of rank 0 */
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), 0);
    ck_assert_uint_eq(bcs_look_n_ranks(look), 4);
    ck_assert_uint_eq(bcs_look_ranks(look)[3], 2);
    ck_assert_uint_eq(bcs_look_ranks(look)[2], BCS_PORT_HOLE);
    ck_assert_int_eq(bcs_traffic_look(look, &traffic), 0);
    for (uint32_t i = 0; i < 2; i++) { /* of port 1, to ports 3 and 2 */
        move(&fake, ring_of(look, 1), i, 3 - i, 10);
    }
    ck_assert_int_eq(job_look_take(look, &traffic, &taken), 0);
    ck_assert_uint_eq(taken.n_ranks, 4);
    ck_assert_uint_eq(taken.n_waits, 1);
    ck_assert_uint_eq(taken.waits[0].rank, 0);
    ck_assert_uint_eq(taken.waits[0].stand.number, 17);
    ck_assert_uint_eq(taken.n_flows, 1); /* nothing goes to a hole */
    ck_assert_uint_eq(taken.flows[0].from, 1);
    ck_assert_uint_eq(taken.flows[0].to, 2);
    job_look_fini(&taken);
    bcs_traffic_fini(&traffic);
    bcs_look_close(look);
    fake_job_end(&fake);
}
END_TEST

START_TEST(ports_that_make_no_sense_are_refused)
{
    static const uint32_t twice[] = {4, 1, 3, 1}, beyond[] = {4, 1, 5, 0};
    char version[BCS_SIGN_VERSION_BYTES];
    struct bcs_look *look;
    struct fake_job fake;

    ck_assert_int_eq(fake_job_make(&fake), 0);
    put_map(&fake, twice, 4);
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    put_map(&fake, beyond, 4);
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    fake.board->n_ranks = FAKE_RANKS + 1;
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    fake.board->n_ranks = 0;
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    fake.board->has_map = 0; /* then each rank is its own port */
    fake.board->n_ranks = FAKE_RANKS - 1;
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    fake_job_end(&fake);
}
END_TEST

START_TEST(each_job_of_a_process_is_found_once)
{
    struct bcs_look_found *found;
    struct fake_job one, other;
    int copy, n;

    ck_assert_int_eq(fake_job_make(&one), 0);
    ck_assert_int_eq(fake_job_make(&other), 0);
    copy = dup(one.segment);
    n = bcs_look_find_of(getpid(), &found);
    ck_assert_int_eq(n, 2); /* no heap is a job */
    ck_assert_int_eq(count(&one, found, n), 1);
    ck_assert_int_eq(count(&other, found, n), 1);
    free(found);
    n = bcs_look_find(&found);
    ck_assert_int_ge(n, 2);
    ck_assert_int_eq(count(&one, found, n), 1);
    ck_assert_int_eq(count(&other, found, n), 1);
    free(found);
    close(copy);
    fake_job_end(&one);
    fake_job_end(&other);
}
END_TEST

START_TEST(a_job_of_another_version_is_told)
{
    char name[BCS_SIGN_VERSION_BYTES];
    struct bcs_look *look;
    struct fake_job fake;

    ck_assert_int_eq(fake_job_make(&fake), 0);
    strncpy(fake.sign->version, "1.0", sizeof(fake.sign->version) - 1);
    version = "1.1";
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, name), -EPROTO);
    ck_assert_str_eq(name, "1.0");
    version = "1.";
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, name), -EPROTO);
    version = "1.0";
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, name), 0);
    bcs_look_close(look);
    fake_job_end(&fake);
}
END_TEST

/** Node 0 has a record of a rank of another machine, and the file of its call. */
static void tell_far(const struct fake_job *fake, uint32_t rank, uint64_t pid)
{
    uint64_t words[sizeof(struct bcs_stand) / sizeof(uint64_t) + BCS_STAND_SETS] = {0};
    struct bcs_stand *stand = (void *)words;
    uint64_t at = nic_layout_far_stand_gva(&fake->layout, rank);
    char *memory = mmap(NULL, fake->layout.heap_bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED, fake->heaps[0], 0);
    struct bcs_far_stand *far_stand;

    ck_assert_ptr_ne(memory, MAP_FAILED);
    far_stand = (void *)(memory + at);
    far_stand->pid = pid;
    strcpy(far_stand->files[1].paths[0], "/there/prog");
    memset(far_stand->files[1].paths[2], 'x', BCS_STAND_FILE_BYTES);
    stand->is_waiting = 1;
    stand->number = 29;
    bcs_stand_write(bcs_stand_slot_at(bcs_far_stands(far_stand), 1, FAKE_RANKS), stand,
                    FAKE_RANKS);
    munmap(memory, fake->layout.heap_bytes);
}

START_TEST(ranks_of_other_machines_are_seen_as_node_0_knows_them)
{
    char version[BCS_SIGN_VERSION_BYTES];
    struct bcs_stand_files files;
    struct bcs_traffic traffic = {0};
    struct job_look taken;
    struct bcs_look *look;
    struct fake_job fake;

    ck_assert_int_eq(fake_job_make(&fake), 0);
    fake.board->n_near = 1;
    for (uint32_t i = 1; i < FAKE_NODES; i++) { /* they have no memory here */
        atomic_store(&fake.board->nodes[i].is_ready, 0);
    }
    tell_far(&fake, 3, 4711);
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), 0);
    ck_assert(bcs_look_is_near(look, 1) && bcs_look_is_known(look, 1));
    ck_assert(!bcs_look_is_near(look, 3) && bcs_look_is_known(look, 3));
    ck_assert(!bcs_look_is_near(look, 4) && !bcs_look_is_known(look, 4));
    ck_assert(bcs_look_is_waiting(look, 3) && !bcs_look_is_waiting(look, 4));
    ck_assert_int_eq(bcs_look_pid(look, 3), 4711);
    ck_assert(!bcs_look_files_of(look, 1, 1, &files));
    ck_assert(bcs_look_files_of(look, 3, 1, &files));
    ck_assert_str_eq(files.paths[0], "/there/prog");
    ck_assert_str_eq(files.paths[1], "");
    ck_assert_uint_eq(strlen(files.paths[2]), BCS_STAND_FILE_BYTES - 1); /* it ends */
    ck_assert(bcs_look_files_of(look, 3, 0, &files));
    ck_assert_str_eq(files.paths[0], "");

    ck_assert_int_eq(job_look_take(look, &traffic, &taken), 0);
    ck_assert_uint_eq(taken.n_waits, 1);
    ck_assert_uint_eq(taken.waits[0].rank, 3);
    ck_assert_uint_eq(taken.waits[0].stand.number, 29);
    ck_assert_str_eq(job_wait_files(&taken.waits[0])->paths[0], "/there/prog");
    ck_assert_int_eq(taken.ranks[3].pid, 0); /* of another machine */
    job_look_fini(&taken);
    bcs_traffic_fini(&traffic);
    bcs_look_close(look);
    fake_job_end(&fake);
}
END_TEST

START_TEST(another_machine_than_node_0s_knows_nothing_of_others)
{
    char version[BCS_SIGN_VERSION_BYTES];
    struct bcs_stand_files files;
    struct bcs_look *look;
    struct fake_job fake;

    ck_assert_int_eq(fake_job_make(&fake), 0);
    fake.board->first_near = 1;
    fake.board->n_near = FAKE_NODES - 1;
    tell_far(&fake, 0, 4711);
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), 0);
    ck_assert(!bcs_look_is_known(look, 0) && !bcs_look_is_waiting(look, 0));
    ck_assert_int_eq(bcs_look_pid(look, 0), 0);
    ck_assert(!bcs_look_files_of(look, 0, 1, &files));
    ck_assert(bcs_look_is_known(look, FAKE_NODE_RANKS));
    bcs_look_close(look);
    fake.board->n_near = FAKE_NODES; /* more than there are */
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    fake_job_end(&fake);
}
END_TEST

START_TEST(a_board_that_makes_no_sense_is_refused)
{
    char version[BCS_SIGN_VERSION_BYTES];
    struct bcs_look *look;
    struct fake_job fake;

    ck_assert_int_eq(fake_job_make(&fake), 0);
    fake.board->n_nodes = FAKE_NODES + 1;
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    fake.board->n_nodes = FAKE_NODES;
    fake.board->shape.has_links = 2;
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    fake.board->shape.has_links = 0;
    fake.sign->board = FAKE_SEGMENT_BYTES - 8;
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    fake.sign->board = UINT64_MAX - 7;
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EINVAL);
    fake.sign->board = FAKE_BOARD;
    atomic_store(&fake.board->nodes[FAKE_NODES - 1].is_ready, 0);
    ck_assert_int_eq(bcs_look_open(&fake.found, &look, version), -EAGAIN);
    fake_job_end(&fake);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("look");

    tcase_add_test(tcase, what_was_checked_stays_whatever_the_owner_does);
    tcase_add_test(tcase, what_a_ring_has_moved_is_counted_when_it_has_gone_round);
    tcase_add_test(tcase, each_wait_is_of_its_rank_and_for_its_own_ranks);
    tcase_add_test(tcase, ranks_are_found_by_their_ports);
    tcase_add_test(tcase, ports_that_make_no_sense_are_refused);
    tcase_add_test(tcase, each_job_of_a_process_is_found_once);
    tcase_add_test(tcase, a_job_of_another_version_is_told);
    tcase_add_test(tcase, ranks_of_other_machines_are_seen_as_node_0_knows_them);
    tcase_add_test(tcase, another_machine_than_node_0s_knows_nothing_of_others);
    tcase_add_test(tcase, a_board_that_makes_no_sense_is_refused);
    return run_tcase("look", tcase);
}
