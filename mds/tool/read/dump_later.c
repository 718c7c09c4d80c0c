/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads files of processes in two parts; see dump_later.h. One thread.
 */
#include "mds/tool/read/dump_later.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char events_name[] = "events", messages_name[] = "messages";

/** A file that is being read. */
struct source {
    int fd;
    const char *path;
    uint64_t n_bytes; /* as it says, and has */
    struct mds_dump_header header;
    struct mds_dump_section *directory; /* [header.n_sections] */
};

/** Read n bytes at a place. @return whether they were all there */
static bool read_at(int fd, uint64_t offset, void *data, size_t n_bytes)
{
    size_t n_done = 0;

    while (n_done < n_bytes) {
        ssize_t n = pread(fd, (char *)data + n_done, n_bytes - n_done,
                          (off_t)(offset + n_done));

        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        n_done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool is_named(const struct mds_dump_section *section, const char *name)
{
    return strncmp(section->name, name, sizeof(section->name)) == 0;
}

static bool is_later(const struct mds_dump_section *section)
{
    return is_named(section, events_name) || is_named(section, messages_name);
}

/** Whether sections are within the file, and no two of what is read now are the same
 *  bytes, so that it is no longer than the file. */
static bool is_directory_sound(const struct source *source)
{
    uint64_t n_left = source->n_bytes;

    for (uint32_t i = 0; i < source->header.n_sections; i++) {
        const struct mds_dump_section *section = &source->directory[i];

        if (section->offset > source->n_bytes ||
            section->n_bytes > source->n_bytes - section->offset ||
            section->n_bytes > n_left) {
            return false;
        }
        n_left -= section->n_bytes;
    }
    return true;
}

/** Read header and directory. @return whether the file is a process's and can be read
 *  in two parts; source->directory is for free in any case */
static bool read_directory(struct source *source)
{
    struct mds_dump_header *header = &source->header;
    struct stat status;
    size_t n_bytes;

    if (fstat(source->fd, &status) < 0 || !S_ISREG(status.st_mode) ||
        (uint64_t)status.st_size > MDS_DUMP_MOST_BYTES ||
        !read_at(source->fd, 0, header, sizeof(*header))) {
        return false;
    }
    source->n_bytes = (uint64_t)status.st_size;
    if (memcmp(header->magic, MDS_DUMP_MAGIC, sizeof(header->magic)) != 0 ||
        header->version != MDS_DUMP_VERSION ||
        header->kind != (uint32_t)MDS_DUMP_PROCESS ||
        header->n_bytes != source->n_bytes ||
        header->n_sections >
            (source->n_bytes - sizeof(*header)) / sizeof(struct mds_dump_section)) {
        return false;
    }
    n_bytes = header->n_sections * sizeof(*source->directory);
    source->directory = malloc(n_bytes + 1);
    return source->directory != NULL &&
           read_at(source->fd, sizeof(*header), source->directory, n_bytes) &&
           is_directory_sound(source);
}

/** Leave a section out: it becomes empty. */
static void leave_out(struct mds_dump_section *section, struct dump_later *later)
{
    struct mds_dump_section *its =
        is_named(section, events_name) ? &later->events : &later->messages;

    if (its->name[0] == '\0') { /* the first one of the name */
        *its = *section;
    }
    section->n_bytes = 0;
    section->n_records = 0;
    section->digest = BCS_DIGEST_OF_NOTHING;
}

/** Put together what is read now. @return for free; NULL: it cannot be read, or no
 *  memory */
static char *read_sections(struct source *source, size_t *n_bytes_out,
                           struct dump_later *later)
{
    size_t n_head =
        sizeof(source->header) + source->header.n_sections * sizeof(*source->directory);
    size_t n_bytes = n_head;
    bool is_read = true;
    char *data;

    for (uint32_t i = 0; i < source->header.n_sections; i++) {
        n_bytes += is_later(&source->directory[i]) ? 0 : source->directory[i].n_bytes;
    }
    data = malloc(n_bytes + 1);
    if (data == NULL) {
        return NULL;
    }
    n_bytes = n_head;
    for (uint32_t i = 0; i < source->header.n_sections && is_read; i++) {
        struct mds_dump_section *section = &source->directory[i];

        if (is_later(section)) {
            leave_out(section, later);
        }
        is_read =
            read_at(source->fd, section->offset, data + n_bytes, section->n_bytes);
        section->offset = n_bytes;
        n_bytes += section->n_bytes;
    }
    if (!is_read) {
        free(data);
        return NULL;
    }
    source->header.n_bytes = n_bytes;
    memcpy(data, &source->header, sizeof(source->header));
    memcpy(data + sizeof(source->header), source->directory,
           source->header.n_sections * sizeof(*source->directory));
    data[n_bytes] = '\0';
    *n_bytes_out = n_bytes;
    return data;
}

/** Read what is read now. @return for free; NULL: it cannot be read so */
static char *read_early(const char *path, size_t *n_bytes_out,
                        struct dump_later *later_out)
{
    struct source source = {
        .fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK),
        .path = path,
    };
    struct dump_later later = {0};
    char *data = NULL;

    if (source.fd < 0) {
        return NULL;
    }
    if (read_directory(&source)) {
        later.path = strdup(path);
        data = later.path == NULL ? NULL : read_sections(&source, n_bytes_out, &later);
    }
    if (data == NULL) {
        free(later.path);
    } else {
        *later_out = later;
    }
    free(source.directory);
    close(source.fd);
    return data;
}

int dump_read_early(const char *path, char **data_out, size_t *n_bytes_out,
                    struct dump_later *later_out, char error_out[DUMP_ERROR_BYTES])
{
    *later_out = (struct dump_later){0};
    *data_out = read_early(path, n_bytes_out, later_out);
    return *data_out != NULL ? 0
                             : dump_read_all(path, data_out, n_bytes_out, error_out);
}

/** A section that is known of, without its bytes. */
static struct dump_records unread(const struct mds_dump_section *section)
{
    return (struct dump_records){
        .n = section->n_records,
        .record_bytes = section->record_bytes,
    };
}

void dump_postpone(struct dump_file *file, const struct dump_later *later)
{
    file->later = *later;
    file->events = unread(&later->events);
    file->messages = unread(&later->messages);
}

/** Read both sections, one behind the other. @return for free; NULL: it cannot be read,
 *  or no memory */
static char *read_later(const struct dump_later *later)
{
    int fd = open(later->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    char *bytes;

    if (fd < 0) {
        return NULL;
    }
    bytes = malloc(later->events.n_bytes + later->messages.n_bytes + 1);
    if (bytes != NULL &&
        (!read_at(fd, later->events.offset, bytes, later->events.n_bytes) ||
         !read_at(fd, later->messages.offset, bytes + later->events.n_bytes,
                  later->messages.n_bytes))) {
        free(bytes);
        bytes = NULL;
    }
    close(fd);
    return bytes;
}

int dump_events_hold(struct dump_file *file, char error_out[DUMP_ERROR_BYTES])
{
    struct dump_later *later = &file->later;
    const char *section;

    if (later->path == NULL || later->bytes != NULL) {
        return 0;
    }
    errno = 0;
    later->bytes = read_later(later);
    if (later->bytes == NULL) {
        return dump_refuse(error_out, "cannot read the events of %s: %s", later->path,
                           errno != 0 ? strerror(errno) : "it is shorter than it was");
    }
    section = dump_take_events(file, later->bytes);
    if (section != NULL) {
        int rc =
            dump_refuse(error_out, "%s is damaged: section %s", later->path, section);

        dump_events_drop(file);
        return rc;
    }
    return 0;
}

void dump_events_drop(struct dump_file *file)
{
    if (file->later.path != NULL) {
        free(file->later.bytes);
        file->later.bytes = NULL;
        file->events.data = file->messages.data = NULL;
    }
}
