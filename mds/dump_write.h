/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a file of the MDS (dump.h), section by section, in memory, and then at once:
 * whoever looks finds the whole file or none. Any process; one thread.
 */
#ifndef MDS_DUMP_WRITE_H
#define MDS_DUMP_WRITE_H

#include <stddef.h>

#include "mds/dump.h"

enum { MDS_DUMP_SECTIONS_MOST = 16 };

/** A file that is being made. Zeroed at first but for kind; end with mds_dump_fini. */
struct mds_dump {
    enum mds_dump_kind kind;
    uint32_t n_sections;
    struct mds_dump_section sections[MDS_DUMP_SECTIONS_MOST];
    void *data[MDS_DUMP_SECTIONS_MOST];
    char *names; /* the section of that name, */
    size_t n_names_bytes, names_room;
    int error; /* of the first that has failed; the rest then does nothing */
};

/**
 * Add a section.
 *
 * @param name  up to 8 characters
 * @return n_records records of zeros, for the caller to fill; they belong to the dump;
 *         NULL: no memory, or too many sections
 */
void *mds_dump_add(struct mds_dump *dump, const char *name, uint32_t record_bytes,
                   uint32_t n_records);

/** Keep the first records of the section that was added last. */
void mds_dump_cut(struct mds_dump *dump, uint32_t n_records);

/** The same of a section after which so many were added. */
void mds_dump_cut_before(struct mds_dump *dump, uint32_t n_after, uint32_t n_records);

/** Keep a text. @return its offset in section "names" */
uint32_t mds_dump_name(struct mds_dump *dump, const char *text);

/**
 * Write the file, with section "names".
 *
 * @return 0   it is there, whole
 * @return <0  -errno; there is none
 */
int mds_dump_write(struct mds_dump *dump, const char *path);

/** The same as bytes in memory. @return 0, *bytes_out is for free; or -errno */
int mds_dump_bytes(struct mds_dump *dump, char **bytes_out, size_t *n_bytes_out);

/** Write a text as a file, in the same manner. */
int mds_dump_write_text(const char *path, const char *text);

/** Free what was added. */
void mds_dump_fini(struct mds_dump *dump);

#endif
