/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ELF reader: what it says of this test program itself, and that no damaged file
 * makes it read outside. Damage is made of the program's own bytes: cut off at every
 * length within the headers, and every byte of them replaced.
 */
#include <check.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apps/tools/launch/elf_file.h"
#include "tests/unit/run_suite.h"

#define N_HEAD_BYTES 1024 /* ELF header and program headers, with some to spare */
#define MAX_FILE_BYTES (1u << 24)

static unsigned char *own_bytes;
static size_t n_own_bytes;

static void own_program_read(void)
{
    FILE *file = fopen("/proc/self/exe", "rb");

    ck_assert_ptr_nonnull(file);
    own_bytes = malloc(MAX_FILE_BYTES);
    n_own_bytes = fread(own_bytes, 1, MAX_FILE_BYTES, file);
    fclose(file);
    ck_assert_uint_gt(n_own_bytes, N_HEAD_BYTES);
}

static void own_program_free(void)
{
    free(own_bytes);
}

static bool count_libraries(void *arg, const char *library)
{
    int *n_libc = arg;

    *n_libc += strncmp(library, "libc.so", strlen("libc.so")) == 0;
    return true;
}

static int judge_path(const char *path, int *n_libc)
{
    *n_libc = 0;
    return elf_file_read(path, count_libraries, n_libc);
}

/* Judge n_bytes of the program as if they were the whole file. */
static int judge_bytes(size_t n_bytes)
{
    char path[64];
    int fd = memfd_create("elf", 0);
    int n_libc;
    int kind;

    ck_assert_int_eq(write(fd, own_bytes, n_bytes), (ssize_t)n_bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    kind = judge_path(path, &n_libc);
    close(fd);
    return kind;
}

START_TEST(this_program_is_dynamic_and_needs_libc)
{
    int n_libc;

    ck_assert_int_eq(judge_path("/proc/self/exe", &n_libc), ELF_DYNAMIC);
    ck_assert_int_eq(n_libc, 1);
    ck_assert_int_eq(judge_bytes(n_own_bytes), ELF_DYNAMIC);
}
END_TEST

START_TEST(what_is_no_elf_file_is_other)
{
    int n_libc;

    ck_assert_int_eq(judge_path("/dev/null", &n_libc), ELF_OTHER);
    ck_assert_int_eq(judge_path("/", &n_libc), ELF_OTHER);
    own_bytes[0] = '#';
    ck_assert_int_eq(judge_bytes(n_own_bytes), ELF_OTHER);
    ck_assert_int_eq(judge_bytes(0), ELF_OTHER);
}
END_TEST

START_TEST(a_missing_file_is_an_error)
{
    int n_libc;

    ck_assert_int_eq(judge_path("/nonexistent/program", &n_libc), -ENOENT);
}
END_TEST

START_TEST(another_class_or_byte_order_is_foreign)
{
    own_bytes[4] = 1;
    ck_assert_int_eq(judge_bytes(n_own_bytes), ELF_FOREIGN);
    own_bytes[4] = 2;
    own_bytes[5] = 3 - own_bytes[5];
    ck_assert_int_eq(judge_bytes(n_own_bytes), ELF_FOREIGN);
}
END_TEST

START_TEST(a_file_cut_off_is_never_read_beyond_its_end)
{
    for (size_t n_bytes = 4; n_bytes < N_HEAD_BYTES; n_bytes++) {
        ck_assert_int_ne(judge_bytes(n_bytes), ELF_DYNAMIC);
    }
    ck_assert_int_eq(judge_bytes(N_HEAD_BYTES), ELF_DAMAGED);
}
END_TEST

START_TEST(no_damaged_byte_of_the_headers_does_harm)
{
    static const unsigned char values[] = {0x00, 0x7f, 0x80, 0xff};

    for (size_t i = 0; i < N_HEAD_BYTES; i++) {
        unsigned char kept = own_bytes[i];

        for (size_t j = 0; j < sizeof values; j++) {
            own_bytes[i] = values[j];
            ck_assert_int_le(judge_bytes(n_own_bytes), ELF_DAMAGED);
        }
        own_bytes[i] = kept;
    }
}
END_TEST

START_TEST(headers_that_end_behind_the_file_are_damaged)
{
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)own_bytes;

    header->e_phnum = 1;
    header->e_phoff = N_HEAD_BYTES - sizeof(Elf64_Phdr);
    ck_assert_int_eq(judge_bytes(N_HEAD_BYTES), ELF_STATIC);
    header->e_phoff++;
    ck_assert_int_eq(judge_bytes(N_HEAD_BYTES), ELF_DAMAGED);
}
END_TEST

/** The section of the names that libraries are told by. */
static const Elf64_Shdr *names_section(void)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(void *)own_bytes;
    const Elf64_Shdr *sections =
        (const Elf64_Shdr *)(void *)(own_bytes + header->e_shoff);

    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type == SHT_DYNAMIC) {
            return &sections[sections[i].sh_link];
        }
    }
    ck_abort_msg("this program is not dynamic");
}

START_TEST(names_without_an_end_are_damaged)
{
    const Elf64_Shdr *names = names_section();

    own_bytes[names->sh_offset + names->sh_size - 1] = 'x';
    ck_assert_int_eq(judge_bytes(n_own_bytes), ELF_DAMAGED);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("elf_file");

    tcase_add_checked_fixture(tests, own_program_read, own_program_free);
    tcase_add_test(tests, this_program_is_dynamic_and_needs_libc);
    tcase_add_test(tests, what_is_no_elf_file_is_other);
    tcase_add_test(tests, a_missing_file_is_an_error);
    tcase_add_test(tests, another_class_or_byte_order_is_foreign);
    tcase_add_test(tests, a_file_cut_off_is_never_read_beyond_its_end);
    tcase_add_test(tests, no_damaged_byte_of_the_headers_does_harm);
    tcase_add_test(tests, headers_that_end_behind_the_file_are_damaged);
    tcase_add_test(tests, names_without_an_end_are_damaged);
    return run_tcase("elf_file", tests);
}
