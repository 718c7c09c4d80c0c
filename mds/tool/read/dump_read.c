/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and checks files of the MDS; see dump_read.h. One thread.
 */
#include "mds/tool/read/dump_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mds/histogram.h"

int dump_refuse(char error_out[DUMP_ERROR_BYTES], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error_out, DUMP_ERROR_BYTES, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

/** Read n bytes of an open file. @return how many there were; <0: -errno */
static ssize_t read_bytes(int fd, char *data, size_t n_bytes)
{
    size_t n_done = 0;

    while (n_done < n_bytes) {
        ssize_t n = read(fd, data + n_done, n_bytes - n_done);

        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        if (n == 0) {
            break;
        }
        n_done += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)n_done;
}

/** Read an open file. */
static int read_open(int fd, const char *path, char **data_out, size_t *n_bytes_out,
                     char error_out[DUMP_ERROR_BYTES])
{
    struct stat status;
    char *data;
    ssize_t n_read;

    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
        return dump_refuse(error_out, "%s is not a file", path);
    }
    if ((uint64_t)status.st_size > MDS_DUMP_MOST_BYTES) {
        return dump_refuse(error_out,
                           "%s is too long: it has %lld bytes, the most is %" PRIu64,
                           path, (long long)status.st_size, MDS_DUMP_MOST_BYTES);
    }
    data = malloc((size_t)status.st_size + 1);
    if (data == NULL) {
        return dump_refuse(error_out, "no memory for the %lld bytes of %s",
                           (long long)status.st_size, path);
    }
    n_read = read_bytes(fd, data, (size_t)status.st_size);
    if (n_read < 0) {
        free(data);
        return dump_refuse(error_out, "cannot read %s: %s", path,
                           strerror((int)-n_read));
    }
    data[n_read] = '\0';
    *data_out = data;
    *n_bytes_out = (size_t)n_read;
    return 0;
}

int dump_read_all(const char *path, char **data_out, size_t *n_bytes_out,
                  char error_out[DUMP_ERROR_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    int rc;

    if (fd < 0) {
        return dump_refuse(error_out, "cannot open %s: %s", path, strerror(errno));
    }
    rc = read_open(fd, path, data_out, n_bytes_out, error_out);
    close(fd);
    return rc;
}

/** A section. */
struct wanted {
    const char *name;
    uint32_t record_bytes; /* at least */
    size_t offset;         /* of the member in struct dump_file */
    bool may_be_missing;   /* in files of earlier versions */
};

enum { WANTED_EVENTS, WANTED_MESSAGES }; /* numbers in it */

static const struct wanted wanted[] = {
    [WANTED_EVENTS] = {"events", offsetof(struct mds_dump_event, first_bytes),
                       offsetof(struct dump_file, events), true},
    [WANTED_MESSAGES] = {"messages", sizeof(struct mds_dump_message),
                         offsetof(struct dump_file, messages), true},
    {"periods", offsetof(struct mds_dump_call, parts),
     offsetof(struct dump_file, periods), false},
    {"calls", offsetof(struct mds_dump_call, parts), offsetof(struct dump_file, calls),
     false},
    {"buckets", sizeof(struct mds_dump_bucket), offsetof(struct dump_file, buckets),
     false},
    {"peers", offsetof(struct mds_dump_peer, late), offsetof(struct dump_file, peers),
     false},
    {"names", 1, offsetof(struct dump_file, names), false},
    {"comms", sizeof(struct mds_dump_comm), offsetof(struct dump_file, comms), true},
    {"modules", sizeof(struct mds_dump_module), offsetof(struct dump_file, modules),
     true},
    {"sites", offsetof(struct mds_dump_site, parts), offsetof(struct dump_file, sites),
     true},
    {"phases", sizeof(struct mds_dump_phase), offsetof(struct dump_file, phases), true},
    {"now", offsetof(struct mds_dump_now, words), offsetof(struct dump_file, now),
     true},
};

static const struct wanted wanted_process = {
    .name = "process",
    .record_bytes = sizeof(struct mds_dump_process),
};

/** Check what a directory's entry says of itself, and the section's bytes. */
static bool is_sound(const char *data, size_t n_bytes,
                     const struct mds_dump_section *section)
{
    return section->offset <= n_bytes &&
           section->n_bytes <= n_bytes - section->offset &&
           (uint64_t)section->n_records * section->record_bytes == section->n_bytes &&
           bcs_digest_add(BCS_DIGEST_OF_NOTHING, data + section->offset,
                          section->n_bytes) == section->digest;
}

enum dump_found dump_find_section(const char *data, size_t n_bytes, const char *name,
                                  uint32_t record_bytes,
                                  struct dump_records *records_out)
{
    struct mds_dump_header header;

    memcpy(&header, data, sizeof(header));
    for (uint32_t i = 0; i < header.n_sections; i++) {
        struct mds_dump_section section;

        memcpy(&section, data + sizeof(header) + i * sizeof(section), sizeof(section));
        if (strncmp(section.name, name, sizeof(section.name)) == 0) {
            if (!is_sound(data, n_bytes, &section) ||
                section.record_bytes < record_bytes) {
                return DUMP_DAMAGED;
            }
            *records_out = (struct dump_records){
                .data = data + section.offset,
                .n = section.n_records,
                .record_bytes = section.record_bytes,
            };
            return DUMP_FOUND;
        }
    }
    return DUMP_MISSING;
}

/** Find a section of a process's file, of which there may be none. @return false: it is
 *  not sound */
static bool find_section(const struct dump_file *file, const struct wanted *what,
                         struct dump_records *records_out)
{
    enum dump_found found = dump_find_section(file->data, file->n_bytes, what->name,
                                              what->record_bytes, records_out);

    return found == DUMP_FOUND || (found == DUMP_MISSING && what->may_be_missing);
}

bool dump_is_about(const char *data, size_t n_bytes, enum mds_dump_kind kind)
{
    struct mds_dump_header header;

    if (n_bytes < sizeof(header)) {
        return false;
    }
    memcpy(&header, data, sizeof(header));
    return header.kind == (uint32_t)kind;
}

int dump_check_header(const char *data, size_t n_bytes, const char *path,
                      char error_out[DUMP_ERROR_BYTES])
{
    struct mds_dump_header header;

    if (n_bytes < sizeof(header) ||
        memcmp(data, MDS_DUMP_MAGIC, sizeof(header.magic)) != 0) {
        return dump_refuse(error_out, "%s is not a file of the MDS", path);
    }
    memcpy(&header, data, sizeof(header));
    if (header.version != MDS_DUMP_VERSION) {
        return dump_refuse(error_out,
                           "%s has version %u, this bcs-mds reads version %u", path,
                           header.version, MDS_DUMP_VERSION);
    }
    if (header.n_bytes != n_bytes) {
        return dump_refuse(error_out,
                           "%s is cut off or longer than it was: %zu bytes of %" PRIu64,
                           path, n_bytes, header.n_bytes);
    }
    if (header.n_sections >
        (n_bytes - sizeof(header)) / sizeof(struct mds_dump_section)) {
        return dump_refuse(error_out, "%s is damaged: its directory is longer than it",
                           path);
    }
    return 0;
}

bool dump_is_plain(const char *text)
{
    while (*text >= ' ' && *text <= '~') {
        text++;
    }
    return *text == '\0';
}

static bool is_name(const struct dump_file *file, uint32_t offset)
{
    return offset < file->names.n && dump_is_plain(dump_name(file, offset));
}

static bool are_calls_sound(const struct dump_file *file)
{
    for (uint32_t i = 0; i < file->calls.n; i++) {
        if (!is_name(file, dump_call(file, i).name)) {
            return false;
        }
    }
    return file->periods.n == 2 && is_name(file, dump_period(file, 0).name) &&
           is_name(file, dump_period(file, 1).name);
}

static bool are_buckets_sound(const struct dump_file *file)
{
    uint32_t n_buckets = mds_histogram_n(file->process.histogram_bits);

    for (uint32_t i = 0; i < file->buckets.n; i++) {
        struct mds_dump_bucket bucket = dump_bucket(file, i);

        if (bucket.of > MDS_DUMP_OF_SIZE || bucket.bucket >= n_buckets ||
            (bucket.of >= MDS_DUMP_OF_LATENCY && bucket.call >= file->calls.n)) {
            return false;
        }
    }
    return true;
}

/** Whether it is the number of a record, or of none. */
static bool is_number(uint32_t number, const struct dump_records *records)
{
    return number == MDS_DUMP_NONE || number < records->n;
}

static bool are_sites_sound(const struct dump_file *file)
{
    for (uint32_t i = 0; i < file->modules.n; i++) {
        struct mds_dump_module module = dump_module(file, i);

        /* A path may have any bytes. */
        if (module.name >= file->names.n || module.id_bytes > sizeof(module.id)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < file->sites.n; i++) {
        struct mds_dump_site site = dump_site(file, i);

        if (site.call >= file->calls.n || !is_number(site.module, &file->modules) ||
            site.words > file->names.n ||
            (site.fault_ns > 0 && site.fault_rank >= file->process.n_ranks)) {
            return false;
        }
    }
    return true;
}

static bool are_comms_sound(const struct dump_file *file)
{
    for (uint32_t i = 0; i < file->comms.n; i++) {
        if (dump_comm(file, i).name >= file->names.n) { /* which may be any bytes */
            return false;
        }
    }
    return true;
}

static bool is_now_sound(const struct dump_file *file)
{
    struct mds_dump_now now;

    if (file->now.n == 0) {
        return true;
    }
    now = dump_now(file, 0);
    return file->now.n == 1 && is_number(now.call, &file->calls) &&
           is_number(now.comm, &file->comms) && is_number(now.module, &file->modules) &&
           now.words <= file->names.n && now.peer >= -1 &&
           (int64_t)now.peer < (int64_t)file->process.n_ranks;
}

static bool is_peer(const struct dump_file *file, int32_t rank)
{
    return rank >= 0 && (uint32_t)rank < file->process.n_ranks;
}

static bool are_events_sound(const struct dump_file *file)
{
    for (uint32_t i = 0; i < file->events.n; i++) {
        struct mds_dump_event event = dump_event(file, i);

        if (event.end < event.begin || event.n_slices > event.slice ||
            event.call >= file->calls.n || event.site >= file->sites.n ||
            !is_number(event.comm, &file->comms) ||
            (event.n_messages > 0 && !is_peer(file, event.peer))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < file->messages.n; i++) {
        struct mds_dump_message message = dump_message(file, i);

        if (message.event >= file->events.n || !is_peer(file, message.peer) ||
            !is_number(message.comm, &file->comms) ||
            (i > 0 && message.event < dump_message(file, i - 1).event)) {
            return false;
        }
    }
    return true;
}

/** Whether numbers and texts in the records are within their bounds. */
static bool are_records_sound(const struct dump_file *file)
{
    const struct mds_dump_process *process = &file->process;

    if (process->rank >= process->n_ranks ||
        process->histogram_bits > MDS_HISTOGRAM_MOST_BITS ||
        process->host[sizeof(process->host) - 1] != '\0' ||
        !dump_is_plain(process->host) || file->names.n == 0 ||
        file->names.data[file->names.n - 1] != '\0' || !are_calls_sound(file) ||
        !are_buckets_sound(file) || !are_sites_sound(file) || !are_comms_sound(file) ||
        !is_now_sound(file) || !are_events_sound(file)) {
        return false;
    }
    for (uint32_t i = 0; i < file->peers.n; i++) {
        if (dump_peer(file, i).rank >= process->n_ranks ||
            (i > 0 && dump_peer(file, i).rank <= dump_peer(file, i - 1).rank)) {
            return false;
        }
    }
    return true;
}

static int check(struct dump_file *file, const char *path,
                 char error_out[DUMP_ERROR_BYTES])
{
    struct dump_records process;
    int rc = dump_check_header(file->data, file->n_bytes, path, error_out);

    if (rc < 0) {
        return rc;
    }
    if (!dump_is_about(file->data, file->n_bytes, MDS_DUMP_PROCESS)) {
        return dump_refuse(error_out, "%s is not about a process", path);
    }
    if (!find_section(file, &wanted_process, &process) || process.n != 1) {
        return dump_refuse(error_out, "%s is damaged: section process", path);
    }
    memcpy(&file->process, process.data, sizeof(file->process));
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        struct dump_records *records =
            (struct dump_records *)((char *)file + wanted[i].offset);

        if (!find_section(file, &wanted[i], records)) {
            return dump_refuse(error_out, "%s is damaged: section %s", path,
                               wanted[i].name);
        }
    }
    return are_records_sound(file)
               ? 0
               : dump_refuse(error_out,
                             "%s is damaged: a number or a text is out of bounds",
                             path);
}

int dump_file_take(const char *path, char *data, size_t n_bytes,
                   struct dump_file *file_out, char error_out[DUMP_ERROR_BYTES])
{
    struct dump_file file = {.data = data, .n_bytes = n_bytes};
    int rc = check(&file, path, error_out);

    if (rc < 0) {
        dump_file_fini(&file);
        return rc;
    }
    *file_out = file;
    return 0;
}

/** Whether a section that was read later is what its entry of the directory says. */
static bool is_later_sound(const struct mds_dump_section *section,
                           const struct wanted *what, const char *bytes)
{
    struct mds_dump_section its = *section;

    its.offset = 0;
    return its.name[0] == '\0' || /* there is none */
           (is_sound(bytes, its.n_bytes, &its) &&
            its.record_bytes >= what->record_bytes);
}

const char *dump_take_events(struct dump_file *file, const char *bytes)
{
    const struct dump_later *later = &file->later;
    const char *messages = bytes + later->events.n_bytes;

    if (!is_later_sound(&later->events, &wanted[WANTED_EVENTS], bytes)) {
        return wanted[WANTED_EVENTS].name;
    }
    if (!is_later_sound(&later->messages, &wanted[WANTED_MESSAGES], messages)) {
        return wanted[WANTED_MESSAGES].name;
    }
    file->events.data = bytes;
    file->messages.data = messages;
    return are_events_sound(file) ? NULL : wanted[WANTED_EVENTS].name;
}

void dump_file_fini(struct dump_file *file)
{
    free(file->data);
    free(file->later.path);
    free(file->later.bytes);
    file->data = NULL;
    file->later = (struct dump_later){0};
}

void dump_read_record(const struct dump_records *records, uint32_t i, void *record_out,
                      size_t n_bytes)
{
    size_t n = n_bytes < records->record_bytes ? n_bytes : records->record_bytes;

    memcpy(record_out, records->data + (size_t)i * records->record_bytes, n);
    memset((char *)record_out + n, 0, n_bytes - n);
}

#define RECORD_FUNCTION(function, type, section)                                       \
    struct type function(const struct dump_file *file, uint32_t i)                     \
    {                                                                                  \
        struct type record;                                                            \
                                                                                       \
        dump_read_record(&file->section, i, &record, sizeof(record));                  \
        return record;                                                                 \
    }

RECORD_FUNCTION(dump_period, mds_dump_call, periods)
RECORD_FUNCTION(dump_call, mds_dump_call, calls)
RECORD_FUNCTION(dump_bucket, mds_dump_bucket, buckets)
RECORD_FUNCTION(dump_peer, mds_dump_peer, peers)
RECORD_FUNCTION(dump_comm, mds_dump_comm, comms)
RECORD_FUNCTION(dump_module, mds_dump_module, modules)
RECORD_FUNCTION(dump_site, mds_dump_site, sites)
RECORD_FUNCTION(dump_phase, mds_dump_phase, phases)
RECORD_FUNCTION(dump_now, mds_dump_now, now)
RECORD_FUNCTION(dump_event, mds_dump_event, events)
RECORD_FUNCTION(dump_message, mds_dump_message, messages)

const uint8_t *dump_module_id(const struct dump_file *file, uint32_t i)
{
    return (const uint8_t *)file->modules.data +
           (size_t)i * file->modules.record_bytes +
           offsetof(struct mds_dump_module, id);
}
