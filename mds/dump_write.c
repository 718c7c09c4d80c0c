/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes files of the MDS; see dump_write.h. A file gets its name when the system has
 * all of it, so that one of that name is never torn, however the process ends
 * meanwhile.
 */
#include "mds/dump_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/fabric/base/align.h"
#include "mds/file_limit.h"

enum { ALIGNMENT = 8, NAMES_AT_FIRST = 4096, PATH_BYTES = 4096 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "dumps are little-endian: on another machine numbers have to be turned");

/** Bytes that a section of so many takes in the file. */
static uint64_t padded(uint64_t n_bytes)
{
    return bcs_align_up(n_bytes, ALIGNMENT);
}

static void keep(struct mds_dump *dump, const char *name, void *data,
                 struct mds_dump_section section)
{
    memcpy(section.name, name, strnlen(name, sizeof(section.name)));
    section.n_bytes = (uint64_t)section.record_bytes * section.n_records;
    dump->data[dump->n_sections] = data;
    dump->sections[dump->n_sections++] = section;
}

void *mds_dump_add(struct mds_dump *dump, const char *name, uint32_t record_bytes,
                   uint32_t n_records)
{
    void *data;

    if (dump->error < 0 || dump->n_sections == MDS_DUMP_SECTIONS_MOST) {
        dump->error = dump->error < 0 ? dump->error : -ENOSPC;
        return NULL;
    }
    data = calloc(1, padded((uint64_t)record_bytes * n_records) + ALIGNMENT);
    if (data == NULL) {
        dump->error = -ENOMEM;
        return NULL;
    }
    keep(dump, name, data,
         (struct mds_dump_section){.record_bytes = record_bytes,
                                   .n_records = n_records});
    return data;
}

void mds_dump_cut_before(struct mds_dump *dump, uint32_t n_after, uint32_t n_records)
{
    struct mds_dump_section *section;

    if (dump->error == 0 && dump->n_sections > n_after) {
        section = &dump->sections[dump->n_sections - 1 - n_after];
        section->n_records = n_records;
        section->n_bytes = (uint64_t)section->record_bytes * n_records;
    }
}

void mds_dump_cut(struct mds_dump *dump, uint32_t n_records)
{
    mds_dump_cut_before(dump, 0, n_records);
}

uint32_t mds_dump_name(struct mds_dump *dump, const char *text)
{
    size_t n_bytes = strlen(text) + 1;
    size_t room = dump->names_room == 0 ? NAMES_AT_FIRST : dump->names_room;
    uint32_t offset = (uint32_t)dump->n_names_bytes;

    while (room < dump->n_names_bytes + n_bytes) {
        room *= 2;
    }
    if (room > dump->names_room) {
        char *names = realloc(dump->names, room);

        if (names == NULL) {
            dump->error = -ENOMEM;
            return 0;
        }
        dump->names = names;
        dump->names_room = room;
    }
    memcpy(dump->names + offset, text, n_bytes);
    dump->n_names_bytes += n_bytes;
    return offset;
}

/** Write all bytes. @return 0 or -errno */
static int write_all(int fd, const void *data, size_t n_bytes)
{
    const char *next = data;

    while (n_bytes > 0) {
        ssize_t n = write(fd, next, n_bytes);

        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        next += n > 0 ? n : 0;
        n_bytes -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/** Header and directory: where everything will be. */
static struct mds_dump_header place_all(struct mds_dump *dump)
{
    struct mds_dump_header header = {
        .magic = MDS_DUMP_MAGIC,
        .version = MDS_DUMP_VERSION,
        .kind = dump->kind,
        .n_sections = dump->n_sections,
    };
    uint64_t offset =
        sizeof(header) + dump->n_sections * sizeof(struct mds_dump_section);

    for (uint32_t i = 0; i < dump->n_sections; i++) {
        struct mds_dump_section *section = &dump->sections[i];

        section->offset = offset;
        section->digest =
            bcs_digest_add(BCS_DIGEST_OF_NOTHING, dump->data[i], section->n_bytes);
        offset += padded(section->n_bytes);
    }
    header.n_bytes = offset;
    return header;
}

/** Write to an open file. @return 0 or -errno */
static int write_sections(struct mds_dump *dump, int fd)
{
    struct mds_dump_header header = place_all(dump);
    int rc = mds_file_limit(header.n_bytes);

    if (rc == 0) {
        rc = write_all(fd, &header, sizeof(header));
    }
    if (rc == 0) {
        rc =
            write_all(fd, dump->sections, dump->n_sections * sizeof(dump->sections[0]));
    }
    for (uint32_t i = 0; i < dump->n_sections && rc == 0; i++) {
        rc = write_all(fd, dump->data[i], padded(dump->sections[i].n_bytes));
    }
    return rc;
}

/** Make a file under another name, which it has as long as it is not whole. @return its
 *  descriptor or -errno */
static int begin_file(const char *path, char part_out[PATH_BYTES])
{
    int n = snprintf(part_out, PATH_BYTES, "%s.part", path);
    int fd;

    if (n >= PATH_BYTES) {
        return -ENAMETOOLONG;
    }
    /* O_EXCL: what has that name is nobody's of this run, and no link is followed. */
    fd = open(part_out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd < 0 ? -errno : fd;
}

/** Give a file its name, or take it away if rc says that something has failed. */
static int end_file(int fd, const char *part, const char *path, int rc)
{
    if (close(fd) < 0 && rc == 0) {
        rc = -errno;
    }
    if (rc == 0 && rename(part, path) < 0) {
        rc = -errno;
    }
    if (rc < 0) {
        unlink(part);
    }
    return rc;
}

/** Add the section "names". @return 0 or -errno, of whatever has failed before, too */
static int add_names(struct mds_dump *dump)
{
    char *names = mds_dump_add(dump, "names", 1, (uint32_t)dump->n_names_bytes);

    if (dump->error == 0 && dump->n_names_bytes > 0) {
        memcpy(names, dump->names, dump->n_names_bytes);
    }
    return dump->error;
}

int mds_dump_write(struct mds_dump *dump, const char *path)
{
    char part[PATH_BYTES];
    int rc = add_names(dump);
    int fd = rc < 0 ? rc : begin_file(path, part);

    return fd < 0 ? fd : end_file(fd, part, path, write_sections(dump, fd));
}

int mds_dump_bytes(struct mds_dump *dump, char **bytes_out, size_t *n_bytes_out)
{
    struct mds_dump_header header;
    int rc = add_names(dump);
    char *bytes;

    if (rc < 0) {
        return rc;
    }
    header = place_all(dump);
    bytes = calloc(1, header.n_bytes);
    if (bytes == NULL) {
        return -ENOMEM;
    }
    memcpy(bytes, &header, sizeof(header));
    memcpy(bytes + sizeof(header), dump->sections,
           dump->n_sections * sizeof(dump->sections[0]));
    for (uint32_t i = 0; i < dump->n_sections; i++) {
        memcpy(bytes + dump->sections[i].offset, dump->data[i],
               dump->sections[i].n_bytes);
    }
    *bytes_out = bytes;
    *n_bytes_out = header.n_bytes;
    return 0;
}

int mds_dump_write_text(const char *path, const char *text)
{
    char part[PATH_BYTES];
    int rc = mds_file_limit(strlen(text));
    int fd = rc < 0 ? rc : begin_file(path, part);

    return fd < 0 ? fd : end_file(fd, part, path, write_all(fd, text, strlen(text)));
}

void mds_dump_fini(struct mds_dump *dump)
{
    for (uint32_t i = 0; i < dump->n_sections; i++) {
        free(dump->data[i]);
    }
    free(dump->names);
}
