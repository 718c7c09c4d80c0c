/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a status tells: source, tag, counts and elements in several types, cancelled or
 * not; and that a status may be ignored everywhere.
 */
#include "tests/conformance/check.h"

static void counts_in_several_types(struct world world)
{
    int out[6] = {1, 2, 3, 4, 5, 6};
    int in[8];
    int count;
    MPI_Count elements;
    MPI_Datatype pair;
    MPI_Datatype mixed;
    MPI_Status status;
    MPI_Request request;
    int lengths[2] = {1, 2};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};

    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_commit(&mixed);
    for (int n = 0; n <= 6; n++) {
        MPI_Isend(out, n, MPI_INT, world.right, n, MPI_COMM_WORLD, &request);
        MPI_Recv(in, 4, pair, world.left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_EQUAL(status.MPI_SOURCE, world.left);
        CHECK_EQUAL(status.MPI_TAG, n);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK_EQUAL(count, n);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQUAL(count, 4 * n);
        MPI_Get_count(&status, pair, &count);
        CHECK_EQUAL(count, n % 2 ? MPI_UNDEFINED : n / 2);
        MPI_Get_elements(&status, pair, &count);
        CHECK_EQUAL(count, n);
        MPI_Get_elements_x(&status, pair, &elements);
        CHECK_EQUAL(elements, n);
        MPI_Get_elements(&status, mixed, &count);
        check_say("%d ints are %d elements of {double, 2 int}\n", n, count);
    }
    MPI_Type_free(&pair);
    MPI_Type_free(&mixed);
}

/* A message that ends in the middle of a derived element fills just its first part. */
static void a_partial_last_element(struct world world)
{
    struct {
        int a;
        int gap;
        short b;
        short gap2;
        double c;
    } in[2];
    struct {
        int a;
        short b;
    } __attribute__((packed)) out = {77, 88};
    int lengths[3] = {1, 1, 1};
    MPI_Aint places[3] = {0, 8, 16};
    MPI_Datatype types[3] = {MPI_INT, MPI_SHORT, MPI_DOUBLE};
    MPI_Datatype in_type;
    MPI_Datatype out_type;
    MPI_Aint out_places[2] = {0, 4};
    MPI_Request request;
    MPI_Status status;
    int count;

    MPI_Type_create_struct(3, lengths, places, types, &in_type);
    MPI_Type_create_struct(2, lengths, out_places, types, &out_type);
    MPI_Type_commit(&in_type);
    MPI_Type_commit(&out_type);
    memset(in, 0x33, sizeof(in));
    MPI_Isend(&out, 1, out_type, world.right, 1, MPI_COMM_WORLD, &request);
    MPI_Recv(in, 2, in_type, world.left, 1, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in[0].a, 77);
    CHECK_EQUAL(in[0].b, 88);
    CHECK(check_is_all(&in[0].gap, sizeof(in[0].gap), 0x33));
    CHECK(check_is_all(&in[0].c, sizeof(in[0].c), 0x33));
    CHECK(check_is_all(&in[1], sizeof(in[1]), 0x33));
    MPI_Get_count(&status, in_type, &count);
    CHECK_EQUAL(count, MPI_UNDEFINED);
    MPI_Get_elements(&status, in_type, &count);
    CHECK_EQUAL(count, 2);
    MPI_Type_free(&in_type);
    MPI_Type_free(&out_type);
    check_say("a partial last element\n");
}

static void the_empty_status(void)
{
    MPI_Request null_request = MPI_REQUEST_NULL;
    MPI_Status status;
    int count = -1;
    int is_cancelled = -1;

    memset(&status, 0x7f, sizeof(status));
    MPI_Wait(&null_request, &status);
    CHECK_EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQUAL(status.MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQUAL(count, 0);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK_EQUAL(is_cancelled, 0);
    check_say("the empty status\n");
}

/* Single calls leave the field MPI_ERROR of a status as it is. */
static void single_calls_leave_the_error_field(struct world world)
{
    MPI_Status status = {.MPI_ERROR = 1234};
    MPI_Request request;
    int out = 5;
    int in;

    MPI_Isend(&out, 1, MPI_INT, world.right, 1, MPI_COMM_WORLD, &request);
    MPI_Recv(&in, 1, MPI_INT, world.left, 1, MPI_COMM_WORLD, &status);
    check_say("after Recv MPI_ERROR is %d\n", status.MPI_ERROR);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(&out, 1, MPI_INT, world.right, 1, MPI_COMM_WORLD, &request);
    status.MPI_ERROR = 1234;
    MPI_Probe(world.left, 1, MPI_COMM_WORLD, &status);
    check_say("after Probe MPI_ERROR is %d\n", status.MPI_ERROR);
    MPI_Recv(&in, 1, MPI_INT, world.left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void the_program_sets_a_status(void)
{
    MPI_Status status = {0};
    int count;
    int is_cancelled;

    MPI_Status_set_elements(&status, MPI_DOUBLE, 3);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Get_count(&status, MPI_BYTE, &count);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK_EQUAL(count, 24);
    CHECK(is_cancelled);
    check_say("the program sets a status\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    counts_in_several_types(world);
    a_partial_last_element(world);
    the_empty_status();
    single_calls_leave_the_error_field(world);
    the_program_sets_a_status();
    return check_end();
}
