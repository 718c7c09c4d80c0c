/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fuzzer's bytes as what a running job may have in its memory, which bcs-top reads:
 * somebody else's, so anything. The bytes are changes of a job that can be looked at
 * (tests/unit/fake_job.h), and of which each rank waits. A change is a head of five
 * bytes and then what is written: the place, three bytes of offset in it, and how many
 * bytes follow. The place is one of enum area, times FAKE_NODES plus the node. After
 * each input the job is as before.
 */
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apps/tools/top/job_json.h"
#include "apps/tools/top/job_look.h"
#include "apps/tools/top/misuse_print.h"
#include "apps/tools/top/near_miss.h"
#include "apps/tools/top/picture.h"
#include "apps/tools/top/roll_call.h"
#include "apps/tools/top/rows.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/unit/fake_job.h"

enum { HEAD_BYTES = 5, WIDTH = 120, AREA_BYTES = 1 << 20 };

enum area { SEGMENT, PORTS, STANDS, DESKS, LINKS, CELLS, SLOTS, NEAR, AREAS };

/** Have each rank say that it waits in a reduction, for two operations. */
static void tell_waits(const struct fake_job *fake)
{
    enum { WORDS = 1024 };
    static _Alignas(struct bcs_stand) uint64_t record[WORDS], room[WORDS];
    struct bcs_stand_slot *slot = (void *)room;
    struct bcs_stand *stand = (void *)record;
    size_t n_bytes = sizeof(*slot) + bcs_stand_words(FAKE_RANKS) * sizeof(uint64_t);

    *stand = (struct bcs_stand){.comm_size = FAKE_RANKS,
                                .n_operations = 2,
                                .n_listed = 2,
                                .is_waiting = 1,
                                .needs_all = 1,
                                .call = "MPI_Allreduce",
                                .collective = "allreduce",
                                .reduction = "sum of int32",
                                .comm = "MPI_COMM_WORLD",
                                .n_threads = 1};
    stand->operations[0].kind = BCS_STAND_COLLECTIVE;
    stand->operations[1].kind = BCS_STAND_RECEIVE;
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
        uint64_t gva = nic_layout_stands_gva(&fake->layout, rank);

        slot->sequence = 0;
        record[sizeof(*stand) / sizeof(record[0])] = 1u << (rank + 1) % FAKE_RANKS;
        bcs_stand_write(slot, stand, FAKE_RANKS);
        if (n_bytes > sizeof(room) ||
            pwrite(fake->heaps[nic_layout_node(&fake->layout, rank)], slot, n_bytes,
                   (off_t)(gva + sizeof(struct bcs_stands))) < 0) {
            abort(); /* nothing would be tried */
        }
    }
}

/** Where an area of a node begins in its heap. */
static uint64_t area_gva(const struct nic_layout *layout, enum area area)
{
    switch (area) {
    case PORTS:
        return layout->port_gva;
    case STANDS:
        return layout->stands.gva;
    case DESKS:
        return layout->desk_gva;
    case LINKS:
        return nic_region_gva(&layout->links, 0);
    case CELLS:
        return nic_region_gva(&layout->cells, 0);
    case SLOTS:
        return nic_region_gva(&layout->slots, 0);
    default:
        return nic_region_gva(&layout->near, 0);
    }
}

/** Make one change. */
static void change(const struct fake_job *fake, uint8_t place, uint32_t offset,
                   const uint8_t *bytes, size_t n_bytes)
{
    enum area area = place / FAKE_NODES % AREAS;
    int fd = area == SEGMENT ? fake->segment : fake->heaps[place % FAKE_NODES];
    uint64_t most = area == SEGMENT ? FAKE_SEGMENT_BYTES : AREA_BYTES;
    uint64_t at = area == SEGMENT ? 0 : area_gva(&fake->layout, area);
    uint64_t room = most - offset % most;

    if (pwrite(fd, bytes, n_bytes < room ? n_bytes : room,
               (off_t)(at + offset % most)) < 0) {
        abort(); /* nothing would be tried */
    }
}

static void change_all(const struct fake_job *fake, const uint8_t *data, size_t n_bytes)
{
    while (n_bytes >= HEAD_BYTES) {
        uint32_t offset = data[1] | (uint32_t)data[2] << 8 | (uint32_t)data[3] << 16;
        size_t n = data[4];

        n = n < n_bytes - HEAD_BYTES ? n : n_bytes - HEAD_BYTES;
        change(fake, data[0], offset, data + HEAD_BYTES, n);
        data += HEAD_BYTES + n;
        n_bytes -= HEAD_BYTES + n;
    }
}

/** Take all changes back. */
static void restore(const struct fake_job *fake, const char *segment)
{
    memcpy(fake->sign, segment, FAKE_SEGMENT_BYTES);
    for (uint32_t i = 0; i < FAKE_NODES; i++) {
        fallocate(fake->heaps[i], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                  (off_t)fake->layout.heap_bytes);
    }
}

/** All lines that the screen has of two looks. */
static void show_rows(const struct job_look looks[2], bool is_grouped)
{
    char room[4 * WIDTH];
    struct rows rows;
    struct machine_look machine = machine_look();

    if (rows_make(&looks[0], &looks[1], is_grouped, ROWS_BY_SINCE, &rows) < 0) {
        return;
    }
    struct picture picture = {
        .n_ranks = looks[1].n_ranks,
        .program = "",
        .driver = "",
        .strobe = "",
        .before = &looks[0],
        .now = &looks[1],
        .rows = &rows,
        .is_grouped = is_grouped,
        .machine_before = &machine,
        .machine_now = &machine,
    };
    for (int i = 0; i < PICTURE_LINES; i++) {
        struct words words = words_begin(room, sizeof(room));

        picture_add_line(&words, &picture, (enum picture_line)i, WIDTH);
    }
    for (uint32_t i = 0; i < rows.n; i++) {
        struct words words = words_begin(room, sizeof(room));

        picture_add_row(&words, &picture, &rows.rows[i], NULL, WIDTH, 0);
    }
    rows_fini(&rows);
}

static void show_screen(const struct bcs_look *look)
{
    struct bcs_traffic traffic = {0};
    struct job_look looks[2] = {0};

    if (job_look_take(look, &traffic, &looks[0]) == 0) {
        job_look_glance(look, &looks[0]);
        /* The rings of the first look have been read up to anywhere: what the second
         * one finds is whatever they hold. */
        for (uint64_t i = 0; i < traffic.rings.n; i++) {
            traffic.rings.counts[i].value = 0;
        }
        if (job_look_take(look, &traffic, &looks[1]) == 0) {
            job_look_glance(look, &looks[1]);
            show_rows(looks, false);
            show_rows(looks, true);
        }
    }
    job_look_fini(&looks[0]);
    job_look_fini(&looks[1]);
    bcs_traffic_fini(&traffic);
}

static void show_text(const struct bcs_look *look, const struct bcs_look_found *found)
{
    struct places *places = place_open(PLACE_HASTY_NS);
    json_t *job = job_json_of(look, found, places);
    json_t *message = near_miss_read("0,1,5,4,0");

    if (job != NULL) {
        near_miss_find(job, message);
        json_object_set_new(job, "unreceived", json_pack("[O]", message));
        roll_call_print(job, NULL);
        roll_call_print(job, "0-3");
        misuse_print(job);
        near_miss_print(job);
    }
    json_decref(message);
    json_decref(job);
    place_close(places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static char segment[FAKE_SEGMENT_BYTES]; /* as it was made */
    static struct fake_job fake;
    char version[BCS_SIGN_VERSION_BYTES];
    struct bcs_look *look;
    uint64_t sum;

    if (fake.sign == NULL) {
        if (fake_job_make(&fake) < 0) {
            abort(); /* nothing would be tried */
        }
        memcpy(segment, fake.sign, sizeof(segment));
    }
    tell_waits(&fake);
    change_all(&fake, data, n_bytes);
    if (bcs_look_open(&fake.found, &look, version) == 0) {
        bcs_look_sum(look, &sum);
        show_screen(look);
        show_text(look, &fake.found);
        bcs_look_close(look);
    }
    restore(&fake, segment);
    return 0;
}
