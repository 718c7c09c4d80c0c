/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that the shim carries: their groups as the library tells them, and the
 * numbers that all members agree on.
 */
#include "libbcs/fabric/base/notice.h"
#include "libbcs/fabric/ring/stand.h"
#include "tests/unit/fake_comms.h"
#include "tests/unit/run_suite.h"

static void has_ports(const uint32_t *ports, int32_t size, int32_t n,
                      const uint32_t *expected)
{
    ck_assert_int_eq(size, n);
    for (int32_t i = 0; i < n; i++) {
        ck_assert_uint_eq(ports[i], expected[i]);
    }
}

START_TEST(the_job_and_the_process_itself_are_carried)
{
    const struct shim_comm *job = shim_comm_find(handle_of(&world));
    const struct shim_comm *own = shim_comm_find(handle_of(&self));

    ck_assert_ptr_nonnull(job);
    ck_assert_ptr_nonnull(own);
    ck_assert_ptr_eq(job->whole, &job->group);
    ck_assert_int_eq(job->group.rank, MY_PORT);
    ck_assert_int_eq(job->group.size, JOB);
    has_ports(own->group.ports, own->group.size, 1, (uint32_t[]){MY_PORT});
    ck_assert_ptr_null(shim_comm_find(shim_handles.comm_null));
    ck_assert_int_eq(n_told, 1); /* the process alone needs no message */
    ck_assert_int_eq(n_opened, 1);
    ck_assert_ptr_eq(opened[0], job->whole);
}
END_TEST

START_TEST(a_member_learns_the_numbers_from_rank_0)
{
    struct fake_comm fake = {.rank = 1, .mine = {2, {6, MY_PORT}}};
    struct shim_comm *comm = add(&fake);

    ck_assert_int_eq(n_told, 1);
    ck_assert_ptr_eq(told_on[0], &fake);
    ck_assert_int_eq(told_root[0], 0);
    has_ports(comm->group.ports, comm->group.size, 2, (uint32_t[]){6, MY_PORT});
    ck_assert_uint_eq(comm->group.slot, 6);
    ck_assert_uint_eq(comm->group.context_id, bcs_group_id(77, 6) << 2);
    ck_assert_int_eq(n_opened, 1);
    ck_assert_uint_eq(opened_base[0], (uint64_t)77 << 32);
}
END_TEST

START_TEST(a_leader_gives_numbers_of_its_own)
{
    struct fake_comm first = {.mine = {2, {MY_PORT, 6}}};
    struct fake_comm second = {.mine = {2, {MY_PORT, 7}}};
    const struct shim_comm *a = add(&first), *b = add(&second);

    /* MPI_COMM_SELF has the first slot. */
    ck_assert_uint_eq(a->group.slot, 1 * JOB + MY_PORT);
    ck_assert_uint_eq(b->group.slot, 2 * JOB + MY_PORT);
    ck_assert_uint_eq(a->group.context_id, bcs_group_id(2, JOB + MY_PORT) << 2);
    ck_assert_uint_eq(b->group.context_id, bcs_group_id(3, 2 * JOB + MY_PORT) << 2);
}
END_TEST

START_TEST(without_a_slot_there_is_no_communicator)
{
    struct fake_comm fakes[N_SLOTS];

    for (int i = 0; i < N_SLOTS; i++) {
        fakes[i] = (struct fake_comm){.mine = {2, {MY_PORT, 6}}};
    }
    for (int i = 0; i < N_SLOTS - 1; i++) {
        add(&fakes[i]);
    }
    ck_assert_int_eq(shim_comm_add(handle_of(&fakes[N_SLOTS - 1])), MPI_ERR_NO_MEM);
    ck_assert_int_eq(fake_error_class, MPI_ERR_NO_MEM);
    ck_assert_ptr_eq(fake_error_comm, &fakes[N_SLOTS - 1]);
    ck_assert_uint_eq(bcs_notice_count(BCS_NOTICE_COMMUNICATORS_USED), 1);
    ck_assert_ptr_null(shim_comm_find(handle_of(&fakes[N_SLOTS - 1])));
}
END_TEST

START_TEST(a_member_hears_that_there_is_no_slot)
{
    struct fake_comm fake = {.rank = 1, .mine = {2, {6, MY_PORT}}};

    told.is_valid = 0;
    ck_assert_int_eq(shim_comm_add(handle_of(&fake)), MPI_ERR_NO_MEM);
    ck_assert_ptr_null(shim_comm_find(handle_of(&fake)));
    ck_assert_uint_eq(bcs_notice_count(BCS_NOTICE_COMMUNICATORS_USED), 0);
}
END_TEST

START_TEST(what_is_no_communicator_of_the_job_is_left_alone)
{
    struct fake_comm foreign = {.mine = {2, {MY_PORT, MPI_UNDEFINED}}};
    struct fake_comm invalid = {.mine = {1, {MY_PORT}}, .is_invalid = true};
    struct fake_comm lonely = {.mine = {1, {MY_PORT}}, .is_inter = true};
    struct fake_comm far = {
        .mine = {1, {MY_PORT}}, .is_inter = true, .others = {2, {3, MPI_UNDEFINED}}};

    ck_assert_ptr_null(add(&foreign));
    ck_assert_ptr_null(add(&invalid));
    ck_assert_ptr_null(add(&lonely));
    ck_assert_ptr_null(add(&far));
    ck_assert_int_eq(shim_comm_add(shim_handles.comm_null), MPI_SUCCESS);
    ck_assert_int_eq(n_told, 0);
}
END_TEST

START_TEST(the_side_of_the_earlier_process_leads)
{
    struct fake_comm fake = {.rank = 1,
                             .is_inter = true,
                             .mine = {2, {2, MY_PORT}},
                             .others = {3, {3, 0, 7}}};
    struct shim_comm *comm = add(&fake);

    ck_assert_ptr_eq(comm->whole, &comm->sides.both);
    has_ports(comm->whole->ports, comm->whole->size, 5,
              (uint32_t[]){2, MY_PORT, 3, 0, 7});
    ck_assert_int_eq(comm->whole->rank, 1);
    has_ports(comm->group.ports, comm->group.size, 3, (uint32_t[]){3, 0, 7});
    has_ports(comm->sides.mine.ports, comm->sides.mine.size, 2,
              (uint32_t[]){2, MY_PORT});
    has_ports(comm->sides.others.ports, comm->sides.others.size, 3,
              (uint32_t[]){3, 0, 7});
    ck_assert_int_eq(shim_comm_own_size(comm), 2);
    ck_assert_int_eq(comm->sides.mine.rank, 1);
    ck_assert_int_eq(n_told, 2); /* to the other side; and what comes back */
    ck_assert_int_eq(told_root[0], MPI_PROC_NULL);
    ck_assert_int_eq(told_root[1], 0);
}
END_TEST

START_TEST(the_other_side_stands_behind_it)
{
    struct fake_comm fake = {.rank = 0,
                             .is_inter = true,
                             .mine = {2, {MY_PORT, 1}},
                             .others = {3, {3, 0, 7}}};
    struct shim_comm *comm = add(&fake);

    has_ports(comm->whole->ports, comm->whole->size, 5,
              (uint32_t[]){3, 0, 7, MY_PORT, 1});
    ck_assert_int_eq(comm->whole->rank, 3);
    has_ports(comm->group.ports, comm->group.size, 3, (uint32_t[]){3, 0, 7});
    has_ports(comm->sides.mine.ports, comm->sides.mine.size, 2,
              (uint32_t[]){MY_PORT, 1});
    ck_assert_int_eq(n_told, 2);
    ck_assert_int_eq(told_root[0], 0);        /* it hears, */
    ck_assert_int_eq(told_root[1], MPI_ROOT); /* and tells the others back */
    ck_assert_uint_eq(comm->whole->slot, 6);
}
END_TEST

/** Check the ports of a group where rank r has port JOB - 1 - r. */
static void has_fallen_ports(const struct bcs_group *group)
{
    for (int32_t i = 0; i < group->size; i++) {
        ck_assert_uint_eq(group->ports[i], JOB - 1 - group->ranks[i]);
    }
}

START_TEST(members_have_the_ports_of_the_jobs_map)
{
    struct fake_comm intra = {.rank = 1, .mine = {2, {6, MY_PORT}}};
    struct fake_comm inter = {
        .is_inter = true, .mine = {2, {MY_PORT, 1}}, .others = {3, {3, 0, 7}}};
    struct shim_comm *one, *two;

    ck_assert_int_eq(
        bcs_port_map_create(&(struct bcs_port_plan){.n_ranks = JOB, .is_falling = true},
                            &context.map),
        0);
    one = add(&intra);
    two = add(&inter);
    has_ports(one->group.ranks, one->group.size, 2, (uint32_t[]){6, MY_PORT});
    has_fallen_ports(&one->group);
    /* The side of the earlier rank leads, whatever its ports are. */
    has_ports(two->whole->ranks, two->whole->size, 5,
              (uint32_t[]){3, 0, 7, MY_PORT, 1});
    has_fallen_ports(two->whole);
    has_fallen_ports(&two->sides.mine);
    has_fallen_ports(&two->group);
    bcs_port_map_destroy(context.map);
}
END_TEST

START_TEST(groups_of_two_sides_have_numbers_of_their_own)
{
    struct fake_comm fake = {
        .rank = 1, .is_inter = true, .mine = {2, {6, MY_PORT}}, .others = {1, {3}}};
    const struct shim_comm *comm = add(&fake);
    uint64_t id = bcs_group_id(77, 6) << 2;

    ck_assert_uint_eq(comm->whole->context_id, id);
    ck_assert_uint_eq(comm->group.context_id, id);
    ck_assert_uint_eq(comm->sides.others.context_id, id);
    ck_assert_uint_eq(comm->sides.mine.context_id, id + 2);
    ck_assert_ptr_eq(opened[0], comm->whole);
}
END_TEST

START_TEST(communicators_have_names)
{
    struct fake_comm fake = {.rank = 1, .mine = {2, {6, MY_PORT}}, .name = "mine"};
    struct fake_comm nameless = {.rank = 1, .mine = {2, {7, MY_PORT}}};
    const struct shim_comm *comm, *other;
    char name[MPI_MAX_OBJECT_NAME];

    told.number = 78; /* MPI_COMM_WORLD has 77 */
    comm = add(&fake);
    told.number = 79;
    other = add(&nameless);
    shim_comm_name_group(&comm->group, name, sizeof(name));
    ck_assert_str_eq(name, "mine");
    shim_comm_name_group(&other->group, name, sizeof(name));
    ck_assert_str_eq(name, "a communicator without a name");
    shim_comm_name_context(comm->group.context_id, name, sizeof(name));
    ck_assert_str_eq(name, "mine");
    shim_comm_name_context(12345, name, sizeof(name));
    ck_assert_str_eq(name, "");
}
END_TEST

START_TEST(one_that_the_program_does_not_see_has_the_name_of_another)
{
    struct fake_comm shown = {.mine = {2, {MY_PORT, 6}}, .name = "shown"};
    struct fake_comm fake = {.mine = {2, {MY_PORT, 6}}, .name = "hidden"};
    const struct shim_comm *from = add(&shown), *comm;
    char name[MPI_MAX_OBJECT_NAME];
    uint64_t id;

    ck_assert_int_eq(shim_comm_add_hidden(handle_of(&fake), handle_of(&shown)),
                     MPI_SUCCESS);
    comm = shim_comm_find(handle_of(&fake));
    id = comm->group.context_id;
    ck_assert_uint_eq(id, BCS_CONTEXT_HIDDEN | bcs_group_id(3, 2 * JOB + MY_PORT) << 2);
    ck_assert_uint_eq(shim_comm_shown(id), from->group.context_id);
    ck_assert_uint_eq(shim_comm_shown(from->group.context_id), from->group.context_id);
    ck_assert_uint_eq(shim_comm_shown(12345), 12345);
    shim_comm_name_context(id, name, sizeof(name));
    ck_assert_str_eq(name, "shown");
    shim_comm_retire(handle_of(&shown));
    shim_comm_name_context(id, name, sizeof(name));
    ck_assert_str_eq(name, "hidden");
}
END_TEST

START_TEST(the_leader_says_that_the_program_does_not_see_it)
{
    struct fake_comm fake = {.rank = 1, .mine = {2, {6, MY_PORT}}};

    told.is_hidden = 1;
    ck_assert_uint_eq(add(&fake)->group.context_id,
                      BCS_CONTEXT_HIDDEN | bcs_group_id(77, 6) << 2);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("comm_table");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, the_job_and_the_process_itself_are_carried);
    tcase_add_test(tcase, a_member_learns_the_numbers_from_rank_0);
    tcase_add_test(tcase, a_leader_gives_numbers_of_its_own);
    tcase_add_test(tcase, without_a_slot_there_is_no_communicator);
    tcase_add_test(tcase, a_member_hears_that_there_is_no_slot);
    tcase_add_test(tcase, what_is_no_communicator_of_the_job_is_left_alone);
    tcase_add_test(tcase, the_side_of_the_earlier_process_leads);
    tcase_add_test(tcase, the_other_side_stands_behind_it);
    tcase_add_test(tcase, members_have_the_ports_of_the_jobs_map);
    tcase_add_test(tcase, groups_of_two_sides_have_numbers_of_their_own);
    tcase_add_test(tcase, communicators_have_names);
    tcase_add_test(tcase, one_that_the_program_does_not_see_has_the_name_of_another);
    tcase_add_test(tcase, the_leader_says_that_the_program_does_not_see_it);
    return run_tcase("comm_table", tcase);
}
