/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of microphases, and the numbers of microstrobes.
 */
#include "nic_threads/rules/slice.h"
#include "tests/unit/run_suite.h"

#include <check.h>

static void expect(const struct nic_slice_state *state, uint64_t round,
                   enum nic_phase phase)
{
    ck_assert_uint_eq(state->round, round);
    ck_assert_int_eq((int)state->phase, (int)phase);
}

START_TEST(a_round_with_work_runs_all_its_phases_in_order)
{
    static const enum nic_phase phases[] = {NIC_PHASE_DEM, NIC_PHASE_MSM, NIC_PHASE_PM,
                                            NIC_PHASE_BBM, NIC_PHASE_RM,  NIC_PHASE_END,
                                            NIC_PHASE_IDLE};
    struct nic_slice_state state = {.phase = NIC_PHASE_IDLE};

    for (uint64_t round = 1; round < 4; round++) {
        nic_slice_begin(&state, false);
        for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
            expect(&state, round, phases[i]);
            if (phases[i] != NIC_PHASE_IDLE) {
                nic_slice_advance(&state, true);
            }
        }
    }
}
END_TEST

START_TEST(a_round_without_later_work_ends_after_scheduling)
{
    struct nic_slice_state state = {.phase = NIC_PHASE_IDLE};

    nic_slice_begin(&state, false);
    expect(&state, 1, NIC_PHASE_DEM);
    nic_slice_advance(&state, false);
    expect(&state, 1, NIC_PHASE_MSM);
    nic_slice_advance(&state, false);
    expect(&state, 1, NIC_PHASE_END);
    nic_slice_advance(&state, false);
    expect(&state, 1, NIC_PHASE_IDLE);
}
END_TEST

START_TEST(work_is_asked_for_after_scheduling_only)
{
    struct nic_slice_state state = {.phase = NIC_PHASE_IDLE};

    nic_slice_begin(&state, false);
    nic_slice_advance(&state, false);
    nic_slice_advance(&state, true);
    for (int phase = NIC_PHASE_PM; phase <= NIC_PHASE_END; phase++) {
        expect(&state, 1, (enum nic_phase)phase);
        nic_slice_advance(&state, false);
    }
    expect(&state, 1, NIC_PHASE_IDLE);
}
END_TEST

START_TEST(a_timed_slice_opens_with_a_round_of_its_own)
{
    struct nic_slice_state state = {.phase = NIC_PHASE_IDLE};

    nic_slice_begin(&state, true);
    expect(&state, 1, NIC_PHASE_BEGIN);
    nic_slice_advance(&state, true);
    expect(&state, 1, NIC_PHASE_IDLE);
    nic_slice_begin(&state, false);
    expect(&state, 2, NIC_PHASE_DEM);
}
END_TEST

START_TEST(microstrobes_only_grow)
{
    struct nic_slice_state state = {.phase = NIC_PHASE_IDLE};
    uint64_t last = 0;

    for (int i = 0; i < 100; i++) {
        nic_slice_begin(&state, i % 5 == 0);
        while (state.phase != NIC_PHASE_IDLE) {
            uint64_t strobe = nic_microstrobe(state.round, (enum nic_phase)state.phase);
            ck_assert_uint_gt(strobe, last);
            last = strobe;
            nic_slice_advance(&state, i % 3 == 0);
        }
    }
}
END_TEST

START_TEST(a_microstrobe_names_its_round_and_phase)
{
    static const uint64_t rounds[] = {1, 2, 1000, UINT64_C(1) << 60};

    for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
        for (int phase = NIC_PHASE_BEGIN; phase <= NIC_PHASE_END; phase++) {
            uint64_t strobe = nic_microstrobe(rounds[i], (enum nic_phase)phase);
            ck_assert_uint_eq(nic_microstrobe_round(strobe), rounds[i]);
            ck_assert_int_eq((int)nic_microstrobe_phase(strobe), phase);
        }
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("slice");

    tcase_add_test(tcase, a_round_with_work_runs_all_its_phases_in_order);
    tcase_add_test(tcase, a_round_without_later_work_ends_after_scheduling);
    tcase_add_test(tcase, work_is_asked_for_after_scheduling_only);
    tcase_add_test(tcase, a_timed_slice_opens_with_a_round_of_its_own);
    tcase_add_test(tcase, microstrobes_only_grow);
    tcase_add_test(tcase, a_microstrobe_names_its_round_and_phase);
    return run_tcase("slice", tcase);
}
