/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that processes record in; see live.h.
 */
#include "mds/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libbcs/fabric/base/digest.h"
#include "mds/file_limit.h"
#include <bcs/version.h>

uint64_t mds_live_layout(void)
{
    const uint64_t numbers[] = {
        sizeof(struct mds_collect),
        sizeof(struct mds_peer),
        sizeof(struct mds_site),
        sizeof(struct mds_comm),
        sizeof(struct mds_event),
        offsetof(struct mds_collect, sites),
        offsetof(struct mds_collect, comms),
        offsetof(struct mds_collect, pointed),
        MDS_POINTED_MOST,
    };
    const char *version = bcs_version();

    return bcs_digest_add(
        bcs_digest_add(BCS_DIGEST_OF_NOTHING, numbers, sizeof(numbers)), version,
        strlen(version));
}

size_t mds_live_bytes(const struct mds_shape *shape)
{
    return sizeof(struct mds_collect) +
           (size_t)MDS_POINTED_MOST * mds_histogram_n(shape->bits) * sizeof(uint64_t) +
           shape->n_ranks * sizeof(struct mds_peer) +
           shape->n_events * sizeof(struct mds_event);
}

int mds_live_make_file(size_t n_bytes, const char *path)
{
    int rc = mds_file_limit(n_bytes);
    int fd = rc < 0 ? -1 : open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0) {
        return rc < 0 ? rc : -errno;
    }
    rc = posix_fallocate(fd, 0, (off_t)n_bytes);
    if (rc != 0) {
        close(fd);
        unlink(path);
        return -rc;
    }
    return fd;
}

int mds_live_make(size_t n_bytes, const char *path, struct mds_collect **collect_out)
{
    int fd = path == NULL ? -1 : mds_live_make_file(n_bytes, path);
    void *memory;

    if (path != NULL && fd < 0) {
        return fd;
    }
    memory = mmap(
        NULL, n_bytes, PROT_READ | PROT_WRITE,
        path == NULL ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, fd, 0);
    if (fd >= 0) {
        close(fd);
    }
    if (memory == MAP_FAILED) {
        int rc = -errno;

        if (path != NULL) {
            unlink(path);
        }
        return rc;
    }
    *collect_out = memory;
    (*collect_out)->origin.n_bytes = n_bytes;
    return 0;
}

void mds_live_drop(struct mds_collect *collect, const char *path)
{
    if (collect != NULL) {
        munmap(collect, collect->origin.n_bytes);
    }
    if (path != NULL) {
        unlink(path);
    }
}

/** Whether all texts end. */
static bool are_texts_sound(const struct mds_collect *copy)
{
    bool is_sound = copy->origin.host[MDS_HOST_BYTES - 1] == '\0';

    for (size_t i = 0; i < copy->origin.n_kinds; i++) {
        is_sound &= copy->origin.kinds[i].name[MDS_NAME_BYTES - 1] == '\0';
    }
    for (size_t i = 0; i < copy->comms.n_used; i++) {
        is_sound &= copy->comms.table[i].name[MDS_COMM_NAME_BYTES - 1] == '\0';
    }
    for (size_t i = 0; i < copy->sites.modules.n_used; i++) {
        const struct mds_module *module = &copy->sites.modules.table[i];

        is_sound &= module->path[MDS_MODULE_PATH_BYTES - 1] == '\0' &&
                    module->n_id_bytes <= MDS_MODULE_ID_BYTES;
    }
    for (size_t i = 0; i < copy->sites.n_words; i++) {
        is_sound &= copy->sites.words[i].text[MDS_WORDS_BYTES - 1] == '\0';
    }
    return is_sound;
}

/** Whether all that a copy says of where something is, is within it. */
static bool is_sound(const struct mds_collect *copy, size_t n_bytes)
{
    const struct mds_origin *origin = &copy->origin;

    if (memcmp(origin->magic, MDS_ORIGIN_MAGIC, sizeof(origin->magic)) != 0 ||
        origin->layout != mds_live_layout() || origin->n_bytes != n_bytes ||
        origin->n_kinds > MDS_MAX_PRIMITIVES ||
        copy->shape.bits > MDS_HISTOGRAM_MOST_BITS ||
        copy->shape.n_ranks > n_bytes / sizeof(struct mds_peer) ||
        copy->shape.n_events > n_bytes / sizeof(struct mds_event) ||
        origin->rank >= copy->shape.n_ranks ||
        mds_live_bytes(&copy->shape) != n_bytes ||
        copy->n_buckets != mds_histogram_n(copy->shape.bits)) {
        return false;
    }
    for (size_t i = 0; i < MDS_N_DISTRIBUTIONS; i++) {
        if (copy->pointed[i] > MDS_POINTED_MOST) {
            return false;
        }
    }
    return copy->n_pointed <= MDS_POINTED_MOST && copy->sites.n_used <= MDS_SITES &&
           copy->comms.n_used <= MDS_COMMS &&
           copy->sites.modules.n_used <= MDS_MODULES &&
           copy->sites.n_words <= MDS_WORDS && copy->phases.n_used <= MDS_PHASES &&
           copy->phases.now < MDS_PHASES && are_texts_sound(copy);
}

/** @return its length; -EAGAIN: it is empty; -EINVAL: it is shorter than n_least, or no
 *  file */
static ssize_t length_of(int fd, size_t n_least)
{
    struct stat status;

    if (fstat(fd, &status) < 0) {
        return -errno;
    }
    if (S_ISREG(status.st_mode) && status.st_size == 0) {
        return -EAGAIN;
    }
    return S_ISREG(status.st_mode) && (size_t)status.st_size >= n_least ? status.st_size
                                                                        : -EINVAL;
}

int mds_live_open(const char *path, size_t n_least, size_t *n_bytes_out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t n_bytes;

    if (fd < 0) {
        return -errno;
    }
    n_bytes = length_of(fd, n_least);
    if (n_bytes < 0) {
        close(fd);
        return (int)n_bytes;
    }
    *n_bytes_out = (size_t)n_bytes;
    return fd;
}

/** Copy a file that is open. */
static int copy_file(int fd, size_t n_bytes, struct mds_collect **copy_out)
{
    struct mds_collect *copy = malloc(n_bytes);
    int rc;

    if (copy == NULL) {
        return -ENOMEM;
    }
    if (pread(fd, copy, n_bytes, 0) != (ssize_t)n_bytes) {
        rc = -EINVAL;
    } else if (copy->origin.magic[0] == '\0') {
        rc = -EAGAIN;
    } else {
        rc = is_sound(copy, n_bytes) ? 0 : -EINVAL;
    }
    if (rc < 0) {
        free(copy);
        return rc;
    }
    /* What means something in its own process only, and may be anything here. */
    copy->slice = NULL;
    copy->stamps = NULL;
    copy->begins = NULL;
    copy->is_shared = false;
    *copy_out = copy;
    return 0;
}

int mds_live_read(const char *path, struct mds_collect **copy_out)
{
    size_t n_bytes;
    int fd = mds_live_open(path, sizeof(**copy_out), &n_bytes);
    int rc;

    if (fd < 0) {
        return fd;
    }
    rc = copy_file(fd, n_bytes, copy_out);
    close(fd);
    return rc;
}
