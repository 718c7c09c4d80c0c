/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC engine's variables, read once at start and then passed down as a const
 * struct.
 */
#ifndef NIC_THREADS_NIC_CONFIG_H
#define NIC_THREADS_NIC_CONFIG_H

#include "libbcs/fabric/base/config.h"
#include "libbcs/fabric/base/limits.h"

enum nic_copy { NIC_COPY_AUTO, NIC_COPY_DIRECT, NIC_COPY_POOLED };
enum nic_buffering { NIC_BUFFERING_EAGER, NIC_BUFFERING_NONE };
enum nic_driver_kind { NIC_DRIVER_INLINE, NIC_DRIVER_THREADS };
enum nic_referee_mode {
    NIC_REFEREE_ABORT,
    NIC_REFEREE_REPORT,
    NIC_REFEREE_HOLD,
    NIC_REFEREE_OFF
};
enum nic_strobe_mode { NIC_STROBE_DEMAND, NIC_STROBE_TIMED };

/** What is recorded of slices (nic_threads/node/monitor.h) and of posts. All zero:
 *  nothing. */
struct nic_record_config {
    uint64_t
        n_spans; /* in each of two halves of a desk's; even; 0: nothing is recorded */
    uint64_t first;      /* slices from this number on, */
    uint64_t n_slices;   /* and so many; 0: all */
    uint64_t metrics;    /* bits, by enum bcs_metric; of the process's own node */
    uint64_t has_stamps; /* what is posted has stamps (libbcs/fabric/base/stamp.h) */
    /* Where, of each node and then of the strobe sender: bcs_recorders_of_node times
     * nic_monitor_bytes of zeros, which all processes share; NULL: in NIC memory. They
     * stay the caller's, until the process has detached. NULL: all in NIC memory. */
    char *const *places;
};

/** How the ranks of a job are dealt to the machines that are played. */
enum nic_far_map {
    NIC_FAR_BLOCK,  /* those of a machine follow each other */
    NIC_FAR_CYCLIC, /* one to each machine, and so on */
    NIC_FAR_UNEVEN, /* to each machine another number, which do not follow each other */
    NIC_FAR_FALLING /* as block, but each machine's ranks have its ports backwards */
};

/** How machines that are played reach each other. */
enum nic_far_network { NIC_FAR_MEMORY, NIC_FAR_UCX };

/** Values of nic_config_table; all fields as bcs_config_read stores them, unless it
 *  says otherwise. All but spin_ns, record.metrics, record.places and place_skip are
 *  the same in all processes of a job. */
struct nic_config {
    uint64_t node_ranks; /* 0: all ranks of the machine in one node */
    uint64_t strobe;     /* enum nic_strobe_mode */
    uint64_t driver;     /* enum nic_driver_kind */
    uint64_t slice_ns;
    uint64_t copy;      /* enum nic_copy */
    uint64_t buffering; /* enum nic_buffering */
    uint64_t eager_limit_bytes;
    uint64_t chunk_bytes; /* 0: see nic_config_chunk_bytes */
    uint64_t slice_bytes; /* 0: see nic_config_slice_bytes */
    uint64_t descriptors;
    uint64_t communicators;
    uint64_t referee;     /* enum nic_referee_mode */
    uint64_t watch;       /* 1: buffers of pending operations are watched */
    uint64_t lint;        /* 1: MPI_Finalize tells what was not given back */
    uint64_t spin_ns;     /* 0: as usual, see nic_config_spin_ns */
    uint64_t defer;       /* 0: nothing is late; else by this seed */
    uint64_t far;         /* machines that are played on this one; 0: none */
    uint64_t far_map;     /* enum nic_far_map */
    uint64_t far_network; /* enum nic_far_network */
    struct bcs_limits limits;
    struct nic_record_config
        record; /* of no variable of this table: who reads it sets it */
    char place_skip[BCS_CONFIG_TEXT_BYTES]; /* files of code that are not the program's
                                               own, see NIC_PLACE_SKIP_FORM */
};

/* What is skipped to find a line of the program's own, beside the MPI library and its
 * bindings: those of other languages, and what is built upon MPI. */
#define NIC_PLACE_SKIP_USUAL                                                           \
    "libopen-*,libpetsc*,libslepc*,libhdf5*,libnetcdf*,libpnetcdf*,"                   \
    "libboost_mpi*,libscalapack*,libgomp*,libstdc++*,libpthread*,libffi*,_ctypes*,"    \
    "python3*,libpython3*,/mpi4py/,/petsc4py/,/slepc4py/,/h5py/"
#define NIC_PLACE_SKIP_FORM                                                            \
    "patterns of files, and of /folders/, with commas; a + before them adds them to "  \
    "the default"

extern const struct bcs_config_table nic_config_table;

/** A number that is the same for equal settings, and almost always another for others;
 *  spin_ns, record.metrics, record.places and place_skip do not count. */
uint64_t nic_config_digest(const struct nic_config *config);

/** How many ports a node has of a job with so many. */
uint32_t nic_config_node_ranks(const struct nic_config *config, uint32_t n_ports);

/** Whether ranks are dealt otherwise than by where their processes are: machines are
 *  played on this one, or ports have another order. */
bool nic_config_plays_machines(const struct nic_config *config);

/** The number of the machine that is played for a rank of a job of n_ranks; less than
 *  n_ranks. */
uint32_t nic_config_machine(const struct nic_config *config, uint32_t n_ranks,
                            uint32_t rank);

/** How much of one message moves in one slice. What lies in an eager block goes in one
 *  piece, so that it is that much at least. */
uint64_t nic_config_chunk_bytes(const struct nic_config *config);

/** How much of all long messages of a node moves in one slice. */
uint64_t nic_config_slice_bytes(const struct nic_config *config);

/** The name of the transport between nodes. @param has_far  some are on another
 *  machine, or on one that is played */
const char *nic_config_transport(const struct nic_config *config, bool has_far);

/** How long a waiter polls before it sleeps: what BCS_SPIN says, or else usual_ns. */
uint64_t nic_config_spin_ns(const struct nic_config *config, uint64_t usual_ns);

#endif
