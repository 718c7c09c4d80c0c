/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the folder of a run: its manifest and the files of all its processes.
 */
#ifndef MDS_TOOL_READ_RUN_READ_H
#define MDS_TOOL_READ_RUN_READ_H

#include "mds/mmds.h"
#include "mds/tool/read/dump_read.h"
#include "mds/tool/read/node_read.h"

/** A run. */
struct run {
    const char *folder;
    char *manifest;                 /* its text */
    uint32_t n_ranks;               /* of the job; 0: there are files of slices only */
    uint32_t n_beginning;           /* ranks whose file has nothing in it yet */
    bool has_beginning;             /* there is such a file, of a rank or of a node */
    uint32_t n_files;               /* ranks that have a file, */
    struct dump_file *files;        /* [n_files] by rank */
    struct mmds_summary *summaries; /* [n_files] the same, primitives by names[] */
    const char *names[MDS_MAX_PRIMITIVES];
    uint32_t n_names;
    uint32_t n_nodes;        /* files about slices, */
    struct node_file *nodes; /* [n_nodes] by node, and then that of all nodes */
};

/**
 * Read a run, but for the events of ranks that have ended, which are read when they are
 * held (dump_later.h).
 *
 * @return 0   end with run_fini
 * @return <0  error_out has a line that says what is wrong
 */
int run_read(const char *folder, struct run *run_out, char error_out[DUMP_ERROR_BYTES]);

/**
 * Make a run of what has been read: folder, manifest, files and nodes, and their
 * numbers, are given, the rest is found. The files come into their order.
 *
 * @return 0 or <0 as run_read; end with run_fini in any case
 */
int run_complete(struct run *run, char error_out[DUMP_ERROR_BYTES]);

/** Take bytes as a file of a run, whatever it is about: room for it is there. @param
 *  data for free; the run's from now on, in any case @return 0 or <0 as run_read */
int run_take(struct run *run, const char *path, char *data, size_t n_bytes,
             char error_out[DUMP_ERROR_BYTES]);

/**
 * Read a file of the run's folder that was listed there: room for it is there. Of a
 * rank that has ended since, the file that it has written is read in place of the one
 * that it recorded in.
 *
 * @param name as is_file of run_read.c takes it; one with nothing in it yet is counted
 * as such
 * @return 0 or <0 as run_read
 */
int run_read_file(struct run *run, const char *name, char error_out[DUMP_ERROR_BYTES]);

/** Free what was read. Accepts a zeroed run. */
void run_fini(struct run *run);

/** The number of a primitive's name in names[]. @return n_names: it is none of them */
uint32_t run_find_name(const struct run *run, const char *name);

/** The number of a rank's file. */
static inline uint32_t run_file_number(const struct run *run,
                                       const struct dump_file *file)
{
    return (uint32_t)(file - run->files);
}

/** Ranks of the job, also of a run of which there are files of slices only. Then they
 *  are counted by node: those of a node need not follow each other. */
uint32_t run_n_ranks(const struct run *run);

/** Events of all ranks together. */
uint64_t run_n_events(const struct run *run);

/** Read the events of all ranks. @return 0 or <0 as run_read */
int run_hold_events(const struct run *run, char error_out[DUMP_ERROR_BYTES]);

/** Run times of all ranks together; of one only if rank is not -1. */
double run_total_ns(const struct run *run, int64_t rank);

/** Nanoseconds of a process's tick. */
double run_ns_per_tick(const struct dump_file *file);

#endif
