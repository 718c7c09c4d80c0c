/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the NIC engine's variables; see docs/configuration.md, made from it.
 */
#include "nic_threads/nic_config.h"

#include <stddef.h>
#include <string.h>

#include "libbcs/fabric/base/digest.h"
#include "libbcs/fabric/ring/nic_memory.h"

static const char *const strobe_choices[] = {"demand", "timed", NULL};
static const char *const driver_choices[] = {"inline", "threads", NULL};
static const char *const copy_choices[] = {"auto", "direct", "pooled", NULL};
static const char *const buffering_choices[] = {"eager", "none", NULL};
static const char *const switch_choices[] = {"off", "on", NULL};
static const char *const far_map_choices[] = {"block", "cyclic", "uneven", "falling",
                                              NULL};
static const char *const far_network_choices[] = {"memory", "ucx", NULL};
static const char *const referee_choices[] = {"abort", "report", "hold", "off", NULL};

#define FIELD(field) .offset = offsetof(struct nic_config, field)

static const struct bcs_config_entry entries[] = {
    {
        .name = "BCS_NODE_RANKS",
        .fallback = "0",
        .kind = BCS_CONFIG_COUNT,
        FIELD(node_ranks),
        .maximum = NIC_NODE_RANKS_MOST,
        .help = "Ranks of one machine that share a node. 0: all of them. Smaller nodes "
                "talk to each other through the core primitives only.",
    },
    {
        .name = "BCS_STROBE",
        .fallback = "demand",
        .kind = BCS_CONFIG_CHOICE,
        .choices = strobe_choices,
        FIELD(strobe),
        .help = "When a slice starts. demand: as soon as a process waits for work that "
                "is pending. timed: every BCS_SLICE by the clock; what a slice has "
                "completed is seen when the next one starts.",
    },
    {
        .name = "BCS_SLICE",
        .fallback = "500us",
        .kind = BCS_CONFIG_DURATION_NS,
        FIELD(slice_ns),
        .minimum = 10000,
        .maximum = 1000000000,
        .help = "Length of a time slice: with timed strobes, from one to the next; on "
                "demand, what is pending while no rank waits is carried out within it.",
    },
    {
        .name = "BCS_DRIVER",
        .fallback = "inline",
        .kind = BCS_CONFIG_CHOICE,
        .choices = driver_choices,
        FIELD(driver),
        .help = "Who runs the NIC engine. inline: the processes that wait, or, with "
                "timed strobes, one thread of the job's first process. threads: a "
                "thread for each role, in the first process of each node.",
    },
    {
        .name = "BCS_COPY",
        .fallback = "auto",
        .kind = BCS_CONFIG_CHOICE,
        .choices = copy_choices,
        FIELD(copy),
        .help =
            "How long messages move within a node. direct: one copy from user memory "
            "to user memory, by either endpoint; pooled: through blocks in NIC "
            "memory; auto: direct where the kernel allows it, or through blocks where "
            "both processes wait for the message, no more processes are awake than "
            "there are cores, it is shorter than 8 MB, and that was faster of late.",
    },
    {
        .name = "BCS_BUFFERING",
        .fallback = "eager",
        .kind = BCS_CONFIG_CHOICE,
        .choices = buffering_choices,
        FIELD(buffering),
        .help = "When a standard send is done. eager: when its buffer may be used "
                "again, which for up to BCS_EAGER_LIMIT bytes is at once; none: when a "
                "receive has got its data, whatever their length.",
    },
    {
        .name = "BCS_EAGER_LIMIT",
        .fallback = "32k",
        .kind = BCS_CONFIG_BYTES,
        FIELD(eager_limit_bytes),
        .minimum = 4096,
        .maximum = 65536,
        .help = "A standard send of up to this length returns once its data are in NIC "
                "memory.",
    },
    {
        .name = "BCS_CHUNK",
        .fallback = "0",
        .kind = BCS_CONFIG_BYTES,
        FIELD(chunk_bytes),
        .maximum = 1u << 30,
        .at_least = "BCS_EAGER_LIMIT",
        .help = "How much of one message moves in one slice. 0: 4 MB, or with timed "
                "strobes BCS_SLICE_BYTES, but no less than BCS_EAGER_LIMIT.",
    },
    {
        .name = "BCS_SLICE_BYTES",
        .fallback = "0",
        .kind = BCS_CONFIG_BYTES,
        FIELD(slice_bytes),
        .maximum = UINT64_C(1) << 40,
        .at_least = "BCS_CHUNK",
        .help =
            "How much of all long messages of a node, or of those to one process where "
            "it matches by itself, moves in one slice; what does not fit waits for the "
            "next one, but for a first chunk. 0: 16 MB, or two bytes for each "
            "nanosecond of BCS_SLICE with timed strobes.",
    },
    {
        .name = "BCS_DESCRIPTORS",
        .fallback = "4194304",
        .kind = BCS_CONFIG_COUNT,
        FIELD(descriptors),
        .minimum = 64,
        .maximum = NIC_CELLS_MOST,
        .help =
            "How many operations of one process can be pending at once, as far as "
            "there is memory. Of short messages that nobody has received four times "
            "as many are kept for a process; with timed strobes that is for each "
            "process of a node, for all of them together. Then their senders wait.",
    },
    {
        .name = "BCS_COMMUNICATORS",
        .fallback = "65536",
        .kind = BCS_CONFIG_COUNT,
        FIELD(communicators),
        .minimum = 4,
        .maximum = NIC_GROUPS_MOST,
        .help =
            "How many communicators one process can lead at once. The first rank of "
            "a communicator leads it, of MPI_COMM_WORLD, too.",
    },
    {
        .name = "BCS_PLACE_SKIP",
        .fallback = NIC_PLACE_SKIP_USUAL,
        .kind = BCS_CONFIG_TEXT,
        .form = NIC_PLACE_SKIP_FORM,
        FIELD(place_skip),
        .help =
            "What a report skips to find the line of the program that waits: "
            "libraries, "
            "by the names of their files, and files of code and Python modules in "
            "folders of these names. If nothing else is left, the place is that of the "
            "call.",
    },
    {
        .name = "BCS_REFEREE",
        .fallback = "abort",
        .kind = BCS_CONFIG_CHOICE,
        .choices = referee_choices,
        FIELD(referee),
        .help =
            "What happens when ranks are deadlocked. abort: a report on standard "
            "error, and the job ends with exit status 86; report: a report, and "
            "they go on waiting; hold: the same, and how to attach a debugger; off: "
            "nobody looks.",
    },
    {
        .name = "BCS_REFEREE_BUFFERS",
        .fallback = "off",
        .kind = BCS_CONFIG_CHOICE,
        .choices = switch_choices,
        FIELD(watch),
        .help =
            "on: a send buffer that the program changes while its operation is "
            "pending, "
            "and a receive buffer that it changes, are told on standard error when the "
            "operation is completed, with the lines, and buffers that two pending "
            "operations share when the second one is posted. Takes time and memory for "
            "all that is sent and received by requests.",
    },
    {
        .name = "BCS_REFEREE_LINT",
        .fallback = "off",
        .kind = BCS_CONFIG_CHOICE,
        .choices = switch_choices,
        FIELD(lint),
        .help =
            "on: the end of MPI_Finalize tells on standard error what is left of the "
            "program's: messages that nobody has received, requests, communicators, "
            "groups, datatypes, operations, and where they were made; and collectives "
            "that "
            "members have not called alike. bcsrun --lint "
            "sets it.",
    },
    {
        .name = "BCS_SPIN",
        .fallback = "0ns",
        .kind = BCS_CONFIG_DURATION_NS,
        FIELD(spin_ns),
        .maximum = 1000000000u,
        .help = "How long a waiting process polls before it sleeps, while there are no "
                "more processes than cores. After the first 50 us it offers its core "
                "to others between polls. 0ns: 100 ms; 1ns: it sleeps at once.",
    },
    {
        .name = "BCS_DEFER",
        .fallback = "0",
        .kind = BCS_CONFIG_COUNT,
        FIELD(defer),
        .maximum = 1u << 30,
        .is_for_tests = true,
        .help =
            "For developers; only in builds with tests. Other than 0: what nodes put "
            "to each other is kept back, as long as the contract of the core "
            "primitives allows; how long, this seed decides.",
    },
    {
        .name = "BCS_FAR",
        .fallback = "0",
        .kind = BCS_CONFIG_COUNT,
        FIELD(far),
        .maximum = 1u << 16,
        .is_for_tests = true,
        .help =
            "For developers; only in builds with tests. Other than 0: the nodes of the "
            "job are dealt to so many machines, in order, all played on this one. A "
            "process reaches the nodes of other machines by the core primitives alone.",
    },
    {
        .name = "BCS_FAR_MAP",
        .fallback = "block",
        .kind = BCS_CONFIG_CHOICE,
        .choices = far_map_choices,
        FIELD(far_map),
        .is_for_tests = true,
        .help =
            "For developers; only in builds with tests. How ranks are dealt to the "
            "machines of BCS_FAR. block: those of a machine follow each other; cyclic: "
            "one to each machine in turn; uneven: to each machine another number, "
            "which do not follow each other; falling: as block, but the ranks of a "
            "machine, also of the only one, have its ports backwards.",
    },
    {
        .name = "BCS_FAR_NETWORK",
        .fallback = "memory",
        .kind = BCS_CONFIG_CHOICE,
        .choices = far_network_choices,
        FIELD(far_network),
        .is_for_tests = true,
        .help =
            "For developers; only in builds with tests. How the machines of BCS_FAR "
            "reach each other. memory: by memory that the transport alone has mapped; "
            "ucx: over UCX, as machines do that are not played.",
    },
    {
        .name = "BCS_LIMITS",
        .fallback = "usual",
        .kind = BCS_CONFIG_LIMITS,
        FIELD(limits),
        .is_for_tests = true,
        .help = "For developers; only in builds with tests. Sizes of the queues and "
                "tables inside. least: each the least that is legal, except those that "
                "bound what a program may do (kept_sends, requests); then single ones.",
    },
};

const struct bcs_config_table nic_config_table = {
    .module = "nic",
    .entries = entries,
    .n_entries = sizeof(entries) / sizeof(entries[0]),
};

uint64_t nic_config_digest(const struct nic_config *config)
{
    struct nic_config compared = *config;
    /* all fields, without what may follow for alignment */
    unsigned char bytes[offsetof(struct nic_config, limits) + sizeof(compared.limits)];
    uint64_t digest;

    compared.spin_ns = 0;
    compared.record.metrics = 0;
    compared.record.places = NULL;
    memcpy(bytes, &compared, sizeof(bytes));
    digest = bcs_digest_add(BCS_DIGEST_OF_NOTHING, bytes, sizeof(bytes));
    return bcs_digest_add(digest, &compared.record, sizeof(compared.record));
}

const char *nic_config_transport(const struct nic_config *config, bool has_far)
{
    bool is_played = nic_config_plays_machines(config);

    if (has_far && (!is_played || config->far_network == NIC_FAR_UCX)) {
        return "ucx";
    }
    return config->defer != 0 ? "shm-defer" : "shm";
}

/** Machines that the nodes of a job are dealt to. */
static uint32_t n_machines(const struct nic_config *config)
{
    return config->far > 1 ? (uint32_t)config->far : 1;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t nic_config_node_ranks(const struct nic_config *config, uint32_t n_ports)
{
    return config->node_ranks > 0 ? smaller((uint32_t)config->node_ranks, n_ports)
                                  : n_ports;
}

bool nic_config_plays_machines(const struct nic_config *config)
{
    return config->far > 1 || config->far_map == NIC_FAR_FALLING;
}

/** The machine of a rank if whole nodes are dealt, in order. */
static uint32_t block_machine(const struct nic_config *config, uint32_t n_ranks,
                              uint32_t rank)
{
    uint32_t most = (n_ranks - 1) / n_machines(config) + 1; /* a node is on one */
    uint32_t node_ranks = nic_config_node_ranks(config, most);
    uint32_t n_nodes = (n_ranks - 1) / node_ranks + 1;
    uint32_t n_a_machine = (n_nodes - 1) / n_machines(config) + 1;

    return rank / node_ranks / n_a_machine;
}

uint32_t nic_config_machine(const struct nic_config *config, uint32_t n_ranks,
                            uint32_t rank)
{
    switch ((enum nic_far_map)config->far_map) {
    case NIC_FAR_CYCLIC:
        return rank % n_machines(config);
    case NIC_FAR_UNEVEN:
        /* half of the ranks, a quarter, an eighth, ... */
        return (uint32_t)__builtin_ctz(rank + 1) % n_machines(config);
    default:
        return block_machine(config, n_ranks, rank);
    }
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t nic_config_chunk_bytes(const struct nic_config *config)
{
    uint64_t n_bytes = config->chunk_bytes;

    if (n_bytes == 0) {
        n_bytes = config->strobe == NIC_STROBE_TIMED ? nic_config_slice_bytes(config)
                                                     : (uint64_t)4 << 20;
    }
    return larger(n_bytes, config->eager_limit_bytes);
}

uint64_t nic_config_spin_ns(const struct nic_config *config, uint64_t usual_ns)
{
    return config->spin_ns > 0 ? config->spin_ns : usual_ns;
}

uint64_t nic_config_slice_bytes(const struct nic_config *config)
{
    if (config->slice_bytes > 0) {
        return config->slice_bytes;
    }
    return config->strobe == NIC_STROBE_TIMED ? 2 * config->slice_ns
                                              : (uint64_t)16 << 20;
}
