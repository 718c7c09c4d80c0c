/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An archive of the Open Trace Format 2 that is being written: what export_otf2.c,
 * which writes events, and otf2_define.c, which writes what these refer to, share.
 */
#ifndef MDS_TOOL_EXPORT_OTF2_ARCHIVE_H
#define MDS_TOOL_EXPORT_OTF2_ARCHIVE_H

#include <otf2/otf2.h>

#include "mds/source/place.h"
#include "mds/tool/analysis/comm_read.h"
#include "mds/tool/analysis/timeline.h"

/** A communicator of the run. */
struct otf2_comm {
    const struct comm *comm;
    uint64_t *files; /* [n] numbers of the ranks that have used it, in their order */
    uint32_t n;
};

/** A lane of a rank, whose calls follow each other. */
struct otf2_location {
    uint64_t n; /* events that were written of it */
    bool is_used;
};

/** Such an archive. */
struct otf2_archive {
    const struct run *run;
    uint64_t length_ns; /* of the longest rank's so far */
    struct places *places;
    OTF2_Archive *handle;
    OTF2_GlobalDefWriter *definitions;
    OTF2_EvtWriter **writers;        /* [n_lanes] of that rank; NULL: none yet */
    struct otf2_location *locations; /* [n_lanes * n_files], of lane 0 first */
    uint32_t n_lanes;                /* of the rank that has most, at least 1 */
    OTF2_AttributeList *attributes;
    struct comm *comms;
    struct otf2_comm *members; /* [n_comms] by the communicators' ids */
    size_t n_comms;
    OTF2_StringRef **sites; /* [n_files][sites] the words for places that were needed */
    OTF2_StringRef n_strings;
    bool *has_messages;    /* [run->n_names] whether calls of the primitive have some */
    OTF2_ErrorCode status; /* of the first call that has failed */
    bool has_no_memory;
    char reason[512]; /* as the library tells it, */
    int error;        /* and errno, then */
};

/** The attribute of a call that tells its place. */
enum { OTF2_ARCHIVE_PLACE = 0 };

/** A blocking collective. */
struct otf2_collective {
    const char *primitive;
    OTF2_CollectiveOp op;
    OTF2_RegionRole role;
};

/** What a primitive is. @return NULL: no blocking collective that the format knows */
const struct otf2_collective *otf2_collective_of(const char *primitive);

/** Keep a failure, if it is the first. */
static inline void otf2_note(struct otf2_archive *archive, OTF2_ErrorCode status)
{
    if (archive->status == OTF2_SUCCESS) {
        archive->status = status;
    }
}

/** Write a text, any bytes. @return its number */
OTF2_StringRef otf2_define_string(struct otf2_archive *archive, const char *text);

/** Find the communicators and who has used them. */
void otf2_find_comms(struct otf2_archive *archive);

/** Free what otf2_find_comms has made. Accepts zeros. */
void otf2_forget_comms(struct otf2_archive *archive);

/** The number of a communicator. @return n_comms: it is none of them */
size_t otf2_comm_number(const struct otf2_archive *archive, uint64_t id);

/** Write all that events refer to but texts. After the events. */
void otf2_define(struct otf2_archive *archive);

#endif
