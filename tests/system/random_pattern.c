/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random pattern of messages, the same on all ranks for a seed, in rounds that cannot
 * deadlock by construction; every byte is checked by its receiver.
 *
 *     random_pattern SEED [ROUNDS]
 *
 * Rounds are of three kinds. "posted": all receives and sends of the round are started,
 * then completed in a random way. "ordered": all ranks walk the messages of the round
 * in one order with blocking calls (the earliest unfinished message always has both its
 * ends ready). "farm": receivers know only how many messages will come and take them by
 * MPI_ANY_SOURCE and MPI_ANY_TAG. Collectives stand between the rounds.
 */
#include "tests/conformance/check.h"

enum {
    MAX_MESSAGES = 60, /* in a round */
    MAX_BYTES = 300 * 1024,
    N_WAYS = 5, /* to complete requests */
};

struct message {
    int from;
    int to;
    int n_bytes;
    int tag;
    int send_way;
    int receive_way;
    uint64_t seed;
};

struct pattern {
    struct world world;
    uint64_t state; /* of the plan: equal on all ranks */
    MPI_Comm farm;  /* where wildcards of both kinds are used */
    struct message messages[MAX_MESSAGES];
    int n_messages;
    char *out[MAX_MESSAGES];
    char *in[MAX_MESSAGES];
    long n_received;
    long n_bytes;
    uint64_t sum;
};

static int draw(struct pattern *pattern, int below)
{
    pattern->state = check_mix(pattern->state, 17);
    return (int)(pattern->state % (uint64_t)below);
}

static int draw_length(struct pattern *pattern)
{
    static const int limits[] = {1, 65, 81, 1000, 4200, 16500, 66000, MAX_BYTES};

    return draw(pattern, limits[draw(pattern, CHECK_N(limits))] + 1);
}

static void plan_round(struct pattern *pattern, int round)
{
    pattern->n_messages = 1 + draw(pattern, MAX_MESSAGES);
    for (int i = 0; i < pattern->n_messages; i++) {
        struct message *message = &pattern->messages[i];

        message->from = draw(pattern, pattern->world.size);
        message->to = draw(pattern, pattern->world.size);
        message->n_bytes = draw_length(pattern);
        message->tag = 1000 * (round % 20) + i;
        message->send_way = draw(pattern, 100);
        message->receive_way = draw(pattern, 100);
        message->seed = check_mix(round, i);
    }
}

static void note_received(struct pattern *pattern, const struct message *message,
                          const char *data, const MPI_Status *status)
{
    int count;

    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK_EQUAL(count, message->n_bytes);
    CHECK_EQUAL(status->MPI_SOURCE, message->from);
    CHECK_EQUAL(status->MPI_TAG, message->tag);
    CHECK(check_is_filled(data, message->n_bytes, message->seed));
    pattern->n_received++;
    pattern->n_bytes += count;
    pattern->sum +=
        check_mix(message->seed, check_sum(data, count < 512 ? count : 512));
}

static char *make_data(const struct message *message)
{
    char *data = check_alloc(message->n_bytes);

    check_fill(data, message->n_bytes, message->seed);
    return data;
}

static void start_send(struct pattern *pattern, int i, MPI_Comm comm,
                       MPI_Request *request)
{
    const struct message *message = &pattern->messages[i];

    pattern->out[i] = make_data(message);
    if (message->send_way < 20) {
        MPI_Issend(pattern->out[i], message->n_bytes, MPI_BYTE, message->to,
                   message->tag, comm, request);
    } else {
        MPI_Isend(pattern->out[i], message->n_bytes, MPI_BYTE, message->to,
                  message->tag, comm, request);
    }
}

static void start_receive(struct pattern *pattern, int i, MPI_Request *request)
{
    const struct message *message = &pattern->messages[i];
    int from = message->receive_way < 30 ? MPI_ANY_SOURCE : message->from;
    int room = message->n_bytes + message->receive_way;

    pattern->in[i] = check_alloc(room);
    MPI_Irecv(pattern->in[i], room, MPI_BYTE, from, message->tag, MPI_COMM_WORLD,
              request);
}

/* Complete n requests in one of several ways; a status for each is left in statuses. */
static void complete(int way, int n, MPI_Request *requests, MPI_Status *statuses)
{
    MPI_Status *some = check_alloc(n * sizeof(MPI_Status));
    int *indices = check_alloc(n * sizeof(int));
    int n_done = 0;
    int is_done = 0;

    for (int i = 0; way == 0 && i < n; i++) {
        MPI_Wait(&requests[i], &statuses[i]);
    }
    while (way == 1 && !is_done) {
        MPI_Testall(n, requests, &is_done, statuses);
    }
    for (int i = 0; way == 2 && i < n; i++) {
        MPI_Waitany(n, requests, indices, some);
        statuses[indices[0]] = some[0];
    }
    while (way == 3 && n_done != MPI_UNDEFINED) {
        MPI_Waitsome(n, requests, &n_done, indices, some);
        for (int i = 0; i < n_done; i++) {
            statuses[indices[i]] = some[i];
        }
    }
    if (way == 4) {
        MPI_Waitall(n, requests, statuses);
    }
    free(some);
    free(indices);
}

static void posted_round(struct pattern *pattern)
{
    MPI_Request requests[2 * MAX_MESSAGES];
    MPI_Status statuses[2 * MAX_MESSAGES];
    int n = pattern->n_messages;
    int sends_first = draw(pattern, 2);
    int way = (draw(pattern, N_WAYS) + pattern->world.rank) % N_WAYS;

    for (int i = 0; i < 2 * n; i++) {
        const struct message *message = &pattern->messages[i % n];
        int is_send = (i < n) == sends_first;

        requests[i] = MPI_REQUEST_NULL;
        if (is_send && message->from == pattern->world.rank) {
            start_send(pattern, i % n, MPI_COMM_WORLD, &requests[i]);
        }
        if (!is_send && message->to == pattern->world.rank) {
            start_receive(pattern, i % n, &requests[i]);
        }
    }
    complete(way, 2 * n, requests, statuses);
    for (int i = 0; i < n; i++) {
        if (pattern->messages[i].to == pattern->world.rank) {
            note_received(pattern, &pattern->messages[i], pattern->in[i],
                          &statuses[sends_first ? n + i : i]);
        }
    }
}

static void receive_blocking(struct pattern *pattern, const struct message *message)
{
    int from = message->receive_way < 40 ? MPI_ANY_SOURCE : message->from;
    char *in = check_alloc(message->n_bytes);
    MPI_Status status;
    MPI_Message handle;

    if (message->receive_way % 4 == 0) {
        MPI_Probe(from, message->tag, MPI_COMM_WORLD, &status);
        from = status.MPI_SOURCE;
    }
    if (message->receive_way % 4 == 1) {
        MPI_Mprobe(from, message->tag, MPI_COMM_WORLD, &handle, &status);
        MPI_Mrecv(in, message->n_bytes, MPI_BYTE, &handle, &status);
    } else {
        MPI_Recv(in, message->n_bytes, MPI_BYTE, from, message->tag, MPI_COMM_WORLD,
                 &status);
    }
    note_received(pattern, message, in, &status);
    free(in);
}

static void send_blocking(const struct message *message)
{
    char *out = make_data(message);

    if (message->send_way < 30) {
        MPI_Ssend(out, message->n_bytes, MPI_BYTE, message->to, message->tag,
                  MPI_COMM_WORLD);
    } else {
        MPI_Send(out, message->n_bytes, MPI_BYTE, message->to, message->tag,
                 MPI_COMM_WORLD);
    }
    free(out);
}

/* Some sends are started and finished at the round's end; messages to self always are.
 */
static void ordered_round(struct pattern *pattern)
{
    MPI_Request requests[MAX_MESSAGES];
    int n_requests = 0;

    for (int i = 0; i < pattern->n_messages; i++) {
        const struct message *message = &pattern->messages[i];

        if (message->from == pattern->world.rank) {
            if (message->send_way >= 70 || message->to == message->from) {
                start_send(pattern, i, MPI_COMM_WORLD, &requests[n_requests++]);
            } else {
                send_blocking(message);
            }
        }
        if (message->to == pattern->world.rank) {
            receive_blocking(pattern, message);
        }
    }
    MPI_Waitall(n_requests, requests, MPI_STATUSES_IGNORE);
}

/* Messages of one sender must come in the order in which they were sent. */
static void farm_round(struct pattern *pattern)
{
    MPI_Request requests[MAX_MESSAGES];
    int *next = check_alloc(pattern->world.size * sizeof(int));
    char *in = check_alloc(MAX_BYTES);
    int n_requests = 0;
    int n_coming = 0;

    for (int i = 0; i < pattern->n_messages; i++) {
        n_coming += pattern->messages[i].to == pattern->world.rank;
        if (pattern->messages[i].from == pattern->world.rank) {
            start_send(pattern, i, pattern->farm, &requests[n_requests++]);
        }
    }
    for (; n_coming > 0; n_coming--) {
        MPI_Status status;
        int i;

        MPI_Recv(in, MAX_BYTES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, pattern->farm,
                 &status);
        for (i = next[status.MPI_SOURCE];
             pattern->messages[i].from != status.MPI_SOURCE ||
             pattern->messages[i].to != pattern->world.rank;
             i++) {
        }
        next[status.MPI_SOURCE] = i + 1;
        note_received(pattern, &pattern->messages[i], in, &status);
    }
    MPI_Waitall(n_requests, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(pattern->farm);
    free(next);
    free(in);
}

static void collective(struct pattern *pattern)
{
    int root = draw(pattern, pattern->world.size);
    int n = draw(pattern, 3000);
    uint64_t *data = check_alloc((size_t)n * sizeof(uint64_t));
    uint64_t one = (uint64_t)pattern->world.rank + 1;

    switch (draw(pattern, 4)) {
    case 0:
        if (pattern->world.rank == root) {
            check_fill(data, n * sizeof(*data), n);
        }
        MPI_Bcast(data, n, MPI_UINT64_T, root, MPI_COMM_WORLD);
        CHECK(check_is_filled(data, n * sizeof(*data), n));
        break;
    case 1:
        check_fill(data, n * sizeof(*data), n);
        MPI_Allreduce(MPI_IN_PLACE, data, n, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
        CHECK(check_is_filled(data, n * sizeof(*data), n));
        break;
    case 2:
        MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQUAL(one, pattern->world.size * (pattern->world.size + 1) / 2);
        break;
    default:
        break;
    }
    free(data);
}

static void release(struct pattern *pattern)
{
    for (int i = 0; i < MAX_MESSAGES; i++) {
        free(pattern->out[i]);
        free(pattern->in[i]);
        pattern->out[i] = NULL;
        pattern->in[i] = NULL;
    }
}

static void report(const struct pattern *pattern, int seed)
{
    uint64_t mine[3] = {(uint64_t)pattern->n_received, (uint64_t)pattern->n_bytes,
                        pattern->sum};
    uint64_t all[3];

    MPI_Reduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    check_say("seed %d: %d ranks, %llu messages, %llu bytes, checksum %016llx\n", seed,
              pattern->world.size, (unsigned long long)all[0],
              (unsigned long long)all[1], (unsigned long long)all[2]);
}

int main(int argc, char **argv)
{
    static struct pattern pattern;
    int seed = argc > 1 ? atoi(argv[1]) : 1;
    int n_rounds = argc > 2 ? atoi(argv[2]) : 12;

    pattern.world = check_begin(&argc, &argv);
    pattern.state = check_mix(seed, 3);
    MPI_Comm_dup(MPI_COMM_WORLD, &pattern.farm);
    for (int round = 0; round < n_rounds; round++) {
        plan_round(&pattern, round);
        switch (draw(&pattern, 3)) {
        case 0:
            posted_round(&pattern);
            break;
        case 1:
            ordered_round(&pattern);
            break;
        default:
            farm_round(&pattern);
            break;
        }
        release(&pattern);
        collective(&pattern);
    }
    report(&pattern, seed);
    MPI_Comm_free(&pattern.farm);
    return check_end();
}
