/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a datatype to the layout of its data: by the envelope and contents of the type,
 * and those of the types that it is made of, down to the named ones. Called by
 * datatype*.c, in the thread that uses a type for the first time.
 *
 * Extents are asked of the real library, which has its own idea of alignment and of the
 * bounds that a program sets. What a named type looks like is learnt by packing one
 * element whose bytes tell where they stand.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/layout_build.h"
#include "libbcs/fabric/base/log.h"
#include "mpi_shim/data/datatype_internal.h"
#include "mpi_shim/real/real.h"

/* Named types are shorter: the longest is a pair of two long complex numbers. */
enum { NAMED_TYPE_MAX_BYTES = 128 };

/** How a type was made. */
struct contents {
    int combiner;
    int n_integers, n_addresses, n_types;
    int *integers;
    MPI_Aint *addresses;
    MPI_Datatype *types;
};

/** A type that others are made of. */
struct inner {
    struct bcs_layout_list list;
    ptrdiff_t extent;
};

void shim_datatype_measure(MPI_Datatype handle, struct shim_datatype *type_out)
{
    MPI_Count size = 0, lb = 0, extent = 0, true_lb = 0, true_extent = 0;

    shim_real.Type_size_x(handle, &size);
    shim_real.Type_get_extent_x(handle, &lb, &extent);
    shim_real.Type_get_true_extent_x(handle, &true_lb, &true_extent);
    *type_out = (struct shim_datatype){
        .handle = handle,
        .size = (size_t)size,
        .lb = (ptrdiff_t)lb,
        .extent = (ptrdiff_t)extent,
        .true_lb = (ptrdiff_t)true_lb,
        .true_extent = (ptrdiff_t)true_extent,
        .reduce_type = -1,
    };
}

static bool is_named(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

static void contents_fini(struct contents *contents)
{
    for (int i = 0; contents->types != NULL && i < contents->n_types; i++) {
        int n_integers, n_addresses, n_types, combiner;

        shim_real.Type_get_envelope(contents->types[i], &n_integers, &n_addresses,
                                    &n_types, &combiner);
        if (!is_named(combiner)) {
            shim_real.Type_free(&contents->types[i]);
        }
    }
    free(contents->integers);
    free(contents->addresses);
    free(contents->types);
}

/** Ask for the contents; of a named type, only that it is one. @return 0 or -ENOMEM */
static int contents_get(MPI_Datatype handle, struct contents *contents_out)
{
    struct contents contents = {0};

    shim_real.Type_get_envelope(handle, &contents.n_integers, &contents.n_addresses,
                                &contents.n_types, &contents.combiner);
    if (is_named(contents.combiner)) {
        contents.n_types = 0;
        *contents_out = contents;
        return 0;
    }
    contents.integers =
        calloc((size_t)contents.n_integers + 1, sizeof(*contents.integers));
    contents.addresses =
        calloc((size_t)contents.n_addresses + 1, sizeof(*contents.addresses));
    if (contents.integers != NULL && contents.addresses != NULL) {
        contents.types = calloc((size_t)contents.n_types + 1, sizeof(*contents.types));
    }
    if (contents.types == NULL) {
        contents_fini(&contents);
        return -ENOMEM;
    }
    shim_real.Type_get_contents(handle, contents.n_integers, contents.n_addresses,
                                contents.n_types, contents.integers, contents.addresses,
                                contents.types);
    *contents_out = contents;
    return 0;
}

/** Where the bytes of a named type are, found by packing one. */
static int list_named(MPI_Datatype handle, struct bcs_layout_list *list)
{
    unsigned char memory[NAMED_TYPE_MAX_BYTES], packed[NAMED_TYPE_MAX_BYTES];
    struct shim_datatype type;

    shim_datatype_measure(handle, &type);
    if (type.size == 0) {
        return 0; /* also the markers of MPI-1 */
    }
    if (type.true_lb != 0 || type.true_extent > NAMED_TYPE_MAX_BYTES) {
        return -EINVAL;
    }
    for (size_t i = 0; i < sizeof(memory); i++) {
        memory[i] = (unsigned char)i;
    }
    if (shim_pack_element(memory, handle, type.size, packed) != 0) {
        return -EINVAL;
    }
    for (size_t i = 0; i < type.size; i++) {
        bcs_layout_add_block(list, packed[i], 1);
    }
    return 0;
}

/** count blocks of n inner elements each; block i is at displacement i * stride. */
static void list_vector(struct bcs_layout_list *list, struct bcs_layout_list *bodies,
                        struct inner *inner, int count, int n, ptrdiff_t stride)
{
    const struct bcs_layout_places in_block = {0, inner->extent, (size_t)n};
    const struct bcs_layout_places blocks = {0, stride, (size_t)count};
    struct bcs_layout_list block = {0};

    bcs_layout_add_copies(&block, bodies, &inner->list, &in_block);
    bcs_layout_add_copies(list, bodies, &block, &blocks);
    bcs_layout_list_fini(&block);
}

/** n inner elements from a displacement on. */
static void list_block(struct bcs_layout_list *list, struct bcs_layout_list *bodies,
                       struct inner *inner, ptrdiff_t displacement, int n)
{
    const struct bcs_layout_places places = {displacement, inner->extent, (size_t)n};

    bcs_layout_add_copies(list, bodies, &inner->list, &places);
}

/** The indexed types: a list of displacements, in elements or bytes, and one length for
 *  all blocks or a list of them. */
static void list_indexed(struct bcs_layout_list *list, struct bcs_layout_list *bodies,
                         struct inner *inner, const struct contents *contents)
{
    bool has_one_length = contents->combiner == MPI_COMBINER_INDEXED_BLOCK ||
                          contents->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    int count = contents->integers[0];
    const int *lengths = &contents->integers[1];
    const int *displacements = lengths + (has_one_length ? 1 : count);

    for (int i = 0; i < count; i++) {
        ptrdiff_t displacement = contents->n_addresses > 0
                                     ? (ptrdiff_t)contents->addresses[i]
                                     : displacements[i] * inner->extent;

        list_block(list, bodies, inner, displacement,
                   has_one_length ? *lengths : lengths[i]);
    }
}

/** The part of one dimension of a global array that a process owns: blocks of a length,
 *  one in each period. */
struct dimension {
    int64_t size;
    int64_t start;
    int64_t length;
    int64_t period;
};

/** Put the owned slices of a dimension into a list. */
static void list_dimension(struct bcs_layout_list *list, struct bcs_layout_list *bodies,
                           struct inner *slice, const struct dimension *dimension)
{
    for (int64_t at = dimension->start; at < dimension->size; at += dimension->period) {
        int64_t left = dimension->size - at;

        list_block(list, bodies, slice, (ptrdiff_t)at * slice->extent,
                   (int)(left < dimension->length ? left : dimension->length));
    }
}

/** A part of an array: from the dimension that varies fastest to the slowest one. */
static void list_array(struct bcs_layout_list *list, struct bcs_layout_list *bodies,
                       struct inner *element, const struct dimension *dimensions,
                       const struct contents *contents)
{
    bool is_subarray = contents->combiner == MPI_COMBINER_SUBARRAY;
    int n = is_subarray ? contents->integers[0] : contents->integers[2];
    bool is_c_order = contents->integers[contents->n_integers - 1] == MPI_ORDER_C;
    struct inner slice = *element; /* the list stays the element's */

    for (int i = 0; i < n; i++) {
        const struct dimension *dimension = &dimensions[is_c_order ? n - 1 - i : i];
        struct bcs_layout_list slices = {0};

        list_dimension(&slices, bodies, &slice, dimension);
        if (i > 0) {
            bcs_layout_list_fini(&slice.list);
        }
        slice.list = slices;
        slice.extent *= dimension->size;
    }
    if (n > 0) { /* Open MPI takes an array without dimensions; it has no data */
        *list = slice.list;
    }
}

static void list_subarray(struct bcs_layout_list *list, struct bcs_layout_list *bodies,
                          struct inner *element, const struct contents *contents,
                          struct dimension *dimensions)
{
    int n = contents->integers[0];
    const int *sizes = contents->integers + 1;

    for (int i = 0; i < n; i++) {
        dimensions[i] = (struct dimension){
            .size = sizes[i],
            .length = sizes[n + i],
            .start = sizes[2 * n + i],
            .period = sizes[i], /* one block only */
        };
    }
    list_array(list, bodies, element, dimensions, contents);
}

/** The part of a dimension of size elements that process index of n_processes owns. */
static struct dimension distribute(int64_t size, int distribution, int argument,
                                   int64_t n_processes, int64_t index)
{
    struct dimension dimension = {.size = size, .length = size, .period = size};

    if (distribution == MPI_DISTRIBUTE_NONE) {
        return dimension;
    }
    if (argument != MPI_DISTRIBUTE_DFLT_DARG) {
        dimension.length = argument;
    } else if (distribution == MPI_DISTRIBUTE_CYCLIC) {
        dimension.length = 1;
    } else {
        dimension.length = (size + n_processes - 1) / n_processes;
    }
    dimension.start = index * dimension.length;
    if (distribution == MPI_DISTRIBUTE_CYCLIC) {
        dimension.period = n_processes * dimension.length;
    }
    return dimension;
}

static void list_darray(struct bcs_layout_list *list, struct bcs_layout_list *bodies,
                        struct inner *element, const struct contents *contents,
                        struct dimension *dimensions)
{
    int rank = contents->integers[1];
    int n = contents->integers[2];
    const int *sizes = contents->integers + 3;

    for (int i = n - 1; i >= 0; i--) { /* the process grid is always in C order */
        int n_processes = sizes[3 * n + i];

        dimensions[i] = distribute(sizes[i], sizes[n + i], sizes[2 * n + i],
                                   n_processes, rank % n_processes);
        rank /= n_processes;
    }
    list_array(list, bodies, element, dimensions, contents);
}

static int list_type(MPI_Datatype handle, struct bcs_layout_list *list,
                     struct bcs_layout_list *bodies);

/** Take in one of the types that another is made of. */
static int inner_init(struct inner *inner_out, MPI_Datatype handle,
                      struct bcs_layout_list *bodies)
{
    struct shim_datatype type;

    shim_datatype_measure(handle, &type);
    *inner_out = (struct inner){.extent = type.extent};
    return list_type(handle, &inner_out->list, bodies);
}

static int list_struct(struct bcs_layout_list *list, struct bcs_layout_list *bodies,
                       const struct contents *contents)
{
    const MPI_Datatype *types = contents->types;
    struct inner inner = {0};
    int status = 0;

    for (int i = 0; status == 0 && i < contents->integers[0]; i++) {
        if (i == 0 || types[i] != types[i - 1]) {
            bcs_layout_list_fini(&inner.list);
            status = inner_init(&inner, types[i], bodies);
        }
        list_block(list, bodies, &inner, (ptrdiff_t)contents->addresses[i],
                   contents->integers[1 + i]);
    }
    bcs_layout_list_fini(&inner.list);
    return status;
}

/** Types that are made of one other. @return 0 or -EINVAL: made in an unknown way */
static int list_made_of(struct inner *inner, const struct contents *contents,
                        struct bcs_layout_list *list, struct bcs_layout_list *bodies,
                        struct dimension *dimensions)
{
    const int *integers = contents->integers;

    switch (contents->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        *list = inner->list;
        inner->list = (struct bcs_layout_list){0};
        return 0;
    case MPI_COMBINER_CONTIGUOUS:
        list_block(list, bodies, inner, 0, integers[0]);
        return 0;
    case MPI_COMBINER_VECTOR:
        list_vector(list, bodies, inner, integers[0], integers[1],
                    integers[2] * inner->extent);
        return 0;
    case MPI_COMBINER_HVECTOR:
        list_vector(list, bodies, inner, integers[0], integers[1],
                    (ptrdiff_t)contents->addresses[0]);
        return 0;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        list_indexed(list, bodies, inner, contents);
        return 0;
    case MPI_COMBINER_SUBARRAY:
        list_subarray(list, bodies, inner, contents, dimensions);
        return 0;
    case MPI_COMBINER_DARRAY:
        list_darray(list, bodies, inner, contents, dimensions);
        return 0;
    default:
        bcs_error("a datatype is made in a way that is not known here: MPI combiner %d",
                  contents->combiner);
        return -EINVAL;
    }
}

/** Add the parts of one element of a type. @return 0 or -errno */
static int list_type(MPI_Datatype handle, struct bcs_layout_list *list,
                     struct bcs_layout_list *bodies)
{
    struct dimension *dimensions = NULL;
    struct contents contents;
    struct inner inner = {0};
    int status = contents_get(handle, &contents);

    if (status != 0) {
        return status;
    }
    if (is_named(contents.combiner)) {
        return list_named(handle, list);
    }
    if (contents.combiner == MPI_COMBINER_STRUCT) {
        status = list_struct(list, bodies, &contents);
    } else {
        dimensions = calloc((size_t)contents.n_integers + 1, sizeof(*dimensions));
        status = dimensions == NULL ? -ENOMEM
                                    : inner_init(&inner, contents.types[0], bodies);
        if (status == 0) {
            status = list_made_of(&inner, &contents, list, bodies, dimensions);
        }
        free(dimensions);
        bcs_layout_list_fini(&inner.list);
    }
    contents_fini(&contents);
    return status;
}

int shim_datatype_layout(const struct shim_datatype *type,
                         struct bcs_layout **layout_out)
{
    struct bcs_layout_list list = {0}, bodies = {0};
    int status = list_type(type->handle, &list, &bodies);

    if (status == 0 && list.size != type->size && !list.is_too_large) {
        bcs_error("a datatype of %zu bytes seems to have %zu", type->size, list.size);
        status = -EINVAL;
    }
    if (status == 0) {
        *layout_out = bcs_layout_make(&bodies, &list, type->extent);
        status = *layout_out == NULL ? -ENOMEM : 0;
    }
    bcs_layout_list_fini(&list);
    bcs_layout_list_fini(&bodies);
    return status;
}
