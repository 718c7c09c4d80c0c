/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small ELF reader: program headers, then the dynamic section's DT_NEEDED entries. It
 * believes nothing: each structure is copied out of the mapped file after its range has
 * been checked. Called by bcsrun before it launches a program.
 */
#include "apps/tools/launch/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_BYTE_ORDER ELFDATA2LSB
#else
#define OWN_BYTE_ORDER ELFDATA2MSB
#endif

/** The mapped file, and what its headers say. */
struct elf_view {
    const char *bytes;
    size_t n_bytes;
    Elf64_Ehdr header;
    bool has_interpreter;
    bool has_dynamic;
    Elf64_Phdr dynamic;
    uint64_t strings_offset; /* in the file; strings_bytes long */
    uint64_t strings_bytes;
};

static bool view_copy(const struct elf_view *view, uint64_t offset, void *out,
                      size_t n_bytes)
{
    if (offset > view->n_bytes || n_bytes > view->n_bytes - offset) {
        return false;
    }
    memcpy(out, view->bytes + offset, n_bytes);
    return true;
}

static bool segment_read(const struct elf_view *view, unsigned int index,
                         Elf64_Phdr *segment_out)
{
    uint64_t offset;

    return !__builtin_add_overflow(view->header.e_phoff,
                                   (uint64_t)index * sizeof *segment_out, &offset) &&
           view_copy(view, offset, segment_out, sizeof *segment_out);
}

/* Find the interpreter and the dynamic section. False: the headers are damaged. */
static bool segments_scan(struct elf_view *view)
{
    Elf64_Phdr segment;

    if (view->header.e_phentsize != sizeof segment) {
        return view->header.e_phnum == 0;
    }
    for (unsigned int i = 0; i < view->header.e_phnum; i++) {
        if (!segment_read(view, i, &segment)) {
            return false;
        }
        if (segment.p_type == PT_INTERP) {
            view->has_interpreter = true;
        } else if (segment.p_type == PT_DYNAMIC) {
            view->has_dynamic = true;
            view->dynamic = segment;
        }
    }
    return true;
}

/* Where in the file the byte is that will be loaded at address. */
static bool address_to_offset(const struct elf_view *view, uint64_t address,
                              uint64_t *offset_out)
{
    Elf64_Phdr segment;

    for (unsigned int i = 0; i < view->header.e_phnum; i++) {
        if (segment_read(view, i, &segment) && segment.p_type == PT_LOAD &&
            address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz) {
            return !__builtin_add_overflow(segment.p_offset, address - segment.p_vaddr,
                                           offset_out);
        }
    }
    return false;
}

/* Entry index of the dynamic section. False after the last. */
static bool dynamic_read(const struct elf_view *view, uint64_t index, Elf64_Dyn *out)
{
    uint64_t offset;

    return index < view->dynamic.p_filesz / sizeof *out &&
           !__builtin_add_overflow(view->dynamic.p_offset, index * sizeof *out,
                                   &offset) &&
           view_copy(view, offset, out, sizeof *out) && out->d_tag != DT_NULL;
}

/* Find the names' table and check that it lies in the file and ends with a 0. */
static bool strings_find(struct elf_view *view)
{
    Elf64_Dyn entry;
    bool has_table = false;
    char last;

    for (uint64_t i = 0; dynamic_read(view, i, &entry); i++) {
        if (entry.d_tag == DT_STRTAB) {
            has_table =
                address_to_offset(view, entry.d_un.d_ptr, &view->strings_offset);
        } else if (entry.d_tag == DT_STRSZ) {
            view->strings_bytes = entry.d_un.d_val;
        }
    }
    return has_table && view->strings_bytes > 0 &&
           view->strings_offset <= view->n_bytes &&
           view->strings_bytes <= view->n_bytes - view->strings_offset &&
           view_copy(view, view->strings_offset + view->strings_bytes - 1, &last, 1) &&
           last == '\0';
}

static int needed_report(struct elf_view *view, elf_needed_fn needed, void *arg)
{
    Elf64_Dyn entry;

    if (!strings_find(view)) {
        return ELF_DAMAGED;
    }
    for (uint64_t i = 0; dynamic_read(view, i, &entry); i++) {
        if (entry.d_tag != DT_NEEDED) {
            continue;
        }
        if (entry.d_un.d_val >= view->strings_bytes) {
            return ELF_DAMAGED;
        }
        if (!needed(arg, view->bytes + view->strings_offset + entry.d_un.d_val)) {
            break;
        }
    }
    return ELF_DYNAMIC;
}

static int view_judge(struct elf_view *view, elf_needed_fn needed, void *arg)
{
    unsigned char ident[EI_NIDENT];

    if (!view_copy(view, 0, ident, SELFMAG) || memcmp(ident, ELFMAG, SELFMAG) != 0) {
        return ELF_OTHER;
    }
    if (!view_copy(view, 0, ident, sizeof ident)) {
        return ELF_DAMAGED;
    }
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != OWN_BYTE_ORDER) {
        return ELF_FOREIGN;
    }
    if (!view_copy(view, 0, &view->header, sizeof view->header) ||
        !segments_scan(view)) {
        return ELF_DAMAGED;
    }
    if (!view->has_interpreter || !view->has_dynamic) {
        return ELF_STATIC;
    }
    return needed_report(view, needed, arg);
}

int elf_file_read(const char *path, elf_needed_fn needed, void *arg)
{
    struct elf_view view = {0};
    struct stat status;
    void *bytes;
    int kind;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        return -errno;
    }
    if (fstat(fd, &status)) {
        kind = -errno;
        close(fd);
        return kind;
    }
    if (!S_ISREG(status.st_mode) || status.st_size == 0) {
        close(fd);
        return ELF_OTHER;
    }
    view.n_bytes = (size_t)status.st_size;
    bytes = mmap(NULL, view.n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    kind = bytes == MAP_FAILED ? -errno : 0;
    close(fd);
    if (kind < 0) {
        return kind;
    }
    view.bytes = bytes;
    kind = view_judge(&view, needed, arg);
    munmap(bytes, view.n_bytes);
    return kind;
}
