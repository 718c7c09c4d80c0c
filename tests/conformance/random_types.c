/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of random datatypes: what arrives is what MPI_Pack would have packed,
 * whatever the layouts of the two sides, the way the message is sent and its length;
 * and of what the receive type does not name, nothing is touched.
 *
 * Arguments: how many types (default 60), seed (default 1).
 */
#include <stdbool.h>

#include "tests/conformance/random_type.h"

enum {
    MAX_DATA = 400000,
    MAX_COLLECTIVE = 65536,
    MAX_SPAN = 8 << 20,
    MAX_DEPTH = 4,
    N_WAYS = 6,
    UNTOUCHED = 0xEE,
};

/** count elements of a type, in memory of their own. */
struct elements {
    MPI_Datatype type;
    struct extents extents;
    size_t count;
    size_t n_bytes; /* of data */
    int *map;      /* [extents.size] where each byte of an element is, from its start */
    bool overlaps; /* some byte of memory is named twice */
    size_t span;
    char *memory;
    char *buffer; /* what MPI calls take */
};

static const MPI_Datatype *bases(int i)
{
    static MPI_Datatype types[6];

    types[0] = MPI_BYTE;
    types[1] = MPI_SHORT;
    types[2] = MPI_INT;
    types[3] = MPI_DOUBLE;
    types[4] = MPI_DOUBLE_INT;
    types[5] = MPI_SHORT_INT;
    return &types[i];
}

/** Find out where the bytes of an element are: pack memory whose bytes hold a digit of
 *  their address, once for each digit. */
static void find_map(struct elements *elements)
{
    const struct extents *extents = &elements->extents;
    unsigned char *memory = check_alloc((size_t)extents->true_extent);
    unsigned char *packed = check_alloc((size_t)extents->size);

    elements->map = check_alloc((size_t)extents->size * sizeof(*elements->map));
    for (int digit = 0; digit < 3; digit++) {
        int position = 0;

        for (MPI_Count i = 0; i < extents->true_extent; i++) {
            memory[i] = (unsigned char)(i >> 8 * digit);
        }
        MPI_Pack(memory - extents->true_lb, 1, elements->type, packed,
                 (int)extents->size, &position, MPI_COMM_SELF);
        CHECK_EQUAL(position, extents->size);
        for (MPI_Count i = 0; i < extents->size; i++) {
            elements->map[i] += packed[i] << 8 * digit;
        }
    }
    for (MPI_Count i = 0; i < extents->size; i++) {
        elements->map[i] += (int)extents->true_lb;
    }
    free(memory);
    free(packed);
}

/** Where byte i of the data is, from buffer. */
static ptrdiff_t place_of(const struct elements *elements, size_t i)
{
    size_t size = (size_t)elements->extents.size;

    return (ptrdiff_t)(i / size) * elements->extents.extent + elements->map[i % size];
}

static void find_overlaps(struct elements *elements)
{
    memset(elements->memory, 0, elements->span);
    elements->overlaps = false;
    for (size_t i = 0; i < elements->n_bytes; i++) {
        char *byte = elements->buffer + place_of(elements, i);

        elements->overlaps |= *byte != 0;
        *byte = 1;
    }
}

/** Make memory for enough elements to have n_bytes of data, if that is not too
 *  large. */
static void elements_init(struct elements *elements, MPI_Datatype type, size_t n_bytes)
{
    struct extents extents = random_extents(type);
    MPI_Count last, low;
    size_t count = (n_bytes + (size_t)extents.size - 1) / (size_t)extents.size;

    while (count > 1 &&
           (MPI_Count)count * llabs(extents.extent) + extents.true_extent > MAX_SPAN) {
        count /= 2;
    }
    last = (MPI_Count)(count - 1) * extents.extent;
    low = extents.true_lb + (last < 0 ? last : 0);
    *elements = (struct elements){
        .type = type,
        .extents = extents,
        .count = count,
        .n_bytes = count * (size_t)extents.size,
        .span = (size_t)(extents.true_extent + llabs(last)),
    };
    elements->memory = check_alloc(elements->span);
    elements->buffer = elements->memory - low;
    find_map(elements);
    find_overlaps(elements);
}

static void elements_fini(struct elements *elements)
{
    free(elements->memory);
    free(elements->map);
    MPI_Type_free(&elements->type);
}

/** The data of the elements, packed. Also compares with MPI_Pack. */
static char *packed_data(const struct elements *elements)
{
    char *data = check_alloc(elements->n_bytes);
    char *packed = check_alloc(elements->n_bytes);
    int position = 0;

    for (size_t i = 0; i < elements->n_bytes; i++) {
        data[i] = elements->buffer[place_of(elements, i)];
    }
    MPI_Pack(elements->buffer, (int)elements->count, elements->type, packed,
             (int)elements->n_bytes, &position, MPI_COMM_SELF);
    CHECK(memcmp(data, packed, elements->n_bytes) == 0);
    free(packed);
    return data;
}

/** Send to the right and receive from the left, in one of several ways. */
static void exchange(struct world world, const struct elements *out,
                     const struct elements *in, int way, MPI_Status *status)
{
    int n_out = (int)out->count, n_in = (int)in->count;
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Status statuses[2];

    switch (way) {
    case 0:
        MPI_Irecv(in->buffer, n_in, in->type, world.left, 7, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Isend(out->buffer, n_out, out->type, world.right, 7, MPI_COMM_WORLD,
                  &requests[1]);
        MPI_Waitall(2, requests, statuses);
        *status = statuses[0];
        break;
    case 1:
        MPI_Sendrecv(out->buffer, n_out, out->type, world.right, 7, in->buffer, n_in,
                     in->type, world.left, 7, MPI_COMM_WORLD, status);
        break;
    case 2:
        MPI_Irecv(in->buffer, n_in, in->type, world.left, 7, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Ssend(out->buffer, n_out, out->type, world.right, 7, MPI_COMM_WORLD);
        MPI_Wait(&requests[0], status);
        break;
    case 3:
        MPI_Send_init(out->buffer, n_out, out->type, world.right, 7, MPI_COMM_WORLD,
                      &requests[0]);
        MPI_Recv_init(in->buffer, n_in, in->type, world.left, 7, MPI_COMM_WORLD,
                      &requests[1]);
        MPI_Startall(2, requests);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], status);
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
        break;
    case 4: /* the send goes on while the process does other things */
        MPI_Isend(out->buffer, n_out, out->type, world.right, 7, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Recv(in->buffer, n_in, in->type, world.left, 7, MPI_COMM_WORLD, status);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Issend(out->buffer, n_out, out->type, world.right, 7, MPI_COMM_WORLD,
                   &requests[0]);
        MPI_Mprobe(world.left, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(in->buffer, n_in, in->type, &message, status);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        break;
    }
}

/** Only the first n_bytes of data have been written, and are these. */
static void check_received(const struct elements *in, const char *data, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        char *byte = in->buffer + place_of(in, i);

        CHECK(*byte == data[i]);
        *byte = (char)UNTOUCHED;
    }
    CHECK(check_is_all(in->memory, in->span, UNTOUCHED));
}

static uint64_t count_received(const struct elements *in, const MPI_Status *status)
{
    MPI_Count n_elements, n_bytes;
    int count;

    MPI_Get_count(status, in->type, &count);
    MPI_Get_elements_x(status, in->type, &n_elements);
    MPI_Get_elements_x(status, MPI_BYTE, &n_bytes);
    return check_mix(check_mix((uint64_t)count, (uint64_t)n_elements),
                     (uint64_t)n_bytes);
}

/** Messages from one type to the other, to bytes, and from bytes. */
static uint64_t check_messages(struct world world, struct elements *out,
                               struct elements *in, int way, uint64_t seed)
{
    struct elements flat_out, flat_in;
    MPI_Datatype packed[2];
    MPI_Status status;
    uint64_t sum;
    char *mine, *data;

    check_fill(out->memory, out->span, seed + (uint64_t)world.left);
    data = packed_data(out);
    check_fill(out->memory, out->span, seed + (uint64_t)world.rank);
    mine = packed_data(out);
    for (int i = 0; i < 2; i++) {
        MPI_Type_dup(MPI_PACKED, &packed[i]);
        MPI_Type_commit(&packed[i]);
    }
    elements_init(&flat_out, packed[0], out->n_bytes);
    elements_init(&flat_in, packed[1], out->n_bytes);
    memset(flat_in.memory, UNTOUCHED, flat_in.span);
    exchange(world, out, &flat_in, way, &status);
    sum = count_received(&flat_in, &status);
    check_received(&flat_in, data, out->n_bytes);
    if (!in->overlaps) {
        memset(in->memory, UNTOUCHED, in->span);
        exchange(world, out, in, (way + 1) % N_WAYS, &status);
        sum = check_mix(sum, count_received(in, &status));
        check_received(in, data, out->n_bytes);
        memcpy(flat_out.buffer, mine, out->n_bytes);
        exchange(world, &flat_out, in, (way + 2) % N_WAYS, &status);
        sum = check_mix(sum, count_received(in, &status));
        check_received(in, data, out->n_bytes);
    }
    elements_fini(&flat_out);
    elements_fini(&flat_in);
    free(data);
    free(mine);
    return sum;
}

/** Collectives between a type and its basic type. */
static void check_collectives(struct world world, struct elements *elements,
                              MPI_Datatype base, uint64_t seed)
{
    int base_size, n, root = (int)(seed % (uint64_t)world.size);
    char *data, *all;

    MPI_Type_size(base, &base_size);
    n = (int)(elements->n_bytes / (size_t)base_size);
    check_fill(elements->memory, elements->span, seed);
    data = packed_data(elements);
    all = check_alloc((size_t)world.size * elements->n_bytes);
    if (world.rank == root) {
        MPI_Bcast(elements->buffer, (int)elements->count, elements->type, root,
                  MPI_COMM_WORLD);
    } else {
        MPI_Bcast(all, n, base, root, MPI_COMM_WORLD);
        CHECK(memcmp(all, data, elements->n_bytes) == 0);
    }
    MPI_Allgather(elements->buffer, (int)elements->count, elements->type, all, n, base,
                  MPI_COMM_WORLD);
    for (int i = 0; i < world.size; i++) {
        CHECK(memcmp(all + (size_t)i * elements->n_bytes, data, elements->n_bytes) ==
              0);
    }
    if (!elements->overlaps) {
        memset(elements->memory, UNTOUCHED, elements->span);
        MPI_Scatter(all, n, base, elements->buffer, (int)elements->count,
                    elements->type, root, MPI_COMM_WORLD);
        check_received(elements, data, elements->n_bytes);
    }
    free(data);
    free(all);
}

/** A committed type with data. */
static MPI_Datatype next_type(struct random_stream *stream, MPI_Datatype base)
{
    for (;;) {
        MPI_Datatype type =
            random_type(stream, base, random_between(stream, 0, MAX_DEPTH));
        struct extents extents = random_extents(type);

        if (extents.size > 0 && extents.true_extent <= RANDOM_MAX_SPAN) {
            MPI_Type_commit(&type);
            return type;
        }
        MPI_Type_free(&type);
    }
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    struct random_stream stream = {.seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1};
    int n_types = argc > 1 ? atoi(argv[1]) : 60;
    uint64_t sum = 0;

    for (int i = 0; i < n_types; i++) {
        int which = random_between(&stream, 0, 5);
        MPI_Datatype base = *bases(which);
        int n = check_lengths[random_between(&stream, 1, CHECK_N_LENGTHS - 2)];
        struct elements out, in;

        n = n < MAX_DATA ? n : MAX_DATA;
        elements_init(&out, next_type(&stream, base), (size_t)n);
        elements_init(&in, next_type(&stream, base), out.n_bytes);
        if (in.n_bytes >= out.n_bytes) {
            uint64_t seed = check_mix(stream.seed, (uint64_t)i);

            sum = check_mix(sum, check_messages(world, &out, &in,
                                                random_between(&stream, 0, N_WAYS - 1),
                                                seed));
            /* A pair is more than its bytes; and Open MPI 4.1 is wrong about some
             * longer ones when it copies a rank's own part. */
            if (which < 4 && out.n_bytes <= MAX_COLLECTIVE) {
                check_collectives(world, &out, base, seed);
            }
        }
        elements_fini(&out);
        elements_fini(&in);
    }
    check_say_sum("random types", sum);
    return check_end();
}
