/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sizes of everything that can become full or empty: rings, batches, tables,
 * blocks. One table of them, which builds with tests can set (BCS_LIMITS), so that what
 * overflows in real life overflows in a test. Read with the rest of the configuration,
 * in every process the same, and kept there: in NIC memory's shape for the engine and
 * the ports, in a job's layout for cBSP.
 */
#ifndef LIBBCS_FABRIC_BASE_LIMITS_H
#define LIBBCS_FABRIC_BASE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The most that a size can be, where an array or an address range is made for it. */
enum {
    BCS_RING_MOST = 256,
    BCS_LINK_MOST = 256,
    BCS_BATCH_MOST = 64,
    BCS_RETURNED_MOST = 256,
    BCS_STREAM_PIECES_MOST = 4,
    BCS_NEAR_MOST = 16,
    BCS_CBSP_SETS_MOST = 4,
    BCS_CBSP_CHILDREN_MOST = 8,
};

/** Sizes in use; see bcs_limits in limits.c for what each of them is. The first ones
 *  are read for each message. */
struct bcs_limits {
    uint32_t ring;
    uint32_t link;
    uint32_t batch;
    uint32_t arrivals;
    uint32_t chunks;
    uint32_t collectives;
    uint32_t wire;
    uint32_t landing;
    uint32_t stage_blocks;
    uint32_t blocks;
    uint32_t stream_blocks;
    uint32_t stream_pieces;
    uint32_t returned;
    uint32_t orders;
    uint32_t window;
    uint32_t whole;
    uint32_t views;
    uint32_t kept_sends;
    uint32_t requests;
    uint32_t plans;
    uint32_t tree;
    uint32_t near;
    uint32_t whole_bytes;
    uint32_t share_bytes;
    uint32_t cbsp_sets;
    uint32_t cbsp_children;
    uint32_t cbsp_buffer;
};

/** One of the sizes; its field is a uint32_t. */
struct bcs_limit {
    const char *name;
    size_t offset;
    uint32_t usual, least, most;
    bool is_power; /* of two */
    bool is_bound; /* on what a program may do: "least" leaves it alone */
    const char *help;
};

extern const struct bcs_limit bcs_limits[];
extern const size_t bcs_n_limits;

/** The usual sizes. */
struct bcs_limits bcs_limits_usual(void);

/**
 * Read sizes from a text: words with commas between them. "usual" and "least" set all,
 * name=number sets one.
 *
 * @param bad_out  where the first word begins that is none of these
 * @return whether there was no such word; else limits_out is untouched
 */
bool bcs_limits_parse(const char *text, struct bcs_limits *limits_out,
                      const char **bad_out);

/** What the word that begins at `bad` could have been, as one text. */
void bcs_limits_allowed(const char *bad, char *text_out, size_t n_text_bytes);

#endif
