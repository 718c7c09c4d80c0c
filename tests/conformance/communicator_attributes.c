/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a communicator carries beside its messages, on intra- and intercommunicators:
 * attributes with their copy and delete functions, name, info, error handler,
 * comparison.
 */
#include "tests/conformance/sides.h"

static int n_copied, n_deleted;

static int copy_plus_one(MPI_Comm comm, int keyval, void *extra, void *value, void *out,
                         int *flag)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    n_copied++;
    *(void **)out = (char *)value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    n_deleted++;
    return MPI_SUCCESS;
}

/** The attribute's value, or -1. */
static int value_of(MPI_Comm comm, int keyval)
{
    void *value;
    int flag;

    MPI_Comm_get_attr(comm, keyval, &value, &flag);
    return flag ? (int)((char *)value - (char *)NULL) : -1;
}

static void attributes(const char *name, MPI_Comm comm)
{
    int copied, kept;
    MPI_Comm first, second;
    MPI_Request request;

    n_copied = 0;
    n_deleted = 0;
    MPI_Comm_create_keyval(copy_plus_one, count_delete, &copied, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_delete, &kept, NULL);
    MPI_Comm_set_attr(comm, copied, (char *)NULL + 10);
    MPI_Comm_set_attr(comm, kept, (char *)NULL + 20);
    MPI_Comm_dup(comm, &first);
    CHECK_EQUAL(value_of(first, copied), 11);
    CHECK_EQUAL(value_of(first, kept), -1);
    MPI_Comm_idup(first, &second, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(value_of(second, copied), 12);
    CHECK_EQUAL(n_copied, 2);
    MPI_Comm_free(&first);
    CHECK_EQUAL(n_deleted, 1);
    MPI_Comm_delete_attr(second, copied);
    CHECK_EQUAL(n_deleted, 2);
    MPI_Comm_free(&second);
    MPI_Comm_delete_attr(comm, copied);
    MPI_Comm_delete_attr(comm, kept);
    CHECK_EQUAL(n_deleted, 4);
    MPI_Comm_free_keyval(&copied);
    MPI_Comm_free_keyval(&kept);
    check_say("%s: attributes\n", name);
}

static void names_and_info(const char *name, MPI_Comm comm)
{
    char text[MPI_MAX_OBJECT_NAME];
    MPI_Comm copy;
    MPI_Info info, got;
    int n, flag;

    MPI_Comm_dup(comm, &copy);
    MPI_Comm_set_name(copy, "a copy of ours");
    MPI_Comm_get_name(copy, text, &n);
    CHECK_EQUAL(strcmp(text, "a copy of ours"), 0);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "false");
    MPI_Comm_set_info(copy, info);
    MPI_Comm_get_info(copy, &got);
    MPI_Info_get_valuelen(got, "mpi_assert_no_any_tag", &n, &flag);
    check_say("%s: named, info %d\n", name, flag);
    MPI_Info_free(&got);
    MPI_Info_free(&info);
    MPI_Comm_free(&copy);
}

static int n_errors;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    n_errors++;
}

static void error_handlers(const char *name, MPI_Comm comm)
{
    MPI_Errhandler handler;
    MPI_Comm first, second;

    n_errors = 0;
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_dup(comm, &first);
    MPI_Comm_set_errhandler(first, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_dup(first, &second);
    MPI_Send(NULL, 0, MPI_INT, 1 << 20, 1, second);
    CHECK_EQUAL(n_errors, 1);
    MPI_Comm_free(&first);
    MPI_Recv(NULL, -1, MPI_INT, 0, 1, second, MPI_STATUS_IGNORE);
    CHECK_EQUAL(n_errors, 2);
    MPI_Comm_set_errhandler(second, MPI_ERRORS_RETURN);
    CHECK(MPI_Send(NULL, 0, MPI_INT, 0, -5, second) != MPI_SUCCESS);
    CHECK_EQUAL(n_errors, 2);
    MPI_Comm_free(&second);
    check_say("%s: error handlers\n", name);
}

static int compared(MPI_Comm one, MPI_Comm other)
{
    int result;

    MPI_Comm_compare(one, other, &result);
    return result;
}

static void comparisons(struct world world)
{
    MPI_Comm same, reversed, alone;

    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world.rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, world.rank, 0, &alone);
    CHECK_EQUAL(compared(same, same), MPI_IDENT);
    CHECK_EQUAL(compared(same, MPI_COMM_WORLD), MPI_CONGRUENT);
    CHECK_EQUAL(compared(reversed, same), world.size > 1 ? MPI_SIMILAR : MPI_CONGRUENT);
    CHECK_EQUAL(compared(alone, same), world.size > 1 ? MPI_UNEQUAL : MPI_CONGRUENT);
    CHECK_EQUAL(compared(alone, MPI_COMM_SELF), MPI_CONGRUENT);
    MPI_Comm_free(&same);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&alone);
    check_say("comparisons\n");
}

static void all_of_it(const char *name, MPI_Comm comm)
{
    attributes(name, comm);
    names_and_info(name, comm);
    error_handlers(name, comm);
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    all_of_it("world", MPI_COMM_WORLD);
    comparisons(world);
    if (world.size > 1) {
        struct sides sides = sides_make(world, 1);

        all_of_it("side", sides.mine);
        all_of_it("both", sides.both);
        sides_free(&sides);
    }
    return check_end();
}
