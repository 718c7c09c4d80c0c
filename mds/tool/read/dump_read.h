/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading files of the MDS (mds/dump.h). They may be damaged, cut off or somebody
 * else's: all that they say is checked before it is used.
 */
#ifndef MDS_TOOL_READ_DUMP_READ_H
#define MDS_TOOL_READ_DUMP_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "mds/dump.h"

/** The records of a section. */
struct dump_records {
    const char *data;
    uint32_t n;
    uint32_t record_bytes; /* may be more than is known here */
};

/** Sections of a file that are read when they are needed; see dump_later.h. */
struct dump_later {
    char *path; /* of the file; NULL: there is nothing to read */
    struct mds_dump_section events, messages;
    char *bytes; /* of both; NULL: they were not read */
};

/** A process's file. */
struct dump_file {
    char *data; /* all of it, but what is read later */
    size_t n_bytes;
    struct dump_later later;
    struct mds_dump_process process;
    struct dump_records periods, calls, buckets, peers, names;
    struct dump_records comms, modules, sites, now, events, messages,
        phases; /* empty in files of earlier versions */
};

enum { DUMP_ERROR_BYTES = 4096 };

/**
 * Take the bytes of a process's file. Every offset, number and name in it is then
 * within its bounds.
 *
 * @param path       what errors name
 * @param data       for free; the file's from now on, in any case
 * @param error_out  receives a line that says what is wrong with it
 * @return 0   end with dump_file_fini
 * @return <0  it cannot be used
 */
int dump_file_take(const char *path, char *data, size_t n_bytes,
                   struct dump_file *file_out, char error_out[DUMP_ERROR_BYTES]);

/** Take the bytes of what is read later: events, and then messages. @return NULL; the
 *  name of a section that is not sound */
const char *dump_take_events(struct dump_file *file, const char *bytes);

/** What came of looking for a section. */
enum dump_found { DUMP_FOUND, DUMP_MISSING, DUMP_DAMAGED };

/** Check header and directory of a file that has been read. @return 0; <0: error_out
 *  says what is wrong */
int dump_check_header(const char *data, size_t n_bytes, const char *path,
                      char error_out[DUMP_ERROR_BYTES]);

/** Whether a file says that it is about that. */
bool dump_is_about(const char *data, size_t n_bytes, enum mds_dump_kind kind);

/** Find a section of a file whose header is sound. @param record_bytes of a record, at
 *  least */
enum dump_found dump_find_section(const char *data, size_t n_bytes, const char *name,
                                  uint32_t record_bytes,
                                  struct dump_records *records_out);

/** Read a record, or what a file of an earlier version has of it; the rest is zero. */
void dump_read_record(const struct dump_records *records, uint32_t i, void *record_out,
                      size_t n_bytes);

/** Whether a text is ASCII that may be printed anywhere. */
bool dump_is_plain(const char *text);

/** Write what is wrong, as one line. @return -EINVAL */
int dump_refuse(char error_out[DUMP_ERROR_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Free what was read. Accepts a zeroed file. */
void dump_file_fini(struct dump_file *file);

/** The i-th record of "periods". */
struct mds_dump_call dump_period(const struct dump_file *file, uint32_t i);

/** The i-th record of "calls". */
struct mds_dump_call dump_call(const struct dump_file *file, uint32_t i);

/** The i-th record of "buckets". */
struct mds_dump_bucket dump_bucket(const struct dump_file *file, uint32_t i);

/** The i-th record of "peers". */
struct mds_dump_peer dump_peer(const struct dump_file *file, uint32_t i);

/** The i-th record of "comms". */
struct mds_dump_comm dump_comm(const struct dump_file *file, uint32_t i);

/** The i-th record of "modules". */
struct mds_dump_module dump_module(const struct dump_file *file, uint32_t i);

/** Its build id, in the file's bytes. */
const uint8_t *dump_module_id(const struct dump_file *file, uint32_t i);

/** The i-th record of "sites". */
struct mds_dump_site dump_site(const struct dump_file *file, uint32_t i);

/** The record of "now", if there is one. */
struct mds_dump_now dump_now(const struct dump_file *file, uint32_t i);

/** The i-th record of "events". */
struct mds_dump_event dump_event(const struct dump_file *file, uint32_t i);

/** The i-th record of "messages". */
struct mds_dump_message dump_message(const struct dump_file *file, uint32_t i);

/** The i-th record of "phases". */
struct mds_dump_phase dump_phase(const struct dump_file *file, uint32_t i);

/** The text at an offset of "names". */
static inline const char *dump_name(const struct dump_file *file, uint32_t offset)
{
    return file->names.data + offset;
}

/**
 * Read a whole file into memory, and a zero behind it.
 *
 * @return 0   *data_out is for free
 * @return <0  error_out says why not
 */
int dump_read_all(const char *path, char **data_out, size_t *n_bytes_out,
                  char error_out[DUMP_ERROR_BYTES]);

#endif
