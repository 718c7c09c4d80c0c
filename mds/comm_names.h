/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was recorded by communicator: a table of fixed size, whose entries are given out
 * in the order of first use. Whoever records keeps the number of an entry with the
 * communicator. Under the collection's lock.
 */
#ifndef MDS_COMM_NAMES_H
#define MDS_COMM_NAMES_H

#include <stdint.h>

/** Entries of the table. The last one is of all communicators that found none of their
 *  own. */
enum { MDS_COMMS = 512, MDS_COMM_NAME_BYTES = 64 };

/** Messages and collectives of one communicator, of the program's own calls. */
struct mds_comm {
    uint64_t
        id; /* the same on all members, of no other one in the job; 0: of several */
    uint32_t n_ranks; /* members */
    char name[MDS_COMM_NAME_BYTES];
    uint64_t n_sent, sent_bytes;
    uint64_t n_received, received_bytes;
    uint64_t n_collectives, collective_bytes; /* a call's bytes as of mds_size_add */
};

/** All of a process. Zeroed at first. */
struct mds_comms {
    uint32_t n_used;
    struct mds_comm table[MDS_COMMS];
};

/** Give an entry out. @return its number */
static inline uint32_t mds_comms_take(struct mds_comms *comms, uint64_t id,
                                      uint32_t n_ranks)
{
    if (comms->n_used >= MDS_COMMS - 1) {
        comms->n_used = MDS_COMMS;
        return MDS_COMMS - 1;
    }
    comms->table[comms->n_used] = (struct mds_comm){.id = id, .n_ranks = n_ranks};
    return comms->n_used++;
}

#endif
