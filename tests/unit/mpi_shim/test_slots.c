/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that are left: the table, the leader who hears of it, and its slots,
 * which serve again when all have left; and the numbers of persistent collectives. The
 * messages of those who leave are played.
 */
#include <limits.h>

#include "mpi_shim/comm/comms.h"
#include "mpi_shim/comm/numbers.h"
#include "mpi_shim/comm/slots.h"
#include "tests/unit/fake_comms.h"
#include "tests/unit/run_suite.h"

static int n_leaving, n_waited; /* messages of those who have left; waits for them */
static struct bcs_message left; /* this process's */
static int n_left;

int probe(struct bcs_context *of, const struct bcs_message *message, bool wait,
          struct bcs_result *result) PLAYS(bcs_api_probe);
int receive(struct bcs_context *of, const struct bcs_message *message,
            struct bcs_result *result, struct bcs_request *request) PLAYS(bcs_api_recv);
int send(struct bcs_context *of, const struct bcs_message *message,
         enum bcs_send_mode mode, struct bcs_request *request) PLAYS(bcs_api_send);

/* Who is waited for leaves then. */
int probe(struct bcs_context *of, const struct bcs_message *message, bool wait,
          struct bcs_result *result)
{
    (void)of;
    (void)result;
    ck_assert_int_eq(message->tag, INT_MAX);
    ck_assert_int_eq(message->peer, BCS_ANY_SOURCE);
    ck_assert_uint_eq(bcs_message_space(message), BCS_SPACE_COLLECTIVE);
    if (n_leaving == 0 && wait) {
        n_waited++;
        n_leaving++;
    }
    return n_leaving > 0 ? 0 : BCS_E_PENDING;
}

int receive(struct bcs_context *of, const struct bcs_message *message,
            struct bcs_result *result, struct bcs_request *request)
{
    (void)of;
    (void)message;
    (void)result;
    (void)request;
    ck_assert_int_gt(n_leaving, 0);
    n_leaving--;
    return 0;
}

int send(struct bcs_context *of, const struct bcs_message *message,
         enum bcs_send_mode mode, struct bcs_request *request)
{
    (void)of;
    ck_assert_int_eq(mode, BCS_SEND_BUFFERED); /* it does not wait */
    ck_assert_ptr_null(request);
    left = *message;
    n_left++;
    return 0;
}

static void set_up_slots(void)
{
    n_leaving = n_waited = n_left = 0;
    set_up();
}

START_TEST(a_communicator_that_is_freed_is_not_found)
{
    static union {
        struct fake_comm comm;
        char bytes[16 * SHIM_COMM_BUCKETS]; /* of the next in the same chain */
    } fakes[3];
    struct shim_comm *comm;

    for (int i = 0; i < 3; i++) {
        fakes[i].comm = (struct fake_comm){.rank = 1, .mine = {2, {6, MY_PORT}}};
        add(&fakes[i].comm);
    }
    comm = shim_comm_find(handle_of(&fakes[1].comm));
    comm->n_users++; /* a request */
    shim_comm_retire(handle_of(&fakes[1].comm));
    ck_assert_ptr_null(shim_comm_find(shim_handles.comm_null));
    ck_assert_ptr_null(shim_comm_find(handle_of(&fakes[1].comm)));
    ck_assert_ptr_nonnull(shim_comm_find(handle_of(&fakes[0].comm)));
    ck_assert_ptr_nonnull(shim_comm_find(handle_of(&fakes[2].comm)));
    ck_assert_ptr_eq(comm->handle, shim_handles.comm_null);
    ck_assert_uint_eq(comm->n_users, 1);
    ck_assert_int_eq(n_left, 1); /* its leader is told */
    ck_assert_int_eq(left.peer, 0);
    ck_assert_int_eq(left.tag, INT_MAX);
    ck_assert_uint_eq(bcs_message_space(&left), BCS_SPACE_COLLECTIVE);
    shim_comm_release(comm);
    shim_comm_retire(handle_of(&fakes[1].comm)); /* it is none of ours any more */
    ck_assert_int_eq(n_left, 1);
}
END_TEST

START_TEST(a_slot_is_free_when_all_have_left)
{
    struct fake_comm fakes[4];
    const struct shim_comm *comm;
    uint32_t slot;

    for (int i = 0; i < 4; i++) {
        fakes[i] = (struct fake_comm){.mine = {3, {MY_PORT, 6, 7}}};
    }
    slot = add(&fakes[0])->group.slot;
    add(&fakes[1]);
    shim_comm_retire(handle_of(&fakes[0]));
    ck_assert_int_eq(n_left, 0);
    n_leaving = 1; /* of two; the other one is waited for */
    comm = add(&fakes[2]);
    ck_assert_ptr_nonnull(comm);
    ck_assert_int_eq(n_waited, 1);
    ck_assert_uint_eq(comm->group.slot, slot);
    shim_comm_retire(handle_of(&fakes[1]));
    n_leaving = 2;
    ck_assert_ptr_nonnull(add(&fakes[3]));
    ck_assert_int_eq(n_waited, 1);
    ck_assert_int_eq(n_leaving, 0);
}
END_TEST

START_TEST(the_slot_that_was_left_first_is_waited_for)
{
    struct fake_comm fakes[3];
    uint32_t slots[2];

    for (int i = 0; i < 3; i++) {
        fakes[i] = (struct fake_comm){.mine = {2, {MY_PORT, 6}}};
    }
    slots[0] = add(&fakes[0])->group.slot;
    slots[1] = add(&fakes[1])->group.slot;
    shim_comm_retire(handle_of(&fakes[1]));
    shim_comm_retire(handle_of(&fakes[0]));
    ck_assert_uint_eq(add(&fakes[2])->group.slot, slots[1]);
    ck_assert_int_eq(n_waited, 1); /* for one only */
    ck_assert_ptr_nonnull(shim_state.comms->slots.oldest_left);
    ck_assert_uint_eq(shim_state.comms->slots.oldest_left->group.slot, slots[0]);
    ck_assert_uint_eq(shim_state.comms->slots.n_counted, 0);
}
END_TEST

START_TEST(the_slot_that_has_been_free_longest_is_taken)
{
    struct fake_comm alone[3];
    uint32_t first;

    for (int i = 0; i < 3; i++) {
        alone[i] = (struct fake_comm){.mine = {1, {MY_PORT}}};
    }
    first = add(&alone[0])->group.slot;
    shim_comm_retire(handle_of(&alone[0]));
    ck_assert_uint_ne(add(&alone[1])->group.slot, first);
    ck_assert_uint_eq(add(&alone[2])->group.slot, first);
    ck_assert_int_eq(n_waited, 0);
}
END_TEST

START_TEST(persistent_collectives_have_numbers_in_their_order)
{
    struct shim_comm *comm = shim_comm_find(handle_of(&world));
    uint32_t number;

    for (uint32_t i = 0; i < BCS_PERSISTENT_NUMBERS; i++) {
        ck_assert_int_eq(shim_number_take(comm, &number), 0);
        ck_assert_uint_eq(number, i);
    }
    number = 99999;
    ck_assert_int_lt(shim_number_take(comm, &number), 0);
    ck_assert_uint_eq(number, 99999);
    shim_number_give_back(comm, 1); /* it is not its turn */
    ck_assert_int_lt(shim_number_take(comm, &number), 0);
    shim_number_give_back(comm, 0);
    ck_assert_int_eq(shim_number_take(comm, &number), 0);
    ck_assert_uint_eq(number, 0);
    ck_assert_int_eq(shim_number_take(comm, &number), 0);
    ck_assert_uint_eq(number, 1);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("slots");

    tcase_add_checked_fixture(tcase, set_up_slots, tear_down);
    tcase_add_test(tcase, a_communicator_that_is_freed_is_not_found);
    tcase_add_test(tcase, a_slot_is_free_when_all_have_left);
    tcase_add_test(tcase, the_slot_that_was_left_first_is_waited_for);
    tcase_add_test(tcase, the_slot_that_has_been_free_longest_is_taken);
    tcase_add_test(tcase, persistent_collectives_have_numbers_in_their_order);
    return run_tcase("slots", tcase);
}
