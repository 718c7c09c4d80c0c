/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program is told of its buffers while operations are pending: that it has
 * changed one, or has given one to two operations of which one receives; each once.
 * Lines of the program's code are not looked for.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/report/lines.h"
#include "mds/collect.h"
#include "mpi_shim/collective/collective.h"
#include "mpi_shim/collective/exchange_forms.h"
#include "mpi_shim/real/shim_module.h"
#include "mpi_shim/request/buffers.h"
#include "mpi_shim/request/request.h"
#include "tests/unit/caught_stderr.h"
#include "tests/unit/fake_library.h"
#include "tests/unit/run_suite.h"

enum { N_REQUESTS = 24 };

static struct fake_type byte_type, gapped_type;
static const struct shim_datatype *byte, *gapped;
static struct shim_comm comm;
static struct shim_request requests[N_REQUESTS];
static char memory[256];

bool no_module(uintptr_t address, char *path, size_t n_bytes, uint64_t *offset)
    PLAYS(shim_module_find);
bool no_lines(struct bcs_line *lines, uint32_t n) PLAYS(bcs_lines_find);
void name_of(const struct bcs_group *group, char *name, size_t n_bytes)
    PLAYS(shim_comm_name_group);

bool no_module(uintptr_t address, char *path, size_t n_bytes, uint64_t *offset)
{
    (void)address;
    (void)path;
    (void)n_bytes;
    *offset = 0;
    return false;
}

bool no_lines(struct bcs_line *lines, uint32_t n)
{
    (void)lines;
    (void)n;
    return false;
}

void name_of(const struct bcs_group *group, char *name, size_t n_bytes)
{
    ck_assert_ptr_eq(group, &comm.group);
    snprintf(name, n_bytes, "comm");
}

/* The program is in a call, from an address. */
static void call(const char *function, uintptr_t address)
{
    mds_call.function = function;
    mds_call.address = address;
}

static void set_up(void)
{
    byte_type = (struct fake_type){.size = 1, .extent = 1, .places = {0}};
    gapped_type = (struct fake_type){.size = 1, .extent = 2, .places = {0}};
    fake_library_set();
    ck_assert_int_eq(shim_datatype_setup(), 0);
    byte = shim_datatype_find(fake_type_handle(&byte_type));
    gapped = shim_datatype_find(fake_type_handle(&gapped_type));
    comm = (struct shim_comm){.group.size = 4};
    comm.whole = &comm.group;
    memset(memory, 'a', sizeof(memory));
    bcs_log_setup(BCS_LOG_INFO, -1);
    ck_assert_int_eq(shim_buffers_start(), 0);
    caught_stderr_begin();
}

static void tear_down(void)
{
    shim_buffers_stop();
    caught_stderr_end();
    shim_datatype_teardown();
}

/* What is told has these parts in it, or nothing is told. */
static void tells(const char *first, const char *second)
{
    const char *line = caught_stderr_next();

    if (first == NULL) {
        ck_assert_str_eq(line, "");
        return;
    }
    ck_assert_msg(strstr(line, first) != NULL, "not told: %s, but %s", first, line);
    ck_assert_msg(strstr(line, second) != NULL, "not told: %s, but %s", second, line);
}

static void tells_nothing(void)
{
    tells(NULL, NULL);
}

/* Describe request i: n elements from a place of memory on. */
static struct shim_request *describe(int i, enum shim_kind kind, int at, int n)
{
    requests[i] = (struct shim_request){.kind = kind,
                                        .buffer = memory + at,
                                        .count = n,
                                        .type = byte,
                                        .comm = &comm,
                                        .peer = 2,
                                        .tag = 7,
                                        .is_active = true};
    return &requests[i];
}

/* Post it, from an address of its own. */
static struct shim_request *post(int i, enum shim_kind kind, int at, int n)
{
    call(kind == SHIM_RECEIVE ? "MPI_Irecv" : "MPI_Isend", (uintptr_t)(100 + i));
    shim_buffers_post(describe(i, kind, at, n));
    return &requests[i];
}

static void complete(const struct shim_request *request)
{
    call("MPI_Wait", 50);
    shim_buffers_check(request);
}

START_TEST(a_changed_send_buffer_is_told)
{
    const struct shim_request *request = post(0, SHIM_SEND, 10, 20);

    memory[13] = 'b';
    complete(request);
    tells("the send buffer of MPI_Isend at ?, to rank 2, tag 7, on comm, was changed "
          "before the operation was completed by MPI_Wait at ?, first at byte 3 of 20",
          "must not change it");
    complete(request); /* it is watched no more */
    tells_nothing();
}
END_TEST

START_TEST(a_changed_receive_buffer_is_told)
{
    struct shim_request *request = describe(0, SHIM_RECEIVE, 10, 20);

    request->peer = MPI_ANY_SOURCE;
    request->tag = MPI_ANY_TAG;
    call("MPI_Irecv", 100);
    shim_buffers_post(request);
    memory[29] = 'b';
    complete(request);
    tells("the receive buffer of MPI_Irecv at ?, from any rank, any tag, on comm, was",
          "first at byte 19 of 20. Until then the program must not access it");
}
END_TEST

START_TEST(what_is_as_it_was_is_not_told)
{
    const struct shim_request *request = post(0, SHIM_SEND, 10, 20);

    memory[9] = memory[30] = 'b';
    complete(request);
    tells_nothing();
}
END_TEST

START_TEST(each_operation_ends_by_itself)
{
    const struct shim_request *first = post(0, SHIM_SEND, 10, 20);
    const struct shim_request *second = post(1, SHIM_SEND, 40, 20);
    const struct shim_request *third = post(2, SHIM_SEND, 70, 20);

    complete(second);
    memory[12] = memory[42] = memory[72] = 'b';
    complete(second);
    tells_nothing();
    complete(first);
    tells("send buffer", "first at byte 2 of 20");
    complete(third);
    tells("send buffer", "first at byte 2 of 20");
}
END_TEST

START_TEST(two_receives_into_one_buffer_are_told_at_once)
{
    const struct shim_request *first = post(0, SHIM_RECEIVE, 10, 20);
    const struct shim_request *second = post(1, SHIM_RECEIVE, 29, 20);

    tells("the receive buffer of MPI_Irecv at ?, from rank 2, tag 7, on comm, overlaps "
          "the receive buffer of MPI_Irecv",
          "which is pending");
    memory[29] = 'b'; /* what changes means nothing now */
    complete(second);
    complete(first);
    tells_nothing();
}
END_TEST

START_TEST(a_send_of_a_pending_receive_is_told)
{
    const struct shim_request *receive = post(0, SHIM_RECEIVE, 10, 20);
    const struct shim_request *sent;

    post(1, SHIM_SEND, 0, 10);
    tells_nothing();
    sent = post(2, SHIM_SEND, 0, 11);
    tells("the send buffer", "overlaps the receive buffer");
    memory[10] = 'b';
    complete(sent); /* the receive may have done that */
    tells_nothing();
    complete(receive);
    tells("the receive buffer", "first at byte 0 of 20");
}
END_TEST

START_TEST(what_is_sent_twice_is_no_fault)
{
    const struct shim_request *first = post(0, SHIM_SEND, 10, 20);

    post(1, SHIM_SEND, 10, 20);
    tells_nothing();
    memory[10] = 'b';
    complete(first);
    tells("was changed", "first at byte 0");
}
END_TEST

/* A call that sends and waits. */
static void use(int at, int n)
{
    const struct shim_call sent = {
        .buffer = memory + at, .count = n, .peer = 3, .tag = 4};

    call("MPI_Send", 60);
    shim_buffers_use(&sent, &comm, byte);
}

START_TEST(a_send_that_waits_is_compared_too)
{
    post(0, SHIM_RECEIVE, 10, 20);
    use(30, 5);
    use(10, 0);
    tells_nothing();
    use(29, 5);
    tells("the send buffer of MPI_Send at ?, to rank 3, tag 4, on comm, overlaps the "
          "receive buffer of MPI_Irecv",
          "which is pending");
    post(1, SHIM_SEND, 40, 5);
    use(40, 5);
    tells_nothing();
}
END_TEST

START_TEST(the_same_is_told_once)
{
    for (int i = 0; i < 3; i++) {
        const struct shim_request *request = post(0, SHIM_SEND, 10, 20);

        memory[13]++;
        complete(request);
    }
    tells("was changed", "byte 3");
    tells_nothing();
    shim_buffers_stop();
    tells("the same was found 2 more times", "");
    shim_buffers_stop(); /* once more does nothing */
    tells_nothing();
}
END_TEST

START_TEST(so_much_is_told_and_no_more)
{
    for (int i = 0; i < 21; i++) {
        const struct shim_request *request = post(i, SHIM_SEND, 10 * i, 10);

        memory[10 * i] = 'b';
        complete(request);
    }
    for (int i = 0; i < 20; i++) {
        tells("was changed", "first at byte 0 of 10");
    }
    tells_nothing();
    shim_buffers_stop();
    tells("the same was found 1 more times", "");
}
END_TEST

START_TEST(what_was_let_go_is_not_watched)
{
    const struct shim_request *request = post(0, SHIM_SEND, 10, 20);

    memory[13] = 'b';
    shim_buffers_forget(request);
    complete(request);
    tells_nothing();
    post(1, SHIM_RECEIVE, 10, 20);
    tells_nothing();
}
END_TEST

START_TEST(what_has_no_data_or_a_copy_is_not_watched)
{
    const struct shim_request *copied = post(0, SHIM_SEND_OF_COPY, 10, 20);
    const struct shim_request *empty = post(1, SHIM_SEND, 40, 0);
    struct shim_request *nobody = describe(2, SHIM_RECEIVE, 60, 20);
    struct shim_request *inactive = describe(3, SHIM_RECEIVE, 90, 20);

    nobody->is_proc_null = true;
    shim_buffers_post(nobody);
    inactive->is_active = false;
    shim_buffers_post(inactive);
    memory[10] = memory[40] = memory[60] = memory[90] = 'b';
    complete(copied);
    complete(empty);
    complete(nobody);
    complete(inactive);
    tells_nothing();
}
END_TEST

START_TEST(both_halves_of_an_exchange_are_watched)
{
    struct shim_request *receive = describe(0, SHIM_RECEIVE, 10, 20);

    receive->partner = describe(1, SHIM_SEND, 40, 20);
    call("MPI_Isendrecv", 100);
    shim_buffers_post(receive);
    memory[41] = 'b';
    complete(receive);
    tells("the send buffer of MPI_Isendrecv", "first at byte 1 of 20");
}
END_TEST

START_TEST(a_watched_type_is_held)
{
    MPI_Datatype handle = fake_type_handle(&gapped_type);
    struct shim_request *request = describe(0, SHIM_SEND, 10, 5);

    request->type = gapped;
    shim_buffers_post(request);
    ck_assert_int_eq(shim_datatype_free(&handle), MPI_SUCCESS);
    ck_assert_int_eq(gapped_type.n_frees, 0);
    memory[11] = 'b'; /* in a gap */
    complete(request);
    tells_nothing();
    ck_assert_int_eq(gapped_type.n_frees, 1);
}
END_TEST

/* A collective, of these buffers, from another address each time. */
static void post_exchange(struct shim_exchange *x)
{
    static uintptr_t address = 100;
    struct shim_request *request = describe(0, SHIM_EXCHANGE, 0, 0);

    request->exchange = x;
    call("MPI_Ialltoall", address++);
    shim_buffers_post(request);
}

static struct shim_side side_of(int at, int n)
{
    return (struct shim_side){
        .data = memory + at, .n_bytes = (size_t)n, .buf = memory + at, .type = byte};
}

START_TEST(buffers_of_a_collective_are_watched)
{
    struct shim_exchange x = {.in = side_of(10, 20), .out = side_of(40, 20)};

    post_exchange(&x);
    memory[12] = 'b';
    complete(&requests[0]);
    tells("the send buffer of MPI_Ialltoall at ?, on comm,", "first at byte 2 of 20");
    post_exchange(&x);
    memory[43] = 'b';
    complete(&requests[0]);
    tells("the receive buffer of MPI_Ialltoall at ?, on comm,",
          "first at byte 3 of 20");
}
END_TEST

START_TEST(what_is_in_place_is_received_into)
{
    struct shim_exchange x = {.in = side_of(10, 20), .out = side_of(10, 20)};

    post_exchange(&x);
    memory[12] = 'b';
    complete(&requests[0]);
    tells("the receive buffer", "first at byte 2 of 20");
    tells_nothing(); /* and not sent, too */
}
END_TEST

START_TEST(blocks_of_a_collective_are_watched)
{
    const int counts[] = {2, 3}, displs[] = {10, 20};
    struct shim_layout layout = {.buf = memory,
                                 .is_vector = true,
                                 .counts = counts,
                                 .displs = displs,
                                 .type = byte};
    struct shim_layout sent = {.buf = memory + 100, .count = 5, .type = byte};
    struct shim_exchange x = {
        .to = {.layout = &layout, .size = 2},
        .from = {.layout = &sent, .size = 2, .blocks.data = memory + 100}};

    post_exchange(&x);
    memory[12] = 'b'; /* between the blocks */
    memory[109] = 'b';
    complete(&requests[0]);
    tells("the send buffer", "first at byte 9 of 10");
    tells_nothing();
    x.from.blocks.data = NULL; /* in place */
    post_exchange(&x);
    memory[22] = 'b';
    memory[100] = 'b';
    complete(&requests[0]);
    tells("the receive buffer", "first at byte 4 of 5");
    tells_nothing();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("buffers");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_changed_send_buffer_is_told);
    tcase_add_test(tcase, a_changed_receive_buffer_is_told);
    tcase_add_test(tcase, what_is_as_it_was_is_not_told);
    tcase_add_test(tcase, each_operation_ends_by_itself);
    tcase_add_test(tcase, two_receives_into_one_buffer_are_told_at_once);
    tcase_add_test(tcase, a_send_of_a_pending_receive_is_told);
    tcase_add_test(tcase, what_is_sent_twice_is_no_fault);
    tcase_add_test(tcase, a_send_that_waits_is_compared_too);
    tcase_add_test(tcase, the_same_is_told_once);
    tcase_add_test(tcase, so_much_is_told_and_no_more);
    tcase_add_test(tcase, what_was_let_go_is_not_watched);
    tcase_add_test(tcase, what_has_no_data_or_a_copy_is_not_watched);
    tcase_add_test(tcase, both_halves_of_an_exchange_are_watched);
    tcase_add_test(tcase, a_watched_type_is_held);
    tcase_add_test(tcase, buffers_of_a_collective_are_watched);
    tcase_add_test(tcase, what_is_in_place_is_received_into);
    tcase_add_test(tcase, blocks_of_a_collective_are_watched);
    return run_tcase("buffers", tcase);
}
