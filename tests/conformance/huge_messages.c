/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of more than 2 GiB between ranks 0 and 1, as types whose sizes or counts
 * make them so: one element that is that long, and many elements with gaps. The
 * sender's memory is one block, which its types name again and again; the receiver has
 * as much as it takes, 2.4 GB. The block's length is odd, so that data that are a power
 * of two out of place are found. MPI_Pack cannot be asked about such lengths: its
 * positions are of type int.
 */
#include "tests/conformance/check.h"

enum { BLOCK = 65521, STRIDE = 65536, N_BLOCKS = 36000, SEED = 7 };

/** The block, N_BLOCKS times, as one element. */
static MPI_Datatype repeated_block(void)
{
    MPI_Datatype type;

    MPI_Type_create_hvector(N_BLOCKS, BLOCK, 0, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

/** One block, and extent bytes to the next element. */
static MPI_Datatype spaced_block(MPI_Aint extent)
{
    MPI_Datatype block, type;

    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&block);
    return type;
}

/** What one side of a message is made of. */
struct side {
    MPI_Datatype type;
    int count;
};

static void send(const struct side *side)
{
    char *block = check_alloc(BLOCK);

    check_fill(block, BLOCK, SEED);
    MPI_Send(block, side->count, side->type, 1, 1, MPI_COMM_WORLD);
    free(block);
}

/** Receive N_BLOCKS blocks that are stride bytes apart. */
static void receive(const struct side *side, size_t stride)
{
    size_t n_bytes = stride * N_BLOCKS;
    char *data = check_alloc(n_bytes);
    MPI_Request request;
    MPI_Status status;
    MPI_Count count;

    MPI_Irecv(data, side->count, side->type, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    MPI_Get_elements_x(&status, MPI_BYTE, &count);
    CHECK_EQUAL(count, (long long)BLOCK * N_BLOCKS);
    for (size_t i = 0; i < N_BLOCKS; i++) {
        const char *block = data + i * stride;

        CHECK(check_is_filled(block, BLOCK, SEED));
        for (size_t gap = BLOCK; gap < stride; gap++) {
            CHECK_EQUAL(block[gap], 0);
        }
    }
    free(data);
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    struct side long_element = {repeated_block(), 1};
    struct side same_block = {spaced_block(0), N_BLOCKS};
    struct side in_a_row = {spaced_block(BLOCK), N_BLOCKS};
    struct side with_gaps = {spaced_block(STRIDE), N_BLOCKS};

    if (world.rank == 0) {
        send(&long_element);
        send(&same_block);
    } else if (world.rank == 1) {
        receive(&in_a_row, BLOCK);
        receive(&with_gaps, STRIDE);
    }
    check_say("one long element, and many with gaps\n");
    MPI_Type_free(&long_element.type);
    MPI_Type_free(&same_block.type);
    MPI_Type_free(&in_a_row.type);
    MPI_Type_free(&with_gaps.type);
    return check_end();
}
