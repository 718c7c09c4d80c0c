/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a process's command and map; see process_text.h.
 */
#include "process_text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libbcs/fabric/base/process.h"
#include "mds/source/reader.h"

#define PATIENCE_NS UINT64_C(200000000)

/** What is wanted of a process. */
struct wanted {
    int64_t pid;
    uint64_t address; /* its file; 0: the command */
};

static void read_command(int64_t pid, char text_out[READER_ANSWER_BYTES])
{
    char name[64];
    ssize_t n = 0;
    int fd;

    snprintf(name, sizeof(name), "/proc/%" PRId64 "/cmdline", pid);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text_out, READER_ANSWER_BYTES - 1);
        close(fd);
    }
    for (ssize_t i = 0; i + 1 < n; i++) {
        text_out[i] = text_out[i] == '\0' ? ' ' : text_out[i];
    }
    text_out[n < 0 ? 0 : n] = '\0';
}

static void read_text(const struct wanted *wanted, char text_out[READER_ANSWER_BYTES])
{
    text_out[0] = '\0';
    if (wanted->address == 0) {
        read_command(wanted->pid, text_out);
    } else {
        bcs_process_file(wanted->pid, wanted->address, text_out, READER_ANSWER_BYTES);
    }
}

/** In the child. */
static void serve(void *arg, const char *question, size_t n_bytes, int answers)
{
    char text[READER_ANSWER_BYTES];

    (void)question;
    (void)n_bytes;
    read_text(arg, text);
    reader_tell(answers, true, text, strlen(text));
}

static bool is_own(int64_t pid)
{
    struct stat status;
    char name[64];

    snprintf(name, sizeof(name), "/proc/%" PRId64, pid);
    return stat(name, &status) == 0 && status.st_uid == geteuid();
}

static void find(struct wanted wanted, char text_out[READER_ANSWER_BYTES])
{
    uint64_t left_ns = PATIENCE_NS;
    struct reader *reader;

    if (is_own(wanted.pid)) {
        read_text(&wanted, text_out);
        return;
    }
    text_out[0] = '\0';
    reader = reader_start(serve, &wanted);
    if (reader != NULL) {
        reader_ask(reader, "?", 1, text_out, &left_ns);
        reader_end(reader);
    }
}

void process_text_command(int64_t pid, char *text_out, size_t n_bytes)
{
    char text[READER_ANSWER_BYTES];

    find((struct wanted){.pid = pid}, text);
    snprintf(text_out, n_bytes, "%s", text);
}

char *process_text_file(int64_t pid, uint64_t address)
{
    char text[READER_ANSWER_BYTES];

    find((struct wanted){.pid = pid, .address = address}, text);
    return text[0] == '\0' ? NULL : strdup(text);
}
