/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rest of what a program asks for: time, names, attributes, Pcontrol, memory; a
 * delete function of an attribute of MPI_COMM_SELF still communicates inside
 * MPI_Finalize.
 */
#include "tests/conformance/check.h"

static void time_goes_on(void)
{
    double start = MPI_Wtime();
    double last = start;

    for (int i = 0; i < 1000; i++) {
        double now = MPI_Wtime();

        CHECK(now >= last);
        last = now;
    }
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1e-2);
    check_say("time goes on\n");
}

static void names_and_attributes(struct world world)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    char comm_name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    int is_set = 0;
    int *tag_limit = NULL;
    MPI_Comm comm;

    MPI_Get_processor_name(name, &length);
    CHECK(length > 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_limit, &is_set);
    CHECK(is_set && *tag_limit >= 32767);
    check_say("largest tag %d\n", *tag_limit);
    MPI_Sendrecv(NULL, 0, MPI_INT, world.right, *tag_limit, NULL, 0, MPI_INT,
                 world.left, *tag_limit, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "a name");
    MPI_Comm_get_name(comm, comm_name, &length);
    check_say("named %s\n", comm_name);
    MPI_Comm_free(&comm);
    MPI_Comm_get_name(MPI_COMM_WORLD, comm_name, &length);
    check_say("named %s\n", comm_name);
}

static int n_copied;
static int n_deleted;

static int copy_value(MPI_Comm comm, int key, void *extra, void *in, void *out,
                      int *flag)
{
    (void)comm;
    (void)key;
    (void)extra;
    *(void **)out = in;
    *flag = 1;
    n_copied++;
    return MPI_SUCCESS;
}

static int delete_value(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    n_deleted++;
    return MPI_SUCCESS;
}

static void attributes_follow_a_dup(void)
{
    MPI_Comm comm;
    int key;
    int value = 5;
    int *found = NULL;
    int is_set;

    MPI_Comm_create_keyval(copy_value, delete_value, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_EQUAL(n_copied, 1);
    MPI_Comm_get_attr(comm, key, &found, &is_set);
    CHECK(is_set && *found == 5);
    MPI_Comm_free(&comm);
    CHECK_EQUAL(n_deleted, 1);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    CHECK_EQUAL(n_deleted, 2);
    MPI_Comm_free_keyval(&key);
    check_say("attributes follow a dup\n");
}

static void memory_and_control(struct world world)
{
    char *memory;
    MPI_Request request;

    MPI_Pcontrol(0);
    MPI_Pcontrol(1);
    MPI_Pcontrol(2, "text", 5);
    MPI_Alloc_mem(100000, MPI_INFO_NULL, &memory);
    check_fill(memory, 50000, world.rank);
    MPI_Irecv(memory + 50000, 50000, MPI_BYTE, world.left, 1, MPI_COMM_WORLD, &request);
    MPI_Send(memory, 50000, MPI_BYTE, world.right, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(check_is_filled(memory + 50000, 50000, world.left));
    MPI_Free_mem(memory);
    check_say("memory and control\n");
}

static int at_the_end(MPI_Comm comm, int key, void *value, void *extra)
{
    struct world world = check_world();
    int in = -1;
    int sum = 0;

    (void)comm;
    (void)key;
    (void)extra;
    CHECK_EQUAL(*(int *)value, 77);
    MPI_Sendrecv(&world.rank, 1, MPI_INT, world.right, 3, &in, 1, MPI_INT, world.left,
                 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world.left);
    MPI_Allreduce(&world.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_say("inside Finalize the sum is %d\n", sum);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    static int value = 77;
    int key;

    time_goes_on();
    names_and_attributes(world);
    attributes_follow_a_dup();
    memory_and_control(world);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &value);
    return check_end();
}
