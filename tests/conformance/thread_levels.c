/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Init_thread gives the level that it gives natively (the argument names it,
 * default MPI_THREAD_SERIALIZED), and what may be asked before, during and after MPI is
 * answered.
 */
#include "tests/conformance/check.h"

#include <pthread.h>

static void *talk(void *argument)
{
    struct world *world = argument;
    int in = -1;
    int is_main = 1;

    MPI_Is_thread_main(&is_main);
    CHECK(!is_main);
    MPI_Sendrecv(&world->rank, 1, MPI_INT, world->right, 1, &in, 1, MPI_INT,
                 world->left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world->left);
    return NULL;
}

int main(int argc, char **argv)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED,
                                 MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    int level = levels[argc > 1 ? atoi(argv[1]) % 4 : 2];
    int provided = -1;
    int asked = -1;
    int is_so = -1;
    int version;
    int subversion;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    struct world world;
    pthread_t thread;

    MPI_Initialized(&is_so);
    if (is_so) {
        return 3;
    }
    MPI_Get_library_version(text, &asked);
    MPI_Get_version(&version, &subversion);
    MPI_Init_thread(&argc, &argv, level, &provided);
    world = check_world();
    MPI_Initialized(&is_so);
    CHECK(is_so);
    MPI_Finalized(&is_so);
    CHECK(!is_so);
    MPI_Is_thread_main(&is_so);
    CHECK(is_so);
    MPI_Query_thread(&asked);
    CHECK_EQUAL(asked, provided);
    check_say("MPI %d.%d %.9s, level %d gives %d\n", version, subversion, text, level,
              provided);
    if (provided >= MPI_THREAD_SERIALIZED) {
        pthread_create(&thread, NULL, talk, &world);
        pthread_join(thread, NULL);
    }
    check_say("passed\n");
    MPI_Finalize();
    MPI_Finalized(&is_so);
    return is_so ? 0 : 4;
}
