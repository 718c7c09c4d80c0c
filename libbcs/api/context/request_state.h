/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is behind the reserved members of struct bcs_request and struct bcs_message.
 * Programs see storage only, so this may change without them. For libbcs/api, the shim
 * and tests; used by the process that owns the context.
 */
#ifndef LIBBCS_API_CONTEXT_REQUEST_STATE_H
#define LIBBCS_API_CONTEXT_REQUEST_STATE_H

#include <bcs/bcs.h>
#include <bcs/status.h>

struct bcs_layout;

/** result.error of a receive that was cancelled before a message matched it, or of a
 *  send that was cancelled before it was received. Only MPI_Cancel does so.
 *  <bcs/status.h> keeps the number free. */
#define BCS_E_CANCELLED 4

/** The operation of a request, in its reserved words. All zero: none, or one that is
 *  done; so BCS_REQUEST_DONE is. The storage is declared as words, therefore
 *  may_alias. */
struct __attribute__((may_alias)) bcs_request_state {
    union {
        void *data; /* of a message, until it is over */
        /* Where the job has stamps, afterwards: of the latest that the operation has
         * waited for; BCS_STAMP_NONE: of something without a stamp. */
        uint64_t stamp;
    };
    size_t n_bytes;
    const struct bcs_layout *layout; /* NULL: data are contiguous */
    uint32_t cell;
    bool is_pending;
    bool is_send;
    bool is_collective;
};

_Static_assert(sizeof(struct bcs_request_state) <=
                   sizeof(((struct bcs_request *)0)->reserved),
               "a request has room for its inside");
_Static_assert(_Alignof(struct bcs_request) % _Alignof(struct bcs_request_state) == 0 &&
                   offsetof(struct bcs_request, reserved) %
                           _Alignof(struct bcs_request_state) ==
                       0,
               "and is aligned for it");

/** The inside of a request. */
static inline struct bcs_request_state *
bcs_request_state(const struct bcs_request *request)
{
    return (struct bcs_request_state *)(uintptr_t)request->reserved;
}

/** Whether a request is known to be done, without a look. */
static inline bool bcs_is_done(const struct bcs_request *request)
{
    return !bcs_request_state(request)->is_pending;
}

/** Note in the result of a receive, whose buffer is full, that more bytes were sent. */
static inline void bcs_result_truncate(struct bcs_result *result, size_t n_sent)
{
    size_t n_more = n_sent - result->n_bytes;

    result->error = BCS_E_TRUNCATED;
    result->reserved = n_more < UINT32_MAX ? (uint32_t)n_more : UINT32_MAX;
}

/** How many bytes were sent; of 4 GB more than there was room for, so many at least. */
static inline size_t bcs_result_sent(const struct bcs_result *result)
{
    return result->n_bytes +
           (result->error == BCS_E_TRUNCATED ? (size_t)result->reserved : 0);
}

/** Where the bytes of a message are; NULL: its data are contiguous. */
static inline const struct bcs_layout *
bcs_message_layout(const struct bcs_message *message)
{
    return (const struct bcs_layout *)message->reserved_pointer;
}

/** The bytes of a message are where a layout says, which outlives its operation. */
static inline void bcs_message_lay_out(struct bcs_message *message,
                                       const struct bcs_layout *layout)
{
    message->reserved_pointer = layout;
}

/* The first reserved byte of a message tells those of programs and of collectives
 * apart. */
enum { BCS_SPACE_PROGRAM, BCS_SPACE_COLLECTIVE };

/** What is added to the context id of a message's group. */
static inline uint8_t bcs_message_space(const struct bcs_message *message)
{
    return message->reserved[0];
}

/** Whether the caller does not leave its call before the message is over. The second
 *  reserved byte says that it does not, though it has other messages. */
static inline bool bcs_message_stays(const struct bcs_message *message)
{
    return message->will_wait || message->reserved[1] != 0;
}

#endif
