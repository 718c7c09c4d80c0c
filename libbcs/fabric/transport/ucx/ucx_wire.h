/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes over the network: a head, as the header of an active message, and data.
 * Between processes of one job, which have the same version on machines of one kind, so
 * that structs go as they are.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_UCX_UCX_WIRE_H
#define LIBBCS_FABRIC_TRANSPORT_UCX_UCX_WIRE_H

#include <stdint.h>

enum ucx_kind {
    /* Carried out in the order in which their sender has numbered them. */
    UCX_PUT,   /* data and events to one node */
    UCX_FENCE, /* nothing: it is answered when all before it has taken effect */
    UCX_ASK,   /* an operation of several nodes, to the sequencer */
    UCX_N_NUMBERED,
    /* Carried out when they arrive; see ucx_group.h. */
    UCX_ANSWER = UCX_N_NUMBERED, /* to a PUT, FENCE or ASK that has a token */
    UCX_LOCK,                    /* the sequencer to the holders, with the operation */
    UCX_LOCKED,                  /* the holders' answers */
    UCX_COMMIT,
    UCX_COMMITTED,
    UCX_RELEASE,
    UCX_RELEASED,
};

/** The head of a message. What a kind does not use is 0. */
struct ucx_head {
    uint64_t sender;    /* the worker's name */
    uint64_t number;    /* of the numbered ones of this sender to this receiver */
    uint64_t token;     /* PUT, FENCE, ASK: comes back with the answer; 0: none */
    uint64_t gva;       /* PUT: where the data go */
    uint64_t event_gva; /* PUT: of the node; 0: none */
    uint64_t ticket;    /* of an operation of several nodes */
    int64_t result;     /* of an answer: 0, 1: a comparison is true, or -errno */
    uint32_t kind;
    uint32_t node; /* PUT: to which; answers of holders: who says it */
};

/** An operation of several nodes: a transfer, or a Compare-And-Write. The words of the
 *  marks follow it, if there are any, then the data. */
struct ucx_operation {
    uint64_t gva, n_bytes; /* data; n_bytes 0: none */
    uint64_t event_gva;    /* of each node; 0: none */
    uint64_t variable_gva; /* compared; 0: it is a transfer */
    uint64_t value;
    uint64_t write_gva, write_value; /* if all compare true; 0: nothing */
    uint32_t op;
    uint32_t first, n_nodes; /* the set */
    uint32_t n_words;        /* of its marks; 0: it has none */
    uint64_t marks[];
};

#endif
