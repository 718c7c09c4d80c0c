/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Anonymous shared memory by memfd. The creator keeps the file descriptor open until
 * all have attached through /proc/<pid>/fd; after that the memory lives exactly as long
 * as the mappings, and, of a large segment, the file descriptors of those that may map
 * more of it. Called at start and end of a job by each process, by one thread; but
 * pieces of a large segment are mapped by whoever needs them.
 */
#include "libbcs/fabric/base/shm_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/log_job.h"

enum { PATH_BYTES = 64 };

enum { FD_FIRST = 512 }; /* of large segments, if there may be twice as many */

static int map(int fd, uint64_t offset, uint64_t n_bytes, void **address_out)
{
    void *base = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                      fd, (off_t)offset);

    if (base == MAP_FAILED) {
        int err = -errno;

        bcs_job_error("cannot map %" PRIu64
                      " more bytes of shared memory: %s; raise the "
                      "limit of the address space (ulimit -v) or of memory, or, of a "
                      "process that has mapped very much, vm.max_map_count",
                      n_bytes, strerror(-err));
        return err;
    }
    *address_out = base;
    return 0;
}

int bcs_fd_put_away(int fd)
{
    struct rlimit limit;
    int other;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
        return fd;
    }
    other = fcntl(fd, F_DUPFD_CLOEXEC,
                  limit.rlim_cur / 2 < FD_FIRST ? (int)(limit.rlim_cur / 2) : FD_FIRST);
    if (other < 0) {
        return fd;
    }
    close(fd);
    return other;
}

/** Map the first part of a segment; keep what a large one needs later. */
static int segment_map(struct bcs_shm_segment *segment)
{
    struct stat status;

    if (segment->n_mapped_bytes < segment->n_bytes) {
        if (fstat(segment->fd, &status)) {
            return -errno;
        }
        segment->device = status.st_dev;
        segment->inode = status.st_ino;
        segment->fd = bcs_fd_put_away(segment->fd);
    }
    return map(segment->fd, 0, segment->n_mapped_bytes, &segment->base);
}

int bcs_shm_segment_map(const struct bcs_shm_segment *segment, uint64_t offset,
                        uint64_t n_bytes, void **address_out)
{
    struct stat status;

    if (segment->fd < 0 || fstat(segment->fd, &status) ||
        status.st_dev != segment->device || status.st_ino != segment->inode) {
        bcs_job_error(
            "cannot map more shared memory: the program has closed file "
            "descriptor %d, which is not its own; let it close no others than "
            "it has opened",
            segment->fd);
        return -EBADF;
    }
    return map(segment->fd, offset, n_bytes, address_out);
}

/* Size it for good: with the seals nobody can shrink it under another's feet. */
static int segment_size(int fd, uint64_t n_bytes)
{
    if (fchmod(fd, 0600) || ftruncate(fd, (off_t)n_bytes) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        int err = -errno;

        bcs_error("cannot make a shared segment of %" PRIu64 " bytes: %s", n_bytes,
                  strerror(-err));
        return err;
    }
    return 0;
}

int bcs_shm_segment_create(struct bcs_shm_segment *segment_out, size_t n_bytes)
{
    return bcs_shm_segment_create_large(segment_out, n_bytes, n_bytes);
}

int bcs_shm_segment_create_large(struct bcs_shm_segment *segment_out, uint64_t n_bytes,
                                 uint64_t n_mapped_bytes)
{
    struct bcs_shm_segment segment = {.n_bytes = n_bytes,
                                      .n_mapped_bytes = n_mapped_bytes};
    int err;

    segment.fd = memfd_create("bcs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (segment.fd < 0) {
        err = -errno;
        bcs_error("cannot make a shared segment: %s", strerror(-err));
        return err;
    }
    err = segment_size(segment.fd, n_bytes);
    if (!err) {
        err = segment_map(&segment);
    }
    if (err) {
        close(segment.fd);
        return err;
    }
    *segment_out = segment;
    return 0;
}

int bcs_shm_mark(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    void *page;

    if (fd < 0) {
        return -errno;
    }
    page = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE, fd, 0);
    close(fd);
    return page == MAP_FAILED ? -ENOMEM : 0;
}

struct bcs_shm_handle bcs_shm_segment_handle(const struct bcs_shm_segment *segment)
{
    return (struct bcs_shm_handle){
        .pid = getpid(),
        .fd = segment->fd,
        .n_bytes = segment->n_bytes,
    };
}

/* The handle came from another process: what it leads to must be ours and that large.
 */
static int attached_check(int fd, const struct bcs_shm_handle *handle)
{
    struct stat status;

    if (fstat(fd, &status)) {
        return -errno;
    }
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        (uint64_t)status.st_size != handle->n_bytes) {
        return -EINVAL;
    }
    return 0;
}

int bcs_shm_segment_attach(struct bcs_shm_segment *segment_out,
                           const struct bcs_shm_handle *handle)
{
    return bcs_shm_segment_attach_large(segment_out, handle, handle->n_bytes);
}

/** Open a segment that another process has made. Says nothing. */
static int open_other(struct bcs_shm_segment *segment,
                      const struct bcs_shm_handle *handle, const char *path)
{
    int err;

    segment->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    err = segment->fd < 0 ? -errno : attached_check(segment->fd, handle);
    if (err) {
        bcs_shm_segment_close_fd(segment);
    }
    return err;
}

/** Map a segment that is open, or close it. */
static int segment_take(struct bcs_shm_segment *segment,
                        struct bcs_shm_segment *segment_out)
{
    int err = segment_map(segment);

    if (err) {
        bcs_shm_segment_close_fd(segment);
        return err;
    }
    *segment_out = *segment;
    return 0;
}

static void path_of(const struct bcs_shm_handle *handle, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "/proc/%" PRId64 "/fd/%" PRId64, handle->pid,
             handle->fd);
}

int bcs_shm_segment_attach_large(struct bcs_shm_segment *segment_out,
                                 const struct bcs_shm_handle *handle,
                                 uint64_t n_mapped_bytes)
{
    struct bcs_shm_segment segment = {.n_bytes = handle->n_bytes,
                                      .n_mapped_bytes = n_mapped_bytes};
    char path[PATH_BYTES];
    int err;

    path_of(handle, path);
    err = open_other(&segment, handle, path);
    if (err) {
        bcs_job_error("cannot attach to the shared segment %s: %s; %s", path,
                      strerror(-err),
                      err == -EMFILE || err == -ENFILE
                          ? "raise the limit of open files (ulimit -n), of which "
                            "each node takes one"
                          : "do all processes run as one user and in one pid "
                            "namespace?");
        return err;
    }
    return segment_take(&segment, segment_out);
}

int bcs_shm_segment_try(struct bcs_shm_segment *segment_out,
                        const struct bcs_shm_handle *handle)
{
    struct bcs_shm_segment segment = {.n_bytes = handle->n_bytes,
                                      .n_mapped_bytes = handle->n_bytes};
    char path[PATH_BYTES];
    int err;

    path_of(handle, path);
    err = open_other(&segment, handle, path);
    if (err) {
        return err;
    }
    return segment_take(&segment, segment_out);
}

void bcs_shm_segment_keep_fd(struct bcs_shm_segment *segment)
{
    segment->fd = bcs_fd_put_away(segment->fd);
}

int bcs_shm_segment_look(struct bcs_shm_segment *segment_out,
                         const struct bcs_shm_handle *handle)
{
    struct stat status;
    char path[PATH_BYTES];
    int fd, seals;

    path_of(handle, path);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return errno == EPERM ? -EACCES : -errno;
    }
    /* Of a memfd that nobody can shrink: whoever reads a mapping of it is not
     * killed. */
    seals = fcntl(fd, F_GET_SEALS);
    if (fstat(fd, &status) || seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
        close(fd);
        return -EINVAL;
    }
    *segment_out = (struct bcs_shm_segment){
        .fd = fd,
        .n_bytes = (uint64_t)status.st_size,
        .device = status.st_dev,
        .inode = status.st_ino,
    };
    return 0;
}

int bcs_shm_segment_view(const struct bcs_shm_segment *segment, uint64_t offset,
                         uint64_t n_bytes, const void **address_out)
{
    const void *base;

    if (offset > segment->n_bytes || n_bytes > segment->n_bytes - offset) {
        return -EINVAL;
    }
    base = mmap(NULL, n_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, segment->fd,
                (off_t)offset);
    if (base == MAP_FAILED) {
        return -errno;
    }
    *address_out = base;
    return 0;
}

void bcs_shm_segment_close_fd(struct bcs_shm_segment *segment)
{
    if (segment->fd >= 0) {
        close(segment->fd);
        segment->fd = -1;
    }
}

void bcs_shm_segment_fini(struct bcs_shm_segment *segment)
{
    if (segment->base == NULL) {
        return; /* zeroed: fd 0 is not ours */
    }
    munmap(segment->base, segment->n_mapped_bytes);
    segment->base = NULL;
    bcs_shm_segment_close_fd(segment);
}
