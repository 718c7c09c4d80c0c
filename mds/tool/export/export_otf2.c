/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds export --format otf2: the events as an archive of the Open Trace Format 2,
 * which Vampir and Scalasca read, by its library. A rank is a group of locations there,
 * and each of its threads that was in MPI at the same time as another one a location. A
 * call is a region with its place as an attribute; what it sends stands at its begin,
 * what has arrived in it at its end. A communicator has the ranks that have used it, in
 * the order of the job. One thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mds/events.h"
#include "mds/tool/analysis/site.h"
#include "mds/tool/export/export.h"
#include "mds/tool/export/otf2_archive.h"

enum { CHUNK_BYTES = 256 << 10 }; /* of a location, in memory */

/** The library has found something wrong: keep it, do not print it. */
static OTF2_ErrorCode take_reason(void *state, const char *file, uint64_t line,
                                  const char *function, OTF2_ErrorCode code,
                                  const char *format, va_list values)
{
    struct otf2_archive *archive = state;
    int error = errno;

    (void)file;
    (void)line;
    (void)function;
    if (archive->reason[0] == '\0') {
        archive->error = error;
        vsnprintf(archive->reason, sizeof(archive->reason), format, values);
    }
    return code;
}

/** Full memory of a location may be written. */
static OTF2_FlushType agree(void *state, OTF2_FileType type, OTF2_LocationRef location,
                            void *caller, bool is_final)
{
    (void)state;
    (void)type;
    (void)location;
    (void)caller;
    (void)is_final;
    return OTF2_FLUSH;
}

/** The words for the place of a call. @return their number */
static OTF2_StringRef place_of(struct otf2_archive *archive,
                               const struct moment *moment)
{
    uint32_t number = run_file_number(archive->run, moment->file);
    OTF2_StringRef *place = &archive->sites[number][moment->event.site];

    if (*place == OTF2_UNDEFINED_STRING) {
        char *words = moment_place(moment, archive->places);

        archive->has_no_memory |= words == NULL;
        *place = otf2_define_string(archive, words == NULL ? "" : words);
        free(words);
    }
    return *place;
}

/** Where a rank of the job stands in a communicator. @return its n: nowhere */
static uint32_t rank_in(const struct otf2_archive *archive,
                        const struct otf2_comm *comm, int32_t rank)
{
    uint32_t low = 0, high = comm->n;

    while (low < high) { /* files are in the order of ranks */
        uint32_t middle = low + (high - low) / 2;
        int64_t its = archive->run->files[comm->files[middle]].process.rank;

        if (its == rank) {
            return middle;
        }
        if (its < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return comm->n;
}

/** Messages of a call that were sent, or those that have arrived. One whose other end
 *  has no file cannot be told. */
static void write_messages(struct otf2_archive *archive, OTF2_EvtWriter *writer,
                           const struct moment *moment, uint32_t kind)
{
    struct moment_messages at = {.moment = moment};
    struct mds_dump_message message;

    while (moment_next_message(&at, &message)) {
        size_t number = otf2_comm_number(archive, moment_comm_id(moment, message.comm));
        const struct otf2_comm *comm = &archive->members[number];
        uint32_t peer =
            number < archive->n_comms ? rank_in(archive, comm, message.peer) : comm->n;

        if ((message.kind & kind) == 0 || peer == comm->n) {
            continue;
        }
        otf2_note(archive,
                  kind == MDS_EVENT_SENT
                      ? OTF2_EvtWriter_MpiSend(writer, NULL, moment->begin_ns, peer,
                                               (OTF2_CommRef)number,
                                               (uint32_t)message.tag, message.n_bytes)
                      : OTF2_EvtWriter_MpiRecv(writer, NULL, moment_end_ns(moment),
                                               peer, (OTF2_CommRef)number,
                                               (uint32_t)message.tag, message.n_bytes));
    }
}

/** A blocking collective, from begin to end. The root is not known. */
static void write_collective(struct otf2_archive *archive, OTF2_EvtWriter *writer,
                             const struct moment *moment)
{
    const struct otf2_collective *collective = otf2_collective_of(moment_call(moment));
    size_t number =
        otf2_comm_number(archive, moment_comm_id(moment, moment->event.comm));

    if ((moment->event.kind & MDS_EVENT_COLLECTIVE) == 0 || collective == NULL ||
        number == archive->n_comms) {
        return;
    }
    otf2_note(archive,
              OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, moment->begin_ns));
    otf2_note(archive, OTF2_EvtWriter_MpiCollectiveEnd(
                           writer, NULL, moment_end_ns(moment), collective->op,
                           (OTF2_CommRef)number, OTF2_COLLECTIVE_ROOT_NONE,
                           moment->event.n_bytes, 0));
}

/** The writer of a lane of a rank, from now on at the latest. @return NULL: failed,
 *  which is noted */
static OTF2_EvtWriter *writer_of(struct otf2_archive *archive, uint32_t number,
                                 uint32_t lane)
{
    uint32_t location = lane * archive->run->n_files + number;
    OTF2_EvtWriter **writer = &archive->writers[lane];

    if (*writer == NULL) {
        *writer = OTF2_Archive_GetEvtWriter(archive->handle, location);
        archive->locations[location].is_used = true;
    }
    if (*writer == NULL) {
        otf2_note(archive, OTF2_ERROR_INVALID);
    }
    return *writer;
}

static void write_moment(struct otf2_archive *archive, const struct moment *moment)
{
    uint32_t number = run_file_number(archive->run, moment->file);
    OTF2_RegionRef region = run_find_name(archive->run, moment_call(moment));
    OTF2_EvtWriter *writer = writer_of(archive, number, moment->lane);
    uint64_t end = moment_end_ns(moment);

    if (writer == NULL) {
        return;
    }
    archive->length_ns = end > archive->length_ns ? end : archive->length_ns;
    archive->has_messages[region] |= moment->event.n_messages > 0;
    otf2_note(archive,
              OTF2_AttributeList_AddStringRef(archive->attributes, OTF2_ARCHIVE_PLACE,
                                              place_of(archive, moment)));
    otf2_note(archive, OTF2_EvtWriter_Enter(writer, archive->attributes,
                                            moment->begin_ns, region));
    write_messages(archive, writer, moment, MDS_EVENT_SENT);
    write_collective(archive, writer, moment);
    write_messages(archive, writer, moment, MDS_EVENT_RECEIVED);
    otf2_note(archive, OTF2_EvtWriter_Leave(writer, NULL, end, region));
}

/** Make room for so many lanes. @return false: no memory, which is noted */
static bool make_lanes(struct otf2_archive *archive, uint32_t n_lanes)
{
    size_t n_files = archive->run->n_files, n_before = archive->n_lanes * n_files;
    OTF2_EvtWriter **writers;
    struct otf2_location *locations;

    if (n_lanes <= archive->n_lanes) {
        return true;
    }
    writers = realloc(archive->writers, n_lanes * sizeof(*writers));
    archive->writers = writers == NULL ? archive->writers : writers;
    locations = realloc(archive->locations, n_lanes * n_files * sizeof(*locations));
    archive->locations = locations == NULL ? archive->locations : locations;
    if (writers == NULL || locations == NULL) {
        archive->has_no_memory = true;
        return false;
    }
    for (uint32_t i = archive->n_lanes; i < n_lanes; i++) {
        writers[i] = NULL;
    }
    memset(locations + n_before, 0,
           (n_lanes * n_files - n_before) * sizeof(*locations));
    archive->n_lanes = n_lanes;
    return true;
}

/** The rank is through: nothing of it stays in memory. */
static void close_writers(struct otf2_archive *archive, uint32_t number)
{
    for (uint32_t i = 0; i < archive->n_lanes; i++) {
        size_t location = (size_t)i * archive->run->n_files + number;

        if (archive->writers[i] != NULL) {
            otf2_note(archive,
                      OTF2_EvtWriter_GetNumberOfEvents(
                          archive->writers[i], &archive->locations[location].n));
            otf2_note(archive, OTF2_Archive_CloseEvtWriter(archive->handle,
                                                           archive->writers[i]));
            archive->writers[i] = NULL;
        }
    }
}

/** Write the events of a rank; of one that has none that there is the rank. @return 0;
 *  <0: error_out says why they cannot be had */
static int write_rank(struct otf2_archive *archive, uint32_t number,
                      const struct output *output, char error_out[DUMP_ERROR_BYTES])
{
    struct timeline timeline;
    int rc = export_timeline(archive->run, number, output, &timeline, error_out);

    if (rc < 0) {
        return rc;
    }
    if (make_lanes(archive, timeline.n_lanes)) {
        writer_of(archive, number, 0);
        for (size_t i = 0; i < timeline.n && archive->status == OTF2_SUCCESS; i++) {
            write_moment(archive, &timeline.moments[i]);
        }
        close_writers(archive, number);
    }
    export_timeline_end(archive->run, number, &timeline);
    return 0;
}

/** The definitions of single locations, which the format wants to be there. */
static void write_no_local(struct otf2_archive *archive)
{
    uint32_t n = archive->n_lanes * archive->run->n_files;

    otf2_note(archive, OTF2_Archive_OpenDefFiles(archive->handle));
    for (uint32_t i = 0; i < n; i++) {
        if (archive->locations[i].is_used) {
            OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(archive->handle, i);

            otf2_note(archive, writer == NULL ? OTF2_ERROR_INVALID
                                              : OTF2_Archive_CloseDefWriter(
                                                    archive->handle, writer));
        }
    }
    otf2_note(archive, OTF2_Archive_CloseDefFiles(archive->handle));
}

/** @return 0, also if the library has failed, which is noted; <0: error_out says what
 *  has */
static int write_all(struct otf2_archive *archive, const struct output *output,
                     char error_out[DUMP_ERROR_BYTES])
{
    const OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = agree};
    int rc = 0;

    otf2_note(archive,
              OTF2_Archive_SetFlushCallbacks(archive->handle, &callbacks, NULL));
    otf2_note(archive, OTF2_Archive_SetSerialCollectiveCallbacks(archive->handle));
    otf2_note(archive, OTF2_Archive_SetCreator(archive->handle, "bcs-mds"));
    otf2_note(archive, OTF2_Archive_OpenEvtFiles(archive->handle));
    archive->definitions = OTF2_Archive_GetGlobalDefWriter(archive->handle);
    if (archive->definitions == NULL) {
        otf2_note(archive, OTF2_ERROR_INVALID);
    }
    for (uint32_t i = 0; i < archive->run->n_files && rc == 0 &&
                         archive->status == OTF2_SUCCESS && !archive->has_no_memory;
         i++) {
        rc = write_rank(archive, i, output, error_out);
    }
    if (rc == 0 && archive->status == OTF2_SUCCESS && !archive->has_no_memory) {
        otf2_define(archive);
        otf2_note(archive, OTF2_Archive_CloseEvtFiles(archive->handle));
        write_no_local(archive);
    }
    return rc;
}

/** A number for each place of each rank. */
static void make_sites(struct otf2_archive *archive)
{
    uint32_t n_files = archive->run->n_files;

    archive->sites = calloc(n_files + 1, sizeof(*archive->sites));
    archive->has_no_memory |= archive->sites == NULL;
    for (uint32_t i = 0; i < n_files && !archive->has_no_memory; i++) {
        size_t n = archive->run->files[i].sites.n;

        archive->sites[i] = malloc((n + 1) * sizeof(**archive->sites));
        archive->has_no_memory |= archive->sites[i] == NULL;
        for (size_t j = 0; j < n && !archive->has_no_memory; j++) {
            archive->sites[i][j] = OTF2_UNDEFINED_STRING;
        }
    }
}

static void make(struct otf2_archive *archive)
{
    archive->places = place_open(PLACE_PATIENT_NS);
    archive->attributes = OTF2_AttributeList_New();
    archive->has_messages =
        calloc(archive->run->n_names + 1, sizeof(*archive->has_messages));
    archive->has_no_memory = archive->places == NULL || archive->attributes == NULL ||
                             archive->has_messages == NULL || !make_lanes(archive, 1);
    make_sites(archive);
    otf2_find_comms(archive);
}

static void forget(struct otf2_archive *archive)
{
    for (uint32_t i = 0; archive->sites != NULL && i < archive->run->n_files; i++) {
        free(archive->sites[i]);
    }
    free(archive->sites);
    otf2_forget_comms(archive);
    free(archive->has_messages);
    free(archive->writers);
    free(archive->locations);
    if (archive->attributes != NULL) {
        OTF2_AttributeList_Delete(archive->attributes);
    }
    place_close(archive->places);
}

/** @return 0; <0: error_out says why not */
static int write_archive(struct otf2_archive *archive, struct output *output,
                         char error_out[DUMP_ERROR_BYTES])
{
    int rc = 0;

    OTF2_Error_RegisterCallback(take_reason, archive);
    make(archive);
    if (!archive->has_no_memory) {
        archive->handle = OTF2_Archive_Open(
            output->part, "traces", OTF2_FILEMODE_WRITE, CHUNK_BYTES, 4 * CHUNK_BYTES,
            OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
        if (archive->handle == NULL) {
            otf2_note(archive, OTF2_ERROR_INVALID);
        } else {
            rc = write_all(archive, output, error_out);
            otf2_note(archive, OTF2_Archive_Close(archive->handle));
        }
    }
    forget(archive);
    OTF2_Error_RegisterCallback(NULL, NULL);
    if (rc < 0) {
        return rc;
    }
    if (archive->has_no_memory) {
        return output_refuse(output, -ENOMEM, error_out);
    }
    if (archive->status != OTF2_SUCCESS) {
        return dump_refuse(error_out, "cannot write %s: %s (OTF2: %s)", output->name,
                           archive->error != 0
                               ? strerror(archive->error)
                               : OTF2_Error_GetDescription(archive->status),
                           archive->reason);
    }
    return 0;
}

int export_otf2(const struct run *run, struct output *output,
                char error_out[DUMP_ERROR_BYTES])
{
    struct otf2_archive archive = {.run = run};
    int rc = export_check_events(run, error_out);

    return rc < 0 ? rc : write_archive(&archive, output, error_out);
}
