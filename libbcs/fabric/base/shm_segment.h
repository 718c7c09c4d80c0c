/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Anonymous shared memory between the processes of one machine. A segment has no name
 * in any file system (memfd), so that nothing can be left behind by any kind of death;
 * others attach through the creator's file descriptor while the creator is alive.
 */
#ifndef LIBBCS_FABRIC_BASE_SHM_SEGMENT_H
#define LIBBCS_FABRIC_BASE_SHM_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

/** A mapped segment. Owned by the process that mapped it. */
struct bcs_shm_segment {
    void *base; /* its first n_mapped_bytes */
    uint64_t n_bytes;
    uint64_t n_mapped_bytes; /* n_bytes, but for a large one */
    int fd;                  /* -1 after bcs_shm_segment_close_fd */
    uint64_t device, inode;  /* a large one's, to know its file by */
};

/** How another process of the same user finds a segment; plain data, may be sent. */
struct bcs_shm_handle {
    int64_t pid;
    int64_t fd;
    uint64_t n_bytes;
};

/**
 * Create and map a zeroed segment of mode 0600. Pages cost memory only once touched.
 *
 * @return 0   segment_out is mapped; destroy with bcs_shm_segment_fini
 * @return <0  -errno, logged
 */
int bcs_shm_segment_create(struct bcs_shm_segment *segment_out, size_t n_bytes);

/**
 * The same, of which this process maps n_mapped_bytes at once and the rest with
 * bcs_shm_segment_map, piece by piece. Its file descriptor stays open for that, out of
 * the way of the program's, and is closed with bcs_shm_segment_fini.
 */
int bcs_shm_segment_create_large(struct bcs_shm_segment *segment_out, uint64_t n_bytes,
                                 uint64_t n_mapped_bytes);

/**
 * Leave a page with a name among the maps of this process, where others see it
 * (/proc/PID/maps), until the process ends or becomes another program. The page is not
 * to be used. A process needs one only; any thread.
 *
 * @return 0 or -errno; says nothing
 */
int bcs_shm_mark(const char *name);

/** The handle by which other processes attach while this one keeps fd open. */
struct bcs_shm_handle bcs_shm_segment_handle(const struct bcs_shm_segment *segment);

/**
 * Map a segment that another process of this machine and user created.
 *
 * @return 0   mapped
 * @return <0  -errno, logged with what to check (other user, other pid namespace)
 */
int bcs_shm_segment_attach(struct bcs_shm_segment *segment_out,
                           const struct bcs_shm_handle *handle);

/** The same of a segment that need not be there any more: says nothing unless memory is
 *  short. */
int bcs_shm_segment_try(struct bcs_shm_segment *segment_out,
                        const struct bcs_shm_handle *handle);

/** bcs_shm_segment_attach of a large segment; see bcs_shm_segment_create_large. */
int bcs_shm_segment_attach_large(struct bcs_shm_segment *segment_out,
                                 const struct bcs_shm_handle *handle,
                                 uint64_t n_mapped_bytes);

/**
 * Map a piece of a large segment. Any thread.
 *
 * @param offset  a multiple of the size of a page, as n_bytes is
 * @return 0   *address_out is for munmap
 * @return <0 -errno, logged with what to raise; -EBADF: the program has closed the file
 *             descriptor
 */
int bcs_shm_segment_map(const struct bcs_shm_segment *segment, uint64_t offset,
                        uint64_t n_bytes, void **address_out);

/** Put a file descriptor where it is in nobody's way: programs expect low numbers, and
 *  close those that they know. @return it, closed on exec; where that fails it stays as
 *  it was */
int bcs_fd_put_away(int fd);

/** Keep the file descriptor open, out of the way of the program's, for those who look
 *  at the segment later (bcs_shm_segment_look). */
void bcs_shm_segment_keep_fd(struct bcs_shm_segment *segment);

/**
 * Open a segment of another process of this machine to read it only. Says nothing.
 *
 * @param handle  n_bytes is not used
 * @return 0 segment_out has its size and a file descriptor, and nothing mapped; end
 *                 with bcs_shm_segment_close_fd
 * @return -EACCES it belongs to another user; -ENOENT: there is no such process or file
 *                 any more; -EINVAL: it is no such segment; or another -errno
 */
int bcs_shm_segment_look(struct bcs_shm_segment *segment_out,
                         const struct bcs_shm_handle *handle);

/** Map a piece of a segment that was opened so, to read it. Any thread.
 *  @return 0, *address_out is for munmap; or -errno. Says nothing */
int bcs_shm_segment_view(const struct bcs_shm_segment *segment, uint64_t offset,
                         uint64_t n_bytes, const void **address_out);

/** Close the file descriptor; the mapping stays. Call once all have attached. */
void bcs_shm_segment_close_fd(struct bcs_shm_segment *segment);

/** Unmap and close. Accepts a zeroed segment. */
void bcs_shm_segment_fini(struct bcs_shm_segment *segment);

#endif
