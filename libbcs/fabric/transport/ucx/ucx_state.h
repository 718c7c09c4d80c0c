/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of transport "ucx" in a process. All that is below a worker's mutex is
 * changed under it, by any thread of the process, and so is every call of UCX made.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_UCX_UCX_STATE_H
#define LIBBCS_FABRIC_TRANSPORT_UCX_UCX_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libbcs/fabric/transport/transport.h"
#include "libbcs/fabric/transport/ucx/ucp_library.h"
#include "libbcs/fabric/transport/ucx/ucx_wire.h"

enum {
    UCX_AM_ID = 0xbc,
    UCX_MOST_RECORDS = 256, /* messages that UCX has not sent yet */
    UCX_STREAM_LISTS = 64,
};

/** Where messages to a node go: the process that has made its heap. */
struct ucx_peer {
    ucp_ep_h endpoint;      /* NULL: nothing has gone there */
    uint64_t n_sent;        /* numbered messages; the last one's number */
    uint64_t n_fenced;      /* the number of the last one that will be answered */
    uint64_t n_known;       /* all up to this number have taken effect */
    bool is_dead;           /* or its node is broken */
    bool is_told;           /* that it is, in the log */
    const char *why;        /* it is; static */
    uint32_t machine;       /* its first node, whose process is the holder */
    uint32_t end;           /* of the machine's nodes */
    ucp_address_t *address; /* allocated */
};

/** A thread that waits for an answer. */
struct ucx_question {
    bool is_answered;
    int64_t answer;
};

/** A message of this process that UCX has, or whose answer has not come. */
struct ucx_record {
    struct ucx_record *next; /* of those that are free, or that wait for answers */
    struct ucx_worker *worker;
    struct ucx_peer *peer;    /* NULL: an answer */
    struct ucx_handle *asker; /* who hears of an error and gets the local event, or */
    struct ucx_question *question; /* who waits; both NULL: nobody */
    uint64_t local_event_gva;
    struct ucx_head head;
    const void *data;
    size_t n_bytes;
    void *room; /* allocated for the data; NULL: they are elsewhere */
    bool is_sent, is_waiting;
    uint8_t bytes[BCS_XFER_COPIED_BYTES];
};

/** A message that has come before its turn: a numbered one, or, where UCX has handed it
 *  over within another call, one of any kind. */
struct ucx_arrival {
    struct ucx_arrival *next; /* by number, or as they have come */
    struct ucx_head head;
    ucp_ep_h reply;
    size_t n_bytes;
    uint8_t data[];
};

/** What one process sends to this one. */
struct ucx_stream {
    struct ucx_stream *next; /* in its list */
    uint64_t sender;
    uint64_t n_done; /* all up to this number have taken effect */
    int error;       /* of one that nobody has been told of; 0: none */
    bool is_asking;  /* the next one is an operation under way */
    struct ucx_arrival *held;
};

/** A process that holds nodes for an operation, as the sequencer sees it. */
struct ucx_holder {
    uint32_t node;
    bool is_awaited, is_locked;
};

/** An operation at the sequencer. */
struct ucx_job {
    struct ucx_job *next;
    struct ucx_stream *stream;
    struct ucx_head asked; /* the head of what asked for it */
    ucp_ep_h reply;
    struct ucx_operation *operation; /* allocated */
    size_t n_bytes;
    uint64_t ticket;
    enum ucx_kind phase; /* what was sent to the holders last; 0: nothing */
    int64_t result;
    uint32_t n_holders, n_awaited;
    struct ucx_holder *holders; /* allocated */
};

/** A LOCK that has come. */
struct ucx_claim {
    struct ucx_claim *next;
    uint64_t ticket;
    size_t n_bytes;
    struct ucx_operation *operation; /* allocated */
    struct bcs_node_set set;         /* its near nodes, while they are held */
    uint64_t *marks;                 /* of the set; allocated */
};

/** A process's access to the network. */
struct ucx_worker {
    struct ucp_library ucp[1];
    struct ucx_memory *memory;
    struct bcs_transport *near; /* carries out what comes */
    ucp_context_h context;
    ucp_worker_h worker;
    int event_fd; /* UCX's: readable when something has come since it was armed */
    int kick_fd;  /* an eventfd, for the thread */
    pthread_t thread;
    bool has_thread;
    /* Relaxed: a hint of who else progresses, for the thread. */
    _Atomic uint32_t n_polls;
    /* seq_cst, partners in ucx_worker.c: whether the thread leaves it to others. */
    _Atomic bool is_resting;
    _Atomic bool is_ending;
    pthread_mutex_t mutex; /* of all below */
    uint64_t name;
    struct ucx_peer *peers; /* [n_nodes] */
    bool has_death;         /* a peer has died since ucx_deaths_take */
    struct ucx_record *free_records, *waiting_records;
    uint32_t n_unsent;
    bool is_within; /* a call of UCX, or what it has handed over */
    struct ucx_arrival *deferred, **deferred_end;
    struct ucx_stream *streams[UCX_STREAM_LISTS];
    bool must_drain; /* a stream that was held up may go on */
    /* What the thread that progresses looks at itself: */
    uint32_t looked_node;
    uint64_t looked_gva, n_looked_bytes; /* 0: nothing */
    struct ucx_job *jobs;                /* the first is under way */
    uint64_t n_tickets;
    struct ucx_claim *claims; /* the first holds its nodes, if is_holding */
    bool is_holding;
};

/** Memory of transport "ucx". */
struct ucx_memory {
    struct bcs_memory base;    /* first */
    struct bcs_memory *shm;    /* the near heaps, by transport shm; same windows */
    struct ucx_worker *worker; /* NULL: all nodes are near */
};

/** What a handle has sent to a peer. */
struct ucx_lane {
    struct ucx_peer *peer;
    uint64_t number;     /* of the last message */
    bool is_for_several; /* one of them was an operation of several nodes */
};

/** An open transport, as one node. */
struct ucx_handle {
    struct bcs_transport base; /* first */
    struct ucx_memory *memory;
    struct ucx_worker *worker;
    struct bcs_transport *shm;
    uint32_t node;
    /* To be returned by the next call; 0: none. Relaxed: it says nothing of data. */
    _Atomic int late_error;
    /* Under the worker's mutex: */
    bool is_by_node;        /* bcs_core_order_by_node */
    struct ucx_lane *lanes; /* where messages have gone that may not be there yet: one,
                               unless it orders by node */
    uint32_t n_lanes, n_most_lanes;
};

#endif
