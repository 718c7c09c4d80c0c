/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The BCS API: table 4.1 of the BCS-MPI paper, for programs without MPI. The MPI
 * library of this project stands on the same calls. Link with libbcs.so (pkg-config
 * bcs).
 *
 * Processes. A program calls bcs_init once, then anything else, then bcs_finalize.
 * Started by mpirun or another PMIx launcher, its processes are one job; started alone,
 * it is a job of one process. The processes of a job are on nodes, each of which has
 * one NIC engine; where they are changes no result. All settings are BCS_* environment
 * variables.
 *
 * How it runs. A call posts a descriptor to the NIC engine, which matches and carries
 * out the descriptors of all processes in time slices. A blocking call then waits; a
 * non-blocking one returns and leaves a request, which bcs_test or bcs_testall
 * completes. Blocking or not is an argument: of bcs_probe and the tests, wait; of all
 * others, whether a request is given. [BCS-MPI sections 3 and 4, table 4.2]
 *
 * Data are bytes: lengths are in bytes, messages must not be larger than memory, and a
 * zero-length message is one, too. Buffers of a call without a request are the caller's
 * again when it returns; those of a request when it is done. Descriptions (struct
 * bcs_message, bcs_part, bcs_blocks, bcs_reduction and the arrays in them) are read by
 * the call only and may be reused when it returns. Clear what of them is not set: zero
 * is the default, now and of what a later version makes of reserved members; else those
 * are undefined.
 *
 * Versions. Contexts and groups are the library's, and opaque; a request is the
 * caller's, with room for the library. Sizes and offsets of structs, values of
 * constants, and prototypes stay as they are within a minor version (from 1.0 on,
 * within a major one), which the library's name has in it. What does not fit into
 * reserved members gets a function of its own.
 *
 * Threads. A context and all that belongs to it is used by one thread at a time. It is
 * of no use to a child that the process forks: one that calls anything with it is
 * ended, with a message, and the job goes on.
 *
 * Costs are given for a group of p members and n bytes. A *message* is one descriptor,
 * from the ring of its sender to the engine of its receiver's node, where it is
 * matched. Up to 80 bytes go with the descriptor; more, up to BCS_EAGER_LIMIT, by a
 * block, which the sender copies them to and the receiver from. Longer data are copied
 * once, by sender, receiver or both, where the system lets a process reach the other's
 * memory, and else twice, through blocks. To another node descriptors and blocks are
 * put (Xfer-And-Signal), once each. For each chunk of long data, and each block between
 * nodes, the end that has copied it posts one more descriptor. These are carried out in
 * slices, a message in one, long data in as many as they have chunks (BCS_CHUNK, and at
 * most 64 KB between nodes). Within a node a slice costs no transfer; one in which
 * anything crosses nodes takes a put to the first node, and then for each of three to
 * six microphases a put to all nodes and queries (Compare-And-Write) of all nodes,
 * however much it carries. With strobes on demand, slices are run by processes that
 * wait, test or post, so any call of them may do some of the work of others, a slice at
 * most at a time. What is not mentioned takes constant local work, and no memory but
 * what is left from before.
 *
 * Return values. 0 is success. Positive values are the named conditions of
 * <bcs/status.h> that a function lists. Negative values are -errno: after -EINVAL (an
 * argument is wrong; logged) and -ENOMEM (out of memory, or more operations pending
 * than BCS_DESCRIPTORS) nothing was done; after any other the job cannot go on. A
 * process that ends without bcs_finalize makes the launcher end the others.
 */
#ifndef BCS_BCS_H
#define BCS_BCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcs/public.h>
#include <bcs/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------ the job and groups */

/** One process's attachment to its job. */
struct bcs_context;

/** Some processes of the job, numbered from 0: their ranks. */
struct bcs_group;

/**
 * Attach this process to its job. Collective: every process of the job calls it, once
 * in its life. [BCS-MPI section 4.1]
 *
 * The environment alone says how the job runs, as it is at this call. BCS_* are the
 * settings: bcs-info lists them, and all processes should have the same. PMIX_NAMESPACE
 * says that a launcher with PMIx has started the process; else it is alone.
 * PMIX_SERVER_TMPDIR is where processes see that an error has been printed already.
 *
 * Cost: a few allgathers and fences by the launcher, with less than 1 KB of each
 * process; about 1 MB of address space for each process of the job, and more as its
 * memory is used.
 *
 * @param context_out  the attachment, of the library; end it with bcs_finalize
 * @return 0           attached
 * @return -EINVAL a BCS_ variable is unknown or has a bad value, the processes have
 *                     different ones, or there are more processes than these allow;
 *                     logged
 * @return -E2BIG      more processes than BCS_COMMUNICATORS allows; logged
 * @return -EALREADY   this process has called it before; logged
 * @return -ELIBACC    started by a launcher, but libpmix.so.2 cannot be loaded; logged
 * @return -EIO        the launcher's PMIx does not answer as it should; logged
 * @return -ENOTSUP    no transport reaches all processes of the job; logged
 * @return -EPERM      BCS_COPY=direct, but the system forbids it; logged
 * @return <0          -ENOMEM, or another -errno of the system
 */
BCS_PUBLIC int bcs_init(struct bcs_context **context_out);

/**
 * Detach from the job and free the context with all its groups. Collective: waits until
 * every process calls it. All requests must be done before. Cost: a bcs_barrier of all.
 *
 * @return 0                detached; also if context is NULL
 * @return BCS_E_DISAGREED  another process has called something else; detached as well
 * @return <0               as bcs_barrier; detached as well
 */
BCS_PUBLIC int bcs_finalize(struct bcs_context *context);

/** The group of all processes of the job, ranked as the launcher has numbered them. It
 *  belongs to the context, as all groups do: bcs_finalize frees it. */
BCS_PUBLIC struct bcs_group *bcs_world(const struct bcs_context *context);

/** This process's rank in a group that it is a member of. */
BCS_PUBLIC int32_t bcs_group_rank(const struct bcs_group *group);

/** Number of members. */
BCS_PUBLIC int32_t bcs_group_size(const struct bcs_group *group);

/**
 * Make a group of some processes of the job. Collective over the whole job: members and
 * others call it with the same list, in the same order of calls; it does not wait. A
 * group's messages never match those of another group, even one of the same processes.
 * Cost: no message; n_ranks * n_ranks / 2 comparisons; 4 bytes of memory for each
 * member.
 *
 * @param ranks      [n_ranks] ranks in bcs_world, each at most once; the i-th one is
 *                   rank i of the new group
 * @param group_out  the group, which belongs to the context; NULL: not a member
 * @return 0         made
 * @return -EINVAL   an empty list, no such rank, or one twice; logged
 * @return -ENOSPC the job has made BCS_COMMUNICATORS groups for each of its processes;
 *                   logged
 * @return -ENOMEM here; others may have made it, so that no group can be made any more
 */
BCS_PUBLIC int bcs_group_create(struct bcs_context *context, const int32_t ranks[],
                                int32_t n_ranks, struct bcs_group **group_out);

/* ----------------------------------------------------------------- point to point */

/** bcs_message.peer of a receive or probe: any member. */
#define BCS_ANY_SOURCE (-1)

/** bcs_message.tag of a receive or probe: any tag. */
#define BCS_ANY_TAG (-1)

/** One message, as its sender or its receiver describes it. Clear what is not set. */
struct bcs_message {
    const struct bcs_group *group;
    void *data;     /* send: only read */
    size_t n_bytes; /* send: length; receive: room */
    int32_t peer;   /* rank in the group; receive, probe: or BCS_ANY_SOURCE */
    int32_t tag;    /* 0 or more; receive, probe: or BCS_ANY_TAG */
    /* A hint: the caller will do nothing else until this is done, so that it may take
     * its part of the copying of a long message. Otherwise the receiver copies. */
    bool will_wait;
    uint8_t reserved[7]; /* clear, as is reserved_pointer */
    const void *reserved_pointer;
};

/** What a receive, or a probe, has come to. */
struct bcs_result {
    int32_t source; /* rank in the group; a send: BCS_ANY_SOURCE */
    int32_t tag;
    size_t n_bytes; /* that arrived in the buffer; probe: of the whole message */
    int error;      /* 0, BCS_E_TRUNCATED, or of collectives what their call can give */
    uint32_t reserved; /* has no meaning */
};

/**
 * One non-blocking operation. The caller allocates it, and must neither move, copy nor
 * free it before it is done; then it may be used again. result may be read when
 * bcs_test or bcs_testall has said that it is done; all else is the library's. A
 * request that has never been used need not be initialized; one that stands for no
 * operation is BCS_REQUEST_DONE.
 */
struct bcs_request {
    struct bcs_result result;
    uint64_t reserved[7];
};

/** Initializer of a request that stands for no operation: bcs_testall skips it. All
 *  zero, so that a cleared array holds nothing else. */
#define BCS_REQUEST_DONE                                                               \
    {                                                                                  \
        {0, 0, 0, 0, 0},                                                               \
        {                                                                              \
            0, 0, 0, 0, 0, 0, 0                                                        \
        }                                                                              \
    }

/**
 * When a send is done; in the order of what they wait for. A program uses standard
 * sends, which BCS_BUFFERING=none makes synchronous (it finds the programs that rely on
 * buffering), and buffered ones where it must not depend on that variable.
 */
enum bcs_send_mode {
    BCS_SEND_BUFFERED,    /* when its buffer may be reused, whatever BCS_BUFFERING is */
    BCS_SEND_STANDARD,    /* BCS_BUFFERING=eager: as buffered; none: as synchronous */
    BCS_SEND_SYNCHRONOUS, /* when a receive has got its data, too */
};

/**
 * Send a message to message->peer; to oneself, too. Messages to the same peer in the
 * same group are received in the order of their sends. Short ones are copied, so a
 * buffered send, or a standard one with BCS_BUFFERING=eager, of up to BCS_EAGER_LIMIT
 * bytes does not wait for the receiver as long as there is room; a longer one waits in
 * any mode. [BCS-MPI table 4.1, section 4.3]
 *
 * Cost: one message; local, a copy of up to BCS_EAGER_LIMIT bytes. A send that is not
 * done then waits, or leaves a request, until the slice in which it is matched, or in
 * which the last of its bytes have gone.
 *
 * @param request  NULL: block until the send is done; else start it, and complete the
 *                 request with bcs_test or bcs_testall
 * @return 0        done, or started
 * @return -EINVAL  no such peer, or a negative tag; logged
 * @return -ENOMEM  see the top; nothing was sent
 */
BCS_PUBLIC int bcs_send(struct bcs_context *context, const struct bcs_message *message,
                        enum bcs_send_mode mode, struct bcs_request *request);

/**
 * Receive the first message that fits message->peer and ->tag. If it is longer than
 * message->n_bytes, the rest is dropped. [BCS-MPI table 4.1, section 4.3]
 *
 * Cost: one descriptor, which the engine compares with the messages that wait for this
 * process: with those in one of 16 lists, by group and source, or, for BCS_ANY_SOURCE,
 * with all. Receives that wait are looked up by a message in the same way.
 *
 * @param result_out  what was received, or NULL; not used with a request
 * @param request     NULL: block; else start the receive
 * @return 0                received, or started
 * @return BCS_E_TRUNCATED  received; the message was longer than the buffer
 * @return -EINVAL          no such peer, or a bad tag; logged
 * @return -ENOMEM          see the top; nothing was received
 */
BCS_PUBLIC int bcs_recv(struct bcs_context *context, const struct bcs_message *message,
                        struct bcs_result *result_out, struct bcs_request *request);

/**
 * Look for a message that bcs_recv with the same description would receive, and leave
 * it where it is. data and n_bytes of the description are not used. [BCS-MPI table 4.1]
 *
 * Without wait it answers from what slices have taken so far, and waits for none,
 * unless a receive that this process has posted, and that has not been carried out, may
 * take one of those messages. A message that has been sent is found in the end, also by
 * a loop that does nothing else.
 *
 * Cost: a look at the messages that wait, as of bcs_recv, without a descriptor; if none
 * is found, a turn of the engine and another look. With wait, a descriptor, which the
 * engine answers when a message comes.
 *
 * @param wait        block until there is one
 * @param result_out  its source, tag and length, if there is one
 * @return 0              there is one
 * @return BCS_E_PENDING  none is known; never with wait
 * @return -EINVAL        no such peer, or a bad tag; logged
 * @return -ENOMEM        see the top
 */
BCS_PUBLIC int bcs_probe(struct bcs_context *context, const struct bcs_message *message,
                         bool wait, struct bcs_result *result_out);

/**
 * Whether a request is done. Does this process's part of all pending operations, so
 * that polling makes progress; without wait it waits for no slice. [BCS-MPI table 4.1]
 *
 * Cost: a look at one word of this process's own memory; if it is not done, a turn of
 * the engine, and what this process has to do for its own transfers and collectives.
 * With wait, a process polls for BCS_SPIN, and then sleeps until it is woken.
 *
 * @param wait  block until it is
 * @return 0                done
 * @return BCS_E_TRUNCATED  done; the message received was longer than the buffer
 * @return BCS_E_PENDING    not done; never with wait
 * @return else             done; of a collective, what its call can give
 */
BCS_PUBLIC int bcs_test(struct bcs_context *context, struct bcs_request *request,
                        bool wait);

/**
 * Whether all requests of an array are done; see bcs_test. [BCS-MPI table 4.1] Cost: as
 * bcs_test, with a look at all of them in each turn.
 *
 * @param requests  [n_requests]
 * @param wait      block until they are
 * @return 0                all are done
 * @return BCS_E_PENDING    some are not; never with wait
 * @return else             all are done; the first result.error that is not 0
 */
BCS_PUBLIC int bcs_testall(struct bcs_context *context, struct bcs_request requests[],
                           size_t n_requests, bool wait);

/* -------------------------------------------------------------------- collectives
 *
 * Every member of the group calls with matching arguments, blocking or non-blocking as
 * the others do, the collectives of a group in the same order. Without a request they
 * block until this member's part is done; with one they start it. Only bcs_barrier,
 * bcs_reduce to all, bcs_allgather and bcs_alltoall are certain to be done after all
 * members have begun. Those that have been started go on in any order, side by side,
 * whenever the process tests or waits for anything.
 *
 * Costs. Each lists the messages of all members together, of which those without data
 * are not sent, and how many steps depend on each other; each step is a slice or more.
 * "By the engine" means one descriptor of each member, and one slice after the last has
 * come; over nodes, one put of each part that is needed to the first member's node, a
 * query of all nodes, and one put of the result to all; where processes of one node
 * match by themselves, among up to 16 members, one line of memory of each, which all
 * others read. That is for blocking calls with up to 80 bytes. With BCS_STROBE=timed,
 * where a step is dear, a barrier, a reduction for all, a scan or an allgather that is
 * not by the engine goes in one step among up to 16 members with up to 4 KB each: all
 * send to all, p (p - 1) messages in place of what is listed. Those that are not by the
 * engine take some 100 bytes for each message under way, kept for the next ones.
 *
 * Beside what is listed, all return -EINVAL (no such root; logged) and -ENOMEM, and,
 * where the members' arguments do not match, which is logged and leaves the data
 * undefined, BCS_E_TRUNCATED, if some have more or less data than others expect, or
 * BCS_E_DISAGREED, if they are in different collectives, or with other operations,
 * types or roots. With a request, its result.error tells these, and the other members
 * of result say nothing. Not all that does not match is found: some of it lets members
 * wait for ever. */

/** Blocks, one of each member; without displacements, packed one after the other. */
struct bcs_blocks {
    void *data;
    const size_t *n_bytes;       /* vectorial: [size]; NULL: all have block_bytes */
    const size_t *displacements; /* [size] offsets from data, in bytes; or NULL */
    size_t block_bytes;          /* non-vectorial; used if n_bytes is NULL */
};

/** One member's own block. */
struct bcs_part {
    void *data; /* gather: only read */
    size_t n_bytes;
};

/** Done when every member has called it. [BCS-MPI table 4.1, section 4.4] Cost: by the
 *  engine; with a request, 2 (p - 1) messages without data, up and down a tree of 32
 *  children each. */
BCS_PUBLIC int bcs_barrier(struct bcs_context *context, struct bcs_group *group,
                           struct bcs_request *request);

/** Broadcast: every member gets the root's n_bytes, the same number on all members.
 *  [BCS-MPI table 4.1, section 4.4] Cost: p - 1 messages of n bytes, down a tree of 32
 *  children each; over several nodes, up to 80 bytes go by the engine. A blocking one
 *  of no bytes is nothing. */
BCS_PUBLIC int bcs_bcast(struct bcs_context *context, struct bcs_group *group,
                         void *data, size_t n_bytes, int32_t root,
                         struct bcs_request *request);

/** Predefined operations. The logical and bitwise ones are for integers only, the
 *  complex types have sum and product only; logical results are 0 or 1. */
enum bcs_op {
    BCS_OP_COMBINE, /* the caller's own function */
    BCS_SUM,
    BCS_PROD,
    BCS_MIN,
    BCS_MAX,
    BCS_LAND,
    BCS_LOR,
    BCS_LXOR,
    BCS_BAND,
    BCS_BOR,
    BCS_BXOR,
};

/** Types of elements for the predefined operations. */
enum bcs_type {
    BCS_INT8,
    BCS_UINT8,
    BCS_INT16,
    BCS_UINT16,
    BCS_INT32,
    BCS_UINT32,
    BCS_INT64,
    BCS_UINT64,
    BCS_FLOAT,
    BCS_DOUBLE,
    BCS_LONG_DOUBLE,
    BCS_FLOAT_COMPLEX,
    BCS_DOUBLE_COMPLEX,
};

/** right = left OP right over count elements, associative; left is of lower ranks. */
typedef void (*bcs_combine_fn)(void *arg, const void *left, void *right, size_t count);

/** A reduction of one vector of each member. */
struct bcs_reduction {
    const void *in; /* this member's vector */
    void *out;      /* the result, where this member gets it; may be the same as in */
    size_t count;   /* elements; the same on all members */
    enum bcs_op op;
    enum bcs_type type;   /* of the predefined operations */
    size_t element_bytes; /* of BCS_OP_COMBINE */
    /* Of BCS_OP_COMBINE; called by this process in this call, or in any until it is
     * done. */
    bcs_combine_fn combine;
    void *arg; /* for combine */
};

/** bcs_reduce: every member gets the result. */
#define BCS_ROOT_ALL (-1)

/**
 * Combine the members' vectors element by element, for one root or, with BCS_ROOT_ALL,
 * for all members. [BCS-MPI table 4.1, section 4.4]
 *
 * The operands are combined on one fixed binary tree over the ranks (aligned blocks of
 * 1, 2, 4, ... ranks), so that the bits of the result do not depend on the layout of
 * the processes, the root, the length, or whether the call blocks.
 *
 * Cost, of vectors of n bytes. By the engine: predefined operations for all, or over
 * several nodes for a root. Short (n up to 2 KB * p and 4 MB / p): p - 1 messages of n
 * bytes to the root, or to member 0, which takes memory for p vectors and combines p -
 * 1 times, and for all a bcs_bcast from there. Longer: each member combines a share, in
 * rounds; in a round each sends p - 1 messages, and with the results p - 1 for all, or
 * one for the root: in all rounds up to 2 n bytes, or n; memory for p shares, up to 1
 * MB, or 32 KB * p.
 *
 * @return -EINVAL  also: the operation is not defined on the type; logged
 */
BCS_PUBLIC int bcs_reduce(struct bcs_context *context, struct bcs_group *group,
                          const struct bcs_reduction *reduction, int32_t root,
                          struct bcs_request *request);

/**
 * Prefix reduction: member i gets the vectors of the ranks 0 .. i combined; if it is
 * exclusive, those of 0 .. i - 1, and member 0 gets nothing. Combined one after the
 * other from rank 0 on, always. Cost: as bcs_reduce for all, without the engine; if
 * short, and up to 4 MB / p with BCS_OP_COMBINE, member 0 combines, and sends p - 1
 * results.
 *
 * @return -EINVAL  also: the operation is not defined on the type; logged
 */
BCS_PUBLIC int bcs_scan(struct bcs_context *context, struct bcs_group *group,
                        const struct bcs_reduction *reduction, bool is_exclusive,
                        struct bcs_request *request);

/**
 * Combine the members' vectors, as bcs_reduce does, and give each member its part of
 * the result: the parts lie one after the other in rank order. Cost: p (p - 1)
 * messages, each member's part of all vectors, in rounds as of a long bcs_reduce; in
 * place, also memory for the member's part.
 *
 * @param reduction  in is a whole vector, out one part; may be the same address
 * @param counts     [size] elements of the parts; NULL: all have reduction->count
 * @return -EINVAL   also: the operation is not defined on the type; logged
 */
BCS_PUBLIC int bcs_reduce_scatter(struct bcs_context *context, struct bcs_group *group,
                                  const struct bcs_reduction *reduction,
                                  const size_t counts[], struct bcs_request *request);

/**
 * Scatter: each member gets its block of the root's. [BCS-MPI table 4.1] Cost: p - 1
 * messages, the blocks, in one step, and a copy of the root's own.
 *
 * @param mine place and length of this member's block; at the root, NULL leaves it
 * there
 * @param blocks  read at the root only
 */
BCS_PUBLIC int bcs_scatter(struct bcs_context *context, struct bcs_group *group,
                           const struct bcs_part *mine, const struct bcs_blocks *blocks,
                           int32_t root, struct bcs_request *request);

/**
 * Gather: the root gets each member's block. [BCS-MPI table 4.1] Cost: as bcs_scatter.
 *
 * @param mine    this member's block; at the root it may be NULL: it is in its place
 * @param blocks  where they go; used at the root only
 */
BCS_PUBLIC int bcs_gather(struct bcs_context *context, struct bcs_group *group,
                          const struct bcs_part *mine, const struct bcs_blocks *blocks,
                          int32_t root, struct bcs_request *request);

/**
 * Allgather: every member gets all blocks. The lengths are the same on all members.
 * [BCS-MPI table 4.1] Cost, of blocks of n bytes together: up to 80, by the engine. Up
 * to 2 KB for each pair of members: a bcs_gather to member 0 and a bcs_bcast from
 * there; if they do not lie packed in rank order, memory for n bytes and a copy.
 * Longer: p (p - 1) messages, the blocks, in one step.
 *
 * @param mine    this member's block, as long as blocks says; NULL: it is in its place
 * @param blocks  where they go
 */
BCS_PUBLIC int bcs_allgather(struct bcs_context *context, struct bcs_group *group,
                             const void *mine, const struct bcs_blocks *blocks,
                             struct bcs_request *request);

/**
 * All-to-all: block j of member i's send becomes block i of member j's receive.
 * [BCS-MPI table 4.1] Cost: p (p - 1) messages, the blocks, in one step, and a copy of
 * the own one; in place, also memory for, and a copy of, all blocks. On demand in a
 * node, up to 80 bytes in all: as an allgather's.
 *
 * @param send     the blocks to send; data NULL: those of receive, which are replaced
 *                 (both lengths are those of receive)
 * @param receive  where they go; must not overlap with send's
 */
BCS_PUBLIC int bcs_alltoall(struct bcs_context *context, struct bcs_group *group,
                            const struct bcs_blocks *send,
                            const struct bcs_blocks *receive,
                            struct bcs_request *request);

#ifdef __cplusplus
}
#endif

#endif
