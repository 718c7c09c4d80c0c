/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info: keys and values go in and come out in order, duplicates stand alone, errors
 * have the native classes, and hints given to a communicator do not change what it
 * does.
 */
#include "tests/conformance/check.h"

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void say_all(const char *name, MPI_Info info)
{
    char key[MPI_MAX_INFO_KEY + 1];
    char value[MPI_MAX_INFO_VAL + 1];
    int n, length, is_set;

    MPI_Info_get_nkeys(info, &n);
    check_say("%s: %d keys\n", name, n);
    for (int i = 0; i < n; i++) {
        CHECK_EQUAL(MPI_Info_get_nthkey(info, i, key), MPI_SUCCESS);
        MPI_Info_get_valuelen(info, key, &length, &is_set);
        CHECK(is_set);
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &is_set);
        CHECK(is_set);
        CHECK_EQUAL(length, strlen(value));
        check_say("  %s is '%s'\n", key, value);
    }
}

static void keys_and_values(void)
{
    char value[5];
    MPI_Info info, copy;
    int is_set = 1;

    MPI_Info_create(&info);
    say_all("new", info);
    MPI_Info_set(info, "third", "3");
    MPI_Info_set(info, "first", "one");
    MPI_Info_set(info, "second", "a longer value, with = and , in it");
    MPI_Info_set(info, "first", "1");
    say_all("set", info);
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "third");
    say_all("deleted", info);
    say_all("copy", copy);
    MPI_Info_get(copy, "second", 4, value, &is_set);
    CHECK(is_set && strcmp(value, "a lo") == 0);
    MPI_Info_get(copy, "none", 4, value, &is_set);
    CHECK(!is_set);
    check_say("delete none: class %d\n", class_of(MPI_Info_delete(copy, "none")));
    check_say("key 9 of 3: class %d\n", class_of(MPI_Info_get_nthkey(copy, 9, value)));
    check_say("empty key: class %d\n", class_of(MPI_Info_set(copy, "", "x")));
    check_say("null: class %d\n", class_of(MPI_Info_set(MPI_INFO_NULL, "x", "x")));
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    CHECK(info == MPI_INFO_NULL && copy == MPI_INFO_NULL);
}

static void works(MPI_Comm comm, struct world world)
{
    int in = -1;

    MPI_Sendrecv(&world.rank, 1, MPI_INT, world.right, 3, &in, 1, MPI_INT,
                 MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world.left);
    MPI_Allreduce(&world.rank, &in, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(in, world.size * (world.size - 1) / 2);
}

/* Also hints of MPI 4 that promise what the program then does not keep to. */
static void of_a_communicator(struct world world)
{
    MPI_Comm comm;
    MPI_Info info, got;
    int n = -1;

    MPI_Info_create(&info);
    MPI_Info_set(info, "an_unknown_hint", "yes");
    MPI_Info_set(info, "mpi_assert_no_any_tag", "false");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    works(comm, world);
    CHECK_EQUAL(MPI_Comm_set_info(comm, info), MPI_SUCCESS);
    works(comm, world);
    MPI_Comm_get_info(comm, &got);
    say_all("of a communicator", got);
    MPI_Info_free(&got);
    MPI_Comm_get_info(MPI_COMM_WORLD, &got);
    MPI_Info_get_nkeys(got, &n);
    check_say("of the world: %d keys\n", n);
    MPI_Info_free(&got);
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
}

static void of_the_environment(void)
{
    static const char *const keys[] = {"maxprocs", "soft", "thread_level"};
    char value[MPI_MAX_INFO_VAL + 1];
    int is_set;

    for (int i = 0; i < CHECK_N(keys); i++) {
        MPI_Info_get(MPI_INFO_ENV, keys[i], MPI_MAX_INFO_VAL, value, &is_set);
        check_say("environment: %s is %s\n", keys[i], is_set ? value : "not set");
    }
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    keys_and_values();
    of_a_communicator(world);
    of_the_environment();
    return check_end();
}
