/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asking the services of other machines; see far_command.h.
 *
 * A process has one command under way at most, as its regions belong to one thread. So
 * it has a place for a request in each other heap, and one for the answer in its own.
 * The request and the answer are blocks of 512 bytes, which are put in one piece, their
 * sequence last. A longer command is asked for in parts, from lower to higher
 * addresses.
 *
 * A command is carried out when its answer has come. So the commands of a process take
 * effect in their order, wherever they go.
 *
 * An owner that leaves answers all that it has been asked, ends its service, and then
 * tells all that it has left. Who sees that, and still has no answer, gets none.
 */
#include "libbcs/channel/far_command.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "libbcs/channel/channel_state.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/system.h"

static const struct remote_far_answer *answer_of(const struct channels *channels)
{
    return bcs_core_address(channels->core, channels->layout.answer_gva);
}

static bool has_answer(const struct channels *channels)
{
    /* Pairs with the put of answer in far_service.c. */
    return __atomic_load_n(&answer_of(channels)->sequence, __ATOMIC_ACQUIRE) ==
           channels->remotes.n_asked;
}

/** Wait for the answer. @return 0, BCS_E_CLOSED: the process has left; or -errno */
static int await_answer(struct channels *channels, uint32_t rank)
{
    struct bcs_bell_wait wait = {0};
    int rc = 0;

    while (rc >= 0 && !has_answer(channels)) {
        /* In this order: what was answered was so before. */
        bool has_left = remote_has_left(channels, rank);

        if (has_left) {
            return has_answer(channels) ? 0 : BCS_E_CLOSED;
        }
        switch (bcs_bell_step(&channels->bell, &wait)) {
        case BCS_WAIT_SLEEP:
            rc = bcs_bell_sleep(&channels->bell, &wait);
            break;
        case BCS_WAIT_YIELD:
            bcs_yield();
            break;
        default:
            break;
        }
    }
    return rc < 0 ? rc : 0;
}

/** Ask, and wait for the answer. @return its result, BCS_E_CLOSED: the process has
 *  left; or -errno of the primitives */
static int ask(struct channels *channels, uint32_t rank,
               struct remote_far_request *request)
{
    struct bcs_node_set one = bcs_node_set_one(rank);
    int rc;

    request->sequence = ++channels->remotes.n_asked;
    rc = remote_transfer(channels,
                         &(struct bcs_xfer){
                             .src = request,
                             .n_bytes = sizeof(*request),
                             .dest_gva = channels->layout.requests_gva +
                                         channels->rank * sizeof(*request),
                             .dests = &one,
                             .remote_event_gva = channels->layout.service_bell_gva,
                         });
    rc = rc < 0 ? rc : await_answer(channels, rank);
    return rc != 0 ? rc : (int)answer_of(channels)->result;
}

/** Ask for a command on an open region. */
static int ask_region(const struct bcs_remote *remote,
                      struct remote_far_request *request)
{
    request->number = remote->number;
    request->serial = remote->inside->serial;
    return ask(remote->inside->channels, remote->rank, request);
}

static const struct remote_far_answer *answer_at(const struct bcs_remote *remote)
{
    return answer_of(remote->inside->channels);
}

int remote_far_import(struct channels *channels, uint32_t rank, uint32_t number,
                      uint64_t serial)
{
    struct remote_far_request request = {
        .op = REMOTE_FAR_IMPORT, .number = number, .serial = serial};
    int rc = ask(channels, rank, &request);

    return rc == BCS_E_CLOSED ? BCS_E_PENDING : rc;
}

int remote_far_release(struct channels *channels, uint32_t rank, uint32_t number,
                       uint64_t serial)
{
    struct remote_far_request request = {
        .op = REMOTE_FAR_RELEASE, .number = number, .serial = serial};
    int rc = ask(channels, rank, &request);

    return rc < 0 ? rc : 0;
}

/** What a command takes to and from elements that follow each other. */
struct elements {
    const uint8_t *from; /* NULL: nothing goes there */
    uint8_t *to;         /* NULL: nothing is wanted back */
    size_t n_bytes;      /* of one */
    size_t count;
};

/** Ask for a command in parts; also once if there are no elements. */
static int ask_in_parts(const struct bcs_remote *remote,
                        struct remote_far_request *request, uint64_t offset,
                        const struct elements *elements)
{
    size_t n_most = REMOTE_FAR_BYTES / elements->n_bytes, n_done = 0;
    int rc = 0;

    do {
        size_t n_left = elements->count - n_done;
        size_t at = n_done * elements->n_bytes, n_bytes;

        request->offset = offset + at;
        request->n = n_left < n_most ? n_left : n_most;
        n_bytes = request->n * elements->n_bytes;
        if (elements->from != NULL && n_bytes > 0) {
            memcpy(request->data, elements->from + at, n_bytes);
        }
        rc = ask_region(remote, request);
        if (rc == 0 && elements->to != NULL && n_bytes > 0) {
            memcpy(elements->to + at, answer_at(remote)->data, n_bytes);
        }
        n_done += request->n;
    } while (rc == 0 && n_done < elements->count);
    return rc;
}

int remote_far_write(const struct bcs_remote *remote, uint64_t offset, const void *data,
                     size_t n_bytes)
{
    struct remote_far_request request = {.op = REMOTE_FAR_WRITE};
    const struct elements bytes = {.from = data, .n_bytes = 1, .count = n_bytes};

    return ask_in_parts(remote, &request, offset, &bytes);
}

int remote_far_read(const struct bcs_remote *remote, uint64_t offset, void *data_out,
                    size_t n_bytes)
{
    struct remote_far_request request = {.op = REMOTE_FAR_READ};
    const struct elements bytes = {.to = data_out, .n_bytes = 1, .count = n_bytes};

    return ask_in_parts(remote, &request, offset, &bytes);
}

int remote_far_accumulate(const struct bcs_remote *remote, uint64_t offset,
                          const struct bcs_remote_accumulation *accumulation,
                          size_t element_bytes)
{
    struct remote_far_request request = {
        .op = REMOTE_FAR_ACCUMULATE,
        .extra = (uint64_t)accumulation->op << 32 | (uint32_t)accumulation->type,
    };
    const struct elements operands = {
        .from = accumulation->operands,
        .to = accumulation->before_out,
        .n_bytes = element_bytes,
        .count = accumulation->count,
    };

    return ask_in_parts(remote, &request, offset, &operands);
}

int remote_far_append(const struct bcs_remote *remote, uint64_t offset,
                      const void *record, size_t n_bytes, uint64_t *wanted_out)
{
    struct remote_far_request request = {
        .op = REMOTE_FAR_APPEND, .offset = offset, .n = n_bytes};
    int rc;

    if (n_bytes > REMOTE_FAR_BYTES) {
        bcs_error("bcs_remote_append: a record of %zu bytes to rank %" PRIu32
                  ", which is on another machine; allowed are up to %d",
                  n_bytes, remote->rank, REMOTE_FAR_BYTES);
        return -ENOTSUP;
    }
    if (n_bytes > 0) {
        memcpy(request.data, record, n_bytes);
    }
    rc = ask_region(remote, &request);
    *wanted_out = answer_at(remote)->extra;
    return rc;
}

int remote_far_wait(const struct bcs_remote *remote, uint64_t offset, uint64_t at_least,
                    uint64_t *id_out)
{
    struct remote_far_request request = {
        .op = REMOTE_FAR_WAIT,
        .offset = offset,
        .n = at_least,
        .extra = ++remote->inside->channels->remotes.n_far_waits,
    };

    *id_out = request.extra;
    return ask_region(remote, &request);
}

bool remote_far_is_told(const struct channels *channels, uint64_t id,
                        bool *is_there_out)
{
    const uint64_t *told = bcs_core_address(channels->core, channels->layout.told_gva);
    /* Pairs with the put of tell in far_service.c. */
    uint64_t word = __atomic_load_n(told, __ATOMIC_ACQUIRE);

    *is_there_out = (word & 1) != 0;
    return word >> 1 == id;
}

/* ------------------------------------------------------------------ words */

int bcs_remote_far_write_word(const struct bcs_remote *remote, uint64_t offset,
                              uint64_t word)
{
    return remote_far_write(remote, offset, &word, sizeof(word));
}

int bcs_remote_far_read_word(const struct bcs_remote *remote, uint64_t offset,
                             uint64_t *word_out)
{
    return remote_far_read(remote, offset, word_out, sizeof(*word_out));
}

int bcs_remote_far_compare_swap(const struct bcs_remote *remote, uint64_t offset,
                                uint64_t expected, uint64_t desired,
                                uint64_t *before_out)
{
    struct remote_far_request request = {
        .op = REMOTE_FAR_SWAP, .offset = offset, .n = expected, .extra = desired};
    int rc = ask_region(remote, &request);

    if (rc == 0) {
        *before_out = answer_at(remote)->extra;
    }
    return rc;
}

int bcs_remote_far_add_word(const struct bcs_remote *remote, uint64_t offset,
                            uint64_t addend, uint64_t *before_out)
{
    return remote_far_accumulate(remote, offset,
                                 &(struct bcs_remote_accumulation){
                                     .op = BCS_SUM,
                                     .type = BCS_UINT64,
                                     .operands = &addend,
                                     .count = 1,
                                     .before_out = before_out,
                                 },
                                 sizeof(addend));
}
