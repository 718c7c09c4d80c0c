/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_T: it may begin more than once, and the library shows as many variables, by the
 * same names and with the same values, as it does alone.
 */
#include "tests/conformance/check.h"

static int provided;

static void begin(void)
{
    CHECK_EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
}

/* Look through the control variables; some numbers are of none. Say one that is an int.
 * @return a checksum of their names and scopes */
static uint64_t look_at_controls(int n)
{
    uint64_t sum = 0;
    int has_read = 0;

    for (int i = 0; i < n; i++) {
        char name[256];
        int length = sizeof(name);
        int verbosity, binding, scope, count, value;
        MPI_Datatype type;
        MPI_T_cvar_handle handle;
        int code = MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, NULL, NULL,
                                       NULL, &binding, &scope);

        if (code != MPI_SUCCESS) {
            sum = check_mix(sum, code);
            continue;
        }
        sum = check_mix(sum, check_sum(name, strlen(name)) + (uint64_t)scope);
        if (type == MPI_INT && binding == MPI_T_BIND_NO_OBJECT && !has_read) {
            CHECK_EQUAL(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count), MPI_SUCCESS);
            CHECK_EQUAL(count, 1);
            CHECK_EQUAL(MPI_T_cvar_read(handle, &value), MPI_SUCCESS);
            MPI_T_cvar_handle_free(&handle);
            check_say("control %s is %d\n", name, value);
            has_read = 1;
        }
    }
    return sum;
}

static void performance_session(void)
{
    MPI_T_pvar_session session;
    int n = -1;

    CHECK_EQUAL(MPI_T_pvar_get_num(&n), MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    check_say("%d performance variables\n", n);
}

int main(int argc, char **argv)
{
    int n_controls = -1;
    int n_categories = -1;

    check_begin(&argc, &argv);
    begin();
    begin();
    MPI_T_cvar_get_num(&n_controls);
    MPI_T_category_get_num(&n_categories);
    CHECK(n_controls >= 0);
    check_say("%d controls of sum %016llx, %d categories, provided %d\n", n_controls,
              (unsigned long long)look_at_controls(n_controls), n_categories, provided);
    performance_session();
    CHECK_EQUAL(MPI_T_finalize(), MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_finalize(), MPI_SUCCESS);
    return check_end();
}
