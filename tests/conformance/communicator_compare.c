/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_compare and MPI_Group_compare of communicators from all constructors: the
 * same one is identical, the same ranks in the same order are congruent, in another
 * order similar; inter- and intracommunicators are unequal.
 */
#include "tests/conformance/check.h"

enum { N = 9 };

static const char *name_of(int result)
{
    return result == MPI_IDENT       ? "identical"
           : result == MPI_CONGRUENT ? "congruent"
           : result == MPI_SIMILAR   ? "similar"
           : result == MPI_UNEQUAL   ? "unequal"
                                     : "neither";
}

static const char *compare(MPI_Comm one, MPI_Comm other)
{
    int result = -1;

    MPI_Comm_compare(one, other, &result);
    return name_of(result);
}

static void say_groups(const char *const *names, const MPI_Comm *comms)
{
    MPI_Group groups[N];
    int result;

    for (int i = 0; i < N; i++) {
        MPI_Comm_group(comms[i], &groups[i]);
    }
    for (int i = 1; i < N; i++) {
        MPI_Group_compare(groups[0], groups[i], &result);
        check_say("groups of %s and %s: %s\n", names[0], names[i], name_of(result));
    }
    for (int i = 0; i < N; i++) {
        MPI_Group_free(&groups[i]);
    }
}

static void intracommunicators(struct world world)
{
    static const char *const names[N] = {"world", "itself",   "duplicate",
                                         "dup2",  "reversed", "cartesian",
                                         "graph", "self",     "duplicate of self"};
    MPI_Comm comms[N] = {MPI_COMM_WORLD, MPI_COMM_WORLD};
    int one = 1;

    MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
    MPI_Comm_dup(comms[2], &comms[3]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world.rank, &comms[4]);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &world.size, &one, 0, &comms[5]);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &world.left, &one, 1,
                                   &world.right, &one, MPI_INFO_NULL, 0, &comms[6]);
    comms[7] = MPI_COMM_SELF;
    MPI_Comm_dup(MPI_COMM_SELF, &comms[8]);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            check_say("%s and %s: %s\n", names[i], names[j],
                      compare(comms[i], comms[j]));
        }
    }
    say_groups(names, comms);
    for (int i = 2; i < N; i++) {
        if (i != 7) {
            MPI_Comm_free(&comms[i]);
        }
    }
}

static void intercommunicators(struct world world)
{
    int side = world.rank % 2;
    MPI_Comm mine, across, copy, both;

    MPI_Comm_split(MPI_COMM_WORLD, side, world.rank, &mine);
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1 - side, 12, &across);
    MPI_Comm_dup(across, &copy);
    MPI_Intercomm_merge(across, side, &both);
    check_say("across and itself: %s\n", compare(across, across));
    check_say("across and its copy: %s\n", compare(across, copy));
    check_say("across and mine: %s\n", compare(across, mine));
    check_say("world and across: %s\n", compare(MPI_COMM_WORLD, across));
    check_say("merged and world: %s\n", compare(both, MPI_COMM_WORLD));
    check_say("mine and world: %s\n", compare(mine, MPI_COMM_WORLD));
    MPI_Comm_free(&both);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&across);
    MPI_Comm_free(&mine);
}

/* The handle of a freed communicator may come again: it is another one then. */
static void after_free(void)
{
    MPI_Comm first, second;

    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_free(&first);
    MPI_Comm_dup(MPI_COMM_SELF, &second);
    check_say("a new one of self: %s to world, %s to self\n",
              compare(second, MPI_COMM_WORLD), compare(second, MPI_COMM_SELF));
    MPI_Comm_free(&second);
}

static void with_null(void)
{
    int result, class;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &result), &class);
    check_say("world and null: class %d\n", class);
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    intracommunicators(world);
    if (world.size > 1) {
        intercommunicators(world);
    }
    after_free();
    with_null();
    return check_end();
}
