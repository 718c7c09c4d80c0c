/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds export --format chrome: the events in the form of Chrome's trace viewer,
 * which Perfetto reads, too: an object with an array of events, of an object for each,
 * which Jansson writes. A rank is a process there. The events of one rank are in memory
 * at a time. One thread.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/timeline.h"
#include "mds/tool/export/export.h"
#include "mds/tool/read/text.h"

/** Write one event, and forget it. @return 0 or -errno */
static int write_object(FILE *file, const char *before, json_t *object)
{
    int status;

    if (object == NULL) {
        return -ENOMEM;
    }
    errno = 0;
    fputs(before, file);
    status = json_dumpf(object, file, JSON_COMPACT);
    json_decref(object);
    if (status < 0 || ferror(file)) { /* it does not tell of all that fails */
        return errno != 0 ? -errno : -EIO;
    }
    return 0;
}

/** The name of a rank's row. */
static json_t *row_of(const struct dump_file *file)
{
    char name[128];

    snprintf(name, sizeof(name), "rank %u on %s", file->process.rank,
             file->process.host);
    return json_pack("{s:s, s:s, s:I, s:{s:s}}", "name", "process_name", "ph", "M",
                     "pid", (json_int_t)file->process.rank, "args", "name", name);
}

/** A text of others, if it is there, in an object. @return whether there was memory */
static bool add_text(json_t *object, const char *key, const char *text)
{
    char *plain;
    bool is_added;

    if (text == NULL) {
        return true;
    }
    plain = text_utf8(text, strlen(text));
    is_added =
        plain != NULL && json_object_set_new(object, key, json_string(plain)) == 0;
    free(plain);
    return is_added;
}

/** What is to be told of an event besides its time. @return NULL: no memory */
static json_t *details_of(const struct moment *moment, struct places *places)
{
    const struct mds_dump_event *event = &moment->event;
    char *place = moment_place(moment, places);
    json_t *details = json_pack("{s:I, s:I}", "bytes", (json_int_t)event->n_bytes,
                                "messages", (json_int_t)event->n_messages);
    bool is_whole = place != NULL && details != NULL &&
                    add_text(details, "communicator", moment_comm(moment)) &&
                    add_text(details, "place", place);

    if (is_whole && event->n_messages == 1) {
        is_whole =
            json_object_set_new(details, "with", json_integer(event->peer)) == 0 &&
            json_object_set_new(details, "tag", json_integer(event->tag)) == 0;
    }
    if (is_whole && event->slice > 0) {
        is_whole =
            json_object_set_new(details, "slice",
                                json_integer((json_int_t)event->slice)) == 0 &&
            json_object_set_new(details, "slices", json_integer(event->n_slices)) == 0;
    }
    free(place);
    if (!is_whole) {
        json_decref(details);
        return NULL;
    }
    return details;
}

/** An event that has a begin and a length, in microseconds. @return NULL: no memory */
static json_t *event_of(const struct moment *moment, struct places *places)
{
    const struct mds_dump_event *event = &moment->event;
    bool is_blocking =
        dump_call(moment->file, event->call).timing == (uint32_t)MDS_BLOCKING;
    json_t *details = details_of(moment, places);

    return details == NULL ? NULL
                           : json_pack("{s:s, s:s, s:s, s:f, s:f, s:I, s:I, s:o}",
                                       "name", moment_call(moment), "cat",
                                       is_blocking ? "blocking" : "nonblocking", "ph",
                                       "X", "ts", (double)moment->begin_ns / 1e3, "dur",
                                       (double)(event->end - event->begin) / 1e3, "pid",
                                       (json_int_t)moment->file->process.rank, "tid",
                                       (json_int_t)moment->lane, "args", details);
}

/** The names of all ranks' rows. @return 0 or -errno */
static int write_rows(const struct run *run, FILE *file)
{
    const char *before = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n ";
    int rc = 0;

    for (uint32_t i = 0; i < run->n_files && rc == 0; i++) {
        rc = write_object(file, before, row_of(&run->files[i]));
        before = ",\n ";
    }
    return rc;
}

/** The events of the i-th rank. @return 0; <0: error_out says why not */
static int write_rank(const struct run *run, uint32_t i, struct places *places,
                      struct output *output, char error_out[DUMP_ERROR_BYTES])
{
    struct timeline timeline;
    int rc = export_timeline(run, i, output, &timeline, error_out), written = 0;

    if (rc < 0) {
        return rc;
    }
    for (size_t j = 0; j < timeline.n && written == 0; j++) {
        written =
            write_object(output->file, ",\n ", event_of(&timeline.moments[j], places));
    }
    export_timeline_end(run, i, &timeline);
    return written < 0 ? output_refuse(output, written, error_out) : 0;
}

/** @return 0; <0: error_out says why not */
static int write_all(const struct run *run, struct places *places,
                     struct output *output, char error_out[DUMP_ERROR_BYTES])
{
    int rc = write_rows(run, output->file);

    if (rc < 0) {
        return output_refuse(output, rc, error_out);
    }
    for (uint32_t i = 0; i < run->n_files && rc == 0; i++) {
        rc = write_rank(run, i, places, output, error_out);
    }
    if (rc == 0 && fputs("\n]}\n", output->file) < 0) {
        rc = output_refuse(output, -errno, error_out);
    }
    return rc;
}

int export_chrome(const struct run *run, struct output *output,
                  char error_out[DUMP_ERROR_BYTES])
{
    struct places *places;
    int rc = export_check_events(run, error_out);

    if (rc < 0) {
        return rc;
    }
    places = place_open(PLACE_PATIENT_NS);
    rc = places == NULL ? output_refuse(output, -ENOMEM, error_out)
                        : write_all(run, places, output, error_out);
    place_close(places);
    return rc;
}
