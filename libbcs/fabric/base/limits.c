/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of sizes, and its text form. Pure; used by every process at start.
 */
#include "libbcs/fabric/base/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT(field) .name = #field, .offset = offsetof(struct bcs_limits, field)

const struct bcs_limit bcs_limits[] = {
    {
        LIMIT(ring),
        .usual = BCS_RING_MOST,
        .least = 1,
        .most = BCS_RING_MOST,
        .is_power = true,
        .help = "Descriptors that a process can post before the engine takes one.",
    },
    {
        LIMIT(link),
        .usual = 64,
        .least = 1,
        .most = BCS_LINK_MOST,
        .is_power = true,
        .help = "Descriptors on their way from one process of a node to another, where "
                "processes match by themselves.",
    },
    {
        LIMIT(batch),
        .usual = BCS_BATCH_MOST,
        .least = 1,
        .most = BCS_BATCH_MOST,
        .help =
            "Descriptors that one slice takes from a process, or from all of a node.",
    },
    {
        LIMIT(arrivals),
        .usual = BCS_BATCH_MOST,
        .least = 1,
        .most = BCS_BATCH_MOST,
        .help = "Sends, or control descriptors, in a batch at which it takes no more "
                "of other nodes'.",
    },
    {
        LIMIT(chunks),
        .usual = BCS_BATCH_MOST,
        .least = 1,
        .most = BCS_BATCH_MOST,
        .help = "Chunks of long messages that one slice gives out.",
    },
    {
        LIMIT(collectives),
        .usual = BCS_BATCH_MOST,
        .least = 1,
        .most = BCS_BATCH_MOST,
        .help = "Collectives between nodes that one slice carries out.",
    },
    {
        LIMIT(wire),
        .usual = 256,
        .least = 1,
        .most = 4096,
        .is_power = true,
        .help = "Descriptors on their way from one node to another.",
    },
    {
        LIMIT(landing),
        .usual = 1u << 15,
        .least = 1u << 7,
        .most = 1u << 17,
        .is_power = true,
        .help =
            "Bytes of short messages on their way from one process to one on another "
            "node. What finds no room is asked for by its receiver.",
    },
    {
        LIMIT(stage_blocks),
        .usual = 64,
        .least = 1,
        .most = 4096,
        .help = "Chunks on their way from one node to another.",
    },
    {
        LIMIT(blocks),
        .usual = 1u << 22,
        .least = 0,
        .most = 1u << 22,
        .help = "Blocks of each size for a process's short messages, if 4 GB have so "
                "many of the smallest, 8 and 16 GB of the next two, 32 MB of the "
                "largest. Where none is free, a standard send waits for its receive.",
    },
    {
        LIMIT(stream_blocks),
        .usual = 65536,
        .least = 1,
        .most = 65536,
        .help = "Blocks for pieces of a process's long messages, if its 32 MB have so "
                "many.",
    },
    {
        LIMIT(stream_pieces),
        .usual = BCS_STREAM_PIECES_MOST,
        .least = 1,
        .most = BCS_STREAM_PIECES_MOST,
        .is_power = true,
        .help = "Pieces of one streamed message that its receiver has not stored yet.",
    },
    {
        LIMIT(returned),
        .usual = BCS_RETURNED_MOST,
        .least = 1,
        .most = BCS_RETURNED_MOST,
        .is_power = true,
        .help = "Chunks that the background thread has copied and the engine has not "
                "taken notice of.",
    },
    {
        LIMIT(orders),
        .usual = 1024,
        .least = 1,
        .most = 1u << 16,
        .is_power = true,
        .help = "Operations that a process is told to look at, before it looks at all.",
    },
    {
        LIMIT(window),
        .usual = 1u << 20,
        .least = 1u << 17,
        .most = 1u << 28,
        .is_power = true,
        .help = "Bytes of a node's memory that a process maps at a time, when it first "
                "needs one of them.",
    },
    {
        LIMIT(whole),
        .usual = 64,
        .least = 0,
        .most = 1u << 16,
        .help = "How much of each table is mapped from the start: so many of a "
                "process's smallest blocks, and others in proportion.",
    },
    {
        LIMIT(views),
        .usual = 1024,
        .least = 0,
        .most = 1u << 20,
        .help = "Desks of a machine up to which a process remembers where each of them "
                "is. If there are more, it finds those of others anew for each turn.",
    },
    {
        LIMIT(kept_sends),
        .usual = 1u << 30,
        .least = 1,
        .most = 1u << 30,
        .is_bound = true,
        .help =
            "Messages without a receive that are kept for a process, if they are "
            "not more than four times BCS_DESCRIPTORS; where processes do not match "
            "by themselves, for each process of a node, for all together.",
    },
    {
        LIMIT(requests),
        .usual = 1u << 28,
        .least = 1,
        .most = 1u << 28,
        .is_bound = true,
        .help = "MPI requests of a process.",
    },
    {
        LIMIT(plans),
        .usual = 64,
        .least = 1,
        .most = 1024, /* half of the numbers of a plan_tag.h */
        .help = "Non-blocking collectives of one group that are under way at a time.",
    },
    {
        LIMIT(tree),
        .usual = 32,
        .least = 1,
        .most = 4096,
        .help = "Members that one member forwards a broadcast to.",
    },
    {
        LIMIT(near),
        .usual = BCS_NEAR_MOST,
        .least = 2,
        .most = BCS_NEAR_MOST,
        .is_power = true,
        .help =
            "Members that look at what each other says in a short collective of one "
            "node. Of more, so many at a time do, in a tree.",
    },
    {
        LIMIT(whole_bytes),
        .usual = 2048,
        .least = 0,
        .most = 1u << 20,
        .help = "Vectors of up to so many bytes a member are reduced whole.",
    },
    {
        LIMIT(share_bytes),
        .usual = 512u << 10,
        .least = 4096,
        .most = 512u << 10,
        .help = "What one member combines of a longer one at a time, at most.",
    },
    {
        LIMIT(cbsp_sets),
        .usual = BCS_CBSP_SETS_MOST,
        .least = 1,
        .most = BCS_CBSP_SETS_MOST,
        .is_power = true,
        .help = "cBSP: buffers of a pair of processes, one for each superstep in turn.",
    },
    {
        LIMIT(cbsp_children),
        .usual = BCS_CBSP_CHILDREN_MOST,
        .least = 1,
        .most = BCS_CBSP_CHILDREN_MOST,
        .help = "cBSP: children of a process in the tree of cBSP_gsync.",
    },
    {
        LIMIT(cbsp_buffer),
        .usual = 65536,
        .least = 2048,
        .most = 65536,
        .is_power = true,
        .help = "cBSP: bytes of a buffer, if there are few processes.",
    },
};

const size_t bcs_n_limits = sizeof(bcs_limits) / sizeof(bcs_limits[0]);

_Static_assert(sizeof(bcs_limits) / sizeof(bcs_limits[0]) * sizeof(uint32_t) ==
                   sizeof(struct bcs_limits),
               "every size is in the table");

static void set(struct bcs_limits *limits, const struct bcs_limit *limit,
                uint32_t value)
{
    memcpy((char *)limits + limit->offset, &value, sizeof(value));
}

struct bcs_limits bcs_limits_usual(void)
{
    struct bcs_limits limits;

    for (size_t i = 0; i < bcs_n_limits; i++) {
        set(&limits, &bcs_limits[i], bcs_limits[i].usual);
    }
    return limits;
}

static void set_least(struct bcs_limits *limits)
{
    for (size_t i = 0; i < bcs_n_limits; i++) {
        if (!bcs_limits[i].is_bound) {
            set(limits, &bcs_limits[i], bcs_limits[i].least);
        }
    }
}

/** The limit that a word names, up to "=" or its end; NULL: none. */
static const struct bcs_limit *find(const char *word)
{
    size_t n = strcspn(word, "=,");

    for (size_t i = 0; i < bcs_n_limits; i++) {
        if (strlen(bcs_limits[i].name) == n &&
            memcmp(bcs_limits[i].name, word, n) == 0) {
            return &bcs_limits[i];
        }
    }
    return NULL;
}

/** The number behind a word's "=". @return whether the limit may have it */
static bool read_number(const struct bcs_limit *limit, const char *word,
                        uint32_t *value_out)
{
    const char *digits = word + strlen(limit->name);
    char *end;
    unsigned long value;

    if (*digits++ != '=' || *digits < '0' || *digits > '9') {
        return false;
    }
    value = strtoul(digits, &end, 10);
    if ((*end != ',' && *end != '\0') || value < limit->least || value > limit->most ||
        (limit->is_power && (value & (value - 1)) != 0)) {
        return false;
    }
    *value_out = (uint32_t)value;
    return true;
}

static bool is_word(const char *word, const char *expected)
{
    size_t n = strlen(expected);

    return strncmp(word, expected, n) == 0 && (word[n] == ',' || word[n] == '\0');
}

static bool apply(struct bcs_limits *limits, const char *word)
{
    const struct bcs_limit *limit = find(word);
    uint32_t value;

    if (is_word(word, "usual")) {
        *limits = bcs_limits_usual();
    } else if (is_word(word, "least")) {
        set_least(limits);
    } else if (limit != NULL && read_number(limit, word, &value)) {
        set(limits, limit, value);
    } else {
        return false;
    }
    return true;
}

bool bcs_limits_parse(const char *text, struct bcs_limits *limits_out,
                      const char **bad_out)
{
    struct bcs_limits limits = bcs_limits_usual();

    for (;;) {
        size_t n = strcspn(text, ",");

        if (!apply(&limits, text)) {
            *bad_out = text;
            return false;
        }
        if (text[n] == '\0') {
            break;
        }
        text += n + 1;
    }
    *limits_out = limits;
    return true;
}

void bcs_limits_allowed(const char *bad, char *text_out, size_t n_text_bytes)
{
    const struct bcs_limit *limit = find(bad);
    size_t used;

    if (limit != NULL) {
        snprintf(text_out, n_text_bytes, "%s=%" PRIu32 " to %" PRIu32 "%s", limit->name,
                 limit->least, limit->most, limit->is_power ? ", a power of two" : "");
        return;
    }
    snprintf(text_out, n_text_bytes, "usual | least | name=number, with commas: ");
    for (size_t i = 0; i < bcs_n_limits; i++) {
        used = strlen(text_out);
        snprintf(text_out + used, n_text_bytes - used, "%s%s", i > 0 ? " " : "",
                 bcs_limits[i].name);
    }
}
