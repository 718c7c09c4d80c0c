/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared segments: what one process writes another reads, nothing appears in a file
 * system, and a wrong handle is an error instead of a mapping.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/fabric/base/shm_segment.h"
#include "tests/unit/run_suite.h"

#define N_BYTES (1u << 20)

START_TEST(a_new_segment_is_zeroed_and_private_to_its_user)
{
    struct bcs_shm_segment segment;
    struct stat status;
    size_t n_zeros = 0;

    ck_assert_int_eq(bcs_shm_segment_create(&segment, N_BYTES), 0);
    for (size_t i = 0; i < N_BYTES; i++) {
        n_zeros += ((const char *)segment.base)[i] == 0;
    }
    ck_assert_uint_eq(n_zeros, N_BYTES);
    ck_assert_int_eq(fstat(segment.fd, &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0600);
    ck_assert_int_eq(status.st_nlink, 0);
    bcs_shm_segment_fini(&segment);
}
END_TEST

START_TEST(another_process_attaches_and_both_see_each_others_writes)
{
    struct bcs_shm_segment segment;
    struct bcs_shm_handle handle;
    int status;
    pid_t child;

    ck_assert_int_eq(bcs_shm_segment_create(&segment, N_BYTES), 0);
    handle = bcs_shm_segment_handle(&segment);
    ck_assert_int_eq(handle.pid, getpid());
    ((char *)segment.base)[N_BYTES - 1] = 'a';
    child = fork();
    if (child == 0) {
        struct bcs_shm_segment mine;
        int err = bcs_shm_segment_attach(&mine, &handle);

        if (err || ((char *)mine.base)[N_BYTES - 1] != 'a') {
            _exit(1);
        }
        ((char *)mine.base)[0] = 'b';
        bcs_shm_segment_fini(&mine);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(((char *)segment.base)[0], 'b');
    bcs_shm_segment_fini(&segment);
}
END_TEST

START_TEST(the_mapping_outlives_the_file_descriptor)
{
    struct bcs_shm_segment segment;

    ck_assert_int_eq(bcs_shm_segment_create(&segment, N_BYTES), 0);
    bcs_shm_segment_close_fd(&segment);
    ck_assert_int_eq(segment.fd, -1);
    ((char *)segment.base)[0] = 'a';
    bcs_shm_segment_close_fd(&segment);
    bcs_shm_segment_fini(&segment);
    ck_assert_ptr_null(segment.base);
}
END_TEST

START_TEST(a_segment_cannot_be_shrunk_under_the_others)
{
    struct bcs_shm_segment segment;

    ck_assert_int_eq(bcs_shm_segment_create(&segment, N_BYTES), 0);
    ck_assert_int_ne(ftruncate(segment.fd, 1), 0);
    bcs_shm_segment_fini(&segment);
}
END_TEST

START_TEST(a_wrong_handle_is_an_error)
{
    struct bcs_shm_segment segment;
    struct bcs_shm_segment mine = {.fd = 77};
    struct bcs_shm_handle handle;

    ck_assert_int_eq(bcs_shm_segment_create(&segment, N_BYTES), 0);
    handle = bcs_shm_segment_handle(&segment);
    handle.n_bytes *= 2;
    ck_assert_int_eq(bcs_shm_segment_attach(&mine, &handle), -EINVAL);
    handle.n_bytes /= 2;
    handle.fd = 100000;
    ck_assert_int_eq(bcs_shm_segment_attach(&mine, &handle), -ENOENT);
    handle.pid = -1;
    ck_assert_int_lt(bcs_shm_segment_attach(&mine, &handle), 0);
    ck_assert_ptr_null(mine.base);
    ck_assert_int_eq(mine.fd, 77);
    bcs_shm_segment_fini(&segment);
}
END_TEST

START_TEST(a_failed_create_leaves_the_output_alone)
{
    struct bcs_shm_segment segment = {.fd = 77};

    ck_assert_int_lt(bcs_shm_segment_create(&segment, 0), 0);
    ck_assert_int_lt(bcs_shm_segment_create(&segment, SIZE_MAX / 2), 0);
    ck_assert_int_eq(segment.fd, 77);
}
END_TEST

START_TEST(who_looks_sees_what_is_there_and_no_more)
{
    const uint64_t n_page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct bcs_shm_segment segment, seen;
    struct bcs_shm_handle handle;
    const void *address;

    ck_assert_int_eq(bcs_shm_segment_create(&segment, 2 * n_page), 0);
    ((char *)segment.base)[n_page] = 'a';
    handle = bcs_shm_segment_handle(&segment);
    ck_assert_int_eq(bcs_shm_segment_look(&seen, &handle), 0);
    ck_assert_uint_eq(seen.n_bytes, 2 * n_page);
    ck_assert_int_eq(bcs_shm_segment_view(&seen, n_page, n_page, &address), 0);
    ck_assert_int_eq(*(const char *)address, 'a');
    munmap((void *)(uintptr_t)address, n_page);
    ck_assert_int_eq(bcs_shm_segment_view(&seen, n_page, n_page + 1, &address),
                     -EINVAL);
    ck_assert_int_eq(bcs_shm_segment_view(&seen, 3 * n_page, 0, &address), -EINVAL);
    bcs_shm_segment_close_fd(&seen);
    bcs_shm_segment_fini(&segment);
}
END_TEST

START_TEST(who_looks_takes_nothing_that_may_shrink)
{
    struct bcs_shm_segment seen;
    struct bcs_shm_handle handle = {.pid = getpid(), .n_bytes = 4096};

    handle.fd = memfd_create("it", MFD_ALLOW_SEALING);
    ck_assert_int_eq(ftruncate((int)handle.fd, 4096), 0);
    ck_assert_int_eq(bcs_shm_segment_look(&seen, &handle), -EINVAL);
    ck_assert_int_eq(fcntl((int)handle.fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    ck_assert_int_eq(bcs_shm_segment_look(&seen, &handle), 0);
    bcs_shm_segment_close_fd(&seen);
    close((int)handle.fd);
}
END_TEST

START_TEST(a_mark_is_seen_by_others_and_is_no_file_descriptor)
{
    char line[256];
    bool is_seen = false;
    int fd = dup(0), after;
    FILE *maps;

    close(fd);
    ck_assert_int_eq(bcs_shm_mark("a-mark"), 0);
    after = dup(0);
    ck_assert_int_eq(after, fd);
    close(after);
    maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof(line), maps) != NULL) {
        is_seen |= strstr(line, "/memfd:a-mark") != NULL;
    }
    fclose(maps);
    ck_assert(is_seen);
}
END_TEST

START_TEST(fini_accepts_a_zeroed_segment)
{
    struct bcs_shm_segment segment = {0};

    bcs_shm_segment_fini(&segment);
    ck_assert_int_eq(fcntl(0, F_GETFD) == -1 && errno == EBADF, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("shm_segment");

    tcase_add_test(tests, a_new_segment_is_zeroed_and_private_to_its_user);
    tcase_add_test(tests, another_process_attaches_and_both_see_each_others_writes);
    tcase_add_test(tests, the_mapping_outlives_the_file_descriptor);
    tcase_add_test(tests, a_segment_cannot_be_shrunk_under_the_others);
    tcase_add_test(tests, a_wrong_handle_is_an_error);
    tcase_add_test(tests, a_failed_create_leaves_the_output_alone);
    tcase_add_test(tests, who_looks_sees_what_is_there_and_no_more);
    tcase_add_test(tests, who_looks_takes_nothing_that_may_shrink);
    tcase_add_test(tests, a_mark_is_seen_by_others_and_is_no_file_descriptor);
    tcase_add_test(tests, fini_accepts_a_zeroed_segment);
    return run_tcase("shm_segment", tests);
}
