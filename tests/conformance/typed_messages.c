/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types in use: long typed messages, other types of the same signature on the receiving
 * side, MPI_BOTTOM with absolute addresses, types freed while in use, bytes packed by
 * hand.
 */
#include "tests/conformance/check.h"

enum { SIDE = 600 };

static void a_matrix_is_transposed_on_the_way(struct world world)
{
    double *out = check_alloc(SIDE * SIDE * sizeof(double));
    double *in = check_alloc(SIDE * SIDE * sizeof(double));
    MPI_Datatype column;
    MPI_Datatype columns;
    MPI_Request request;

    for (int i = 0; i < SIDE * SIDE; i++) {
        out[i] = world.rank * 1e6 + i;
    }
    MPI_Type_vector(SIDE, 1, SIDE, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, sizeof(double), &columns);
    MPI_Type_commit(&columns);
    MPI_Isend(out, SIDE * SIDE, MPI_DOUBLE, world.right, 1, MPI_COMM_WORLD, &request);
    MPI_Recv(in, SIDE, columns, world.left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < SIDE * SIDE; i++) {
        CHECK(in[i % SIDE * SIDE + i / SIDE] == world.left * 1e6 + i);
    }
    MPI_Isend(in, SIDE, columns, world.left, 2, MPI_COMM_WORLD, &request);
    MPI_Recv(in, 0, columns, MPI_PROC_NULL, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    memset(out, 0, SIDE * SIDE * sizeof(double));
    MPI_Recv(out, SIDE * SIDE, MPI_DOUBLE, world.right, 2, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < SIDE * SIDE; i++) {
        CHECK(out[i] == world.rank * 1e6 + i);
    }
    MPI_Type_free(&column);
    MPI_Type_free(&columns);
    free(out);
    free(in);
    check_say("a matrix is transposed on the way\n");
}

static void absolute_addresses(struct world world)
{
    int a = 10 * world.rank;
    double b[3] = {world.rank + 0.5, world.rank + 0.25, world.rank + 0.125};
    char c = (char)('a' + world.rank);
    int in_a = -1;
    double in_b[3] = {0};
    char in_c = 0;
    int lengths[3] = {1, 3, 1};
    MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Aint out_places[3];
    MPI_Aint in_places[3];
    MPI_Datatype out_type;
    MPI_Datatype in_type;
    MPI_Request request;

    MPI_Get_address(&a, &out_places[0]);
    MPI_Get_address(b, &out_places[1]);
    MPI_Get_address(&c, &out_places[2]);
    MPI_Get_address(&in_a, &in_places[0]);
    MPI_Get_address(in_b, &in_places[1]);
    MPI_Get_address(&in_c, &in_places[2]);
    MPI_Type_create_struct(3, lengths, out_places, types, &out_type);
    MPI_Type_create_struct(3, lengths, in_places, types, &in_type);
    MPI_Type_commit(&out_type);
    MPI_Type_commit(&in_type);
    MPI_Irecv(MPI_BOTTOM, 1, in_type, world.left, 3, MPI_COMM_WORLD, &request);
    MPI_Send(MPI_BOTTOM, 1, out_type, world.right, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in_a, 10 * world.left);
    CHECK(in_b[0] == world.left + 0.5 && in_b[2] == world.left + 0.125);
    CHECK_EQUAL(in_c, 'a' + world.left);
    MPI_Bcast(MPI_BOTTOM, 1, out_type, 0, MPI_COMM_WORLD);
    CHECK_EQUAL(a, 0);
    CHECK(b[1] == 0.25);
    CHECK_EQUAL(c, 'a');
    MPI_Type_free(&out_type);
    MPI_Type_free(&in_type);
    check_say("absolute addresses\n");
}

static void freed_while_in_use(struct world world)
{
    int grid[400];
    int in[200];
    MPI_Datatype type;
    MPI_Request request;

    for (int i = 0; i < 400; i++) {
        grid[i] = world.rank + i;
    }
    MPI_Type_vector(200, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Irecv(in, 200, MPI_INT, world.left, 4, MPI_COMM_WORLD, &request);
    MPI_Send(grid, 1, type, world.right, 4, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in[199], world.left + 398);
    MPI_Irecv(grid, 1, type, world.left, 5, MPI_COMM_WORLD, &request);
    MPI_Type_free(&type);
    MPI_Send(in, 200, MPI_INT, world.right, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(grid[398], (world.left + world.size - 1) % world.size + 398);
    CHECK_EQUAL(grid[399], world.rank + 399);
    check_say("freed while in use\n");
}

/* Handles of freed types are used again for new ones: nothing of the old may stick. */
static void a_handle_is_used_again(struct world world)
{
    char out[256];
    char in[256];
    uint64_t sum = 0;

    check_fill(out, sizeof(out), world.rank);
    for (int i = 1; i < 60; i++) {
        MPI_Datatype type;
        MPI_Request request;

        memset(in, 0, sizeof(in));
        MPI_Type_vector(i % 7 + 1, 1 + i % 3, 3 + i % 5, i % 2 ? MPI_CHAR : MPI_SHORT,
                        &type);
        MPI_Type_commit(&type);
        MPI_Irecv(in, 1, type, world.left, i, MPI_COMM_WORLD, &request);
        MPI_Send(out, 1, type, world.right, i, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
        sum = check_mix(sum, check_sum(in, sizeof(in)));
    }
    check_say_sum("a handle is used again", sum);
}

static void packed_by_hand(struct world world)
{
    char out[200];
    char in[200];
    int n = world.rank + 3;
    int in_n = 0;
    double values[12] = {0};
    int at = 0;
    MPI_Status status;
    int n_in;

    for (int i = 0; i < n; i++) {
        values[i] = i + world.rank / 8.0;
    }
    MPI_Pack(&n, 1, MPI_INT, out, sizeof(out), &at, MPI_COMM_WORLD);
    MPI_Pack(values, n, MPI_DOUBLE, out, sizeof(out), &at, MPI_COMM_WORLD);
    MPI_Sendrecv(out, at, MPI_PACKED, world.right, 6, in, sizeof(in), MPI_PACKED,
                 world.left, 6, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_PACKED, &n_in);
    at = 0;
    MPI_Unpack(in, n_in, &at, &in_n, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK_EQUAL(in_n, world.left + 3);
    MPI_Unpack(in, n_in, &at, values, in_n, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK_EQUAL(at, n_in);
    CHECK(values[in_n - 1] == in_n - 1 + world.left / 8.0);
    at = 0;
    MPI_Pack_external("external32", &n, 1, MPI_INT, out, sizeof(out), (MPI_Aint[]){0});
    CHECK_EQUAL(out[3], world.rank + 3);
    check_say("packed by hand\n");
}

/* More elements are expected than come: the rest of the receiver's grid is left. */
static void fewer_elements_than_expected(struct world world)
{
    short grid[300];
    short out[100];
    MPI_Datatype type;
    MPI_Request request;
    MPI_Status status;
    int n;

    for (int i = 0; i < 100; i++) {
        out[i] = (short)(world.rank + i);
    }
    memset(grid, 0x55, sizeof(grid));
    MPI_Type_vector(2, 1, 3, MPI_SHORT, &type);
    MPI_Type_commit(&type);
    MPI_Isend(out, 31, MPI_SHORT, world.right, 7, MPI_COMM_WORLD, &request);
    MPI_Recv(grid, 50, type, world.left, 7, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get_elements(&status, type, &n);
    CHECK_EQUAL(n, 31);
    for (int i = 0; i < 31; i++) {
        CHECK_EQUAL(grid[i / 2 * 4 + i % 2 * 3], world.left + i);
    }
    CHECK_EQUAL(grid[15 * 4 + 3], 0x5555);
    CHECK(check_is_all(&grid[64], 200, 0x55));
    MPI_Type_free(&type);
    check_say("fewer elements than expected\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    a_matrix_is_transposed_on_the_way(world);
    absolute_addresses(world);
    freed_while_in_use(world);
    a_handle_is_used_again(world);
    packed_by_hand(world);
    fewer_elements_than_expected(world);
    return check_end();
}
