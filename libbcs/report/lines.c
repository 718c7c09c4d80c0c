/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks bcs-top for lines of the source; see lines.h. It reads all addresses before it
 * writes, so that one socket serves both ways; a pipe that nobody reads would end this
 * process.
 */
#include "libbcs/report/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/report/top_tool.h"

enum { READ_BYTES = 4096 };

/** What bcs-top is asked: a line each, the address and the path. @return for free, or
 *  NULL */
static char *question_of(const struct bcs_line *lines, uint32_t n)
{
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);

    if (out == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool is_line = lines[i].path != NULL && strchr(lines[i].path, '\n') == NULL;

        fprintf(out, "%" PRIx64 " %s\n", lines[i].offset,
                is_line ? lines[i].path : "?");
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/** Start bcs-top with a socket for its input and output. @return 0 or an errno */
static int start(int socket, pid_t *child_out)
{
    char path[BCS_TOP_TOOL_BYTES];
    const char *tool = bcs_top_tool_find(path);
    char *const arguments[] = {(char *)(uintptr_t)tool, (char *)(uintptr_t) "--lines",
                               NULL};
    char **environment = bcs_top_tool_environment();
    posix_spawn_file_actions_t actions;
    int rc;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
    rc = environment == NULL
             ? ENOMEM
             : posix_spawnp(child_out, tool, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return rc;
}

/** Send a text, and that there is no more. @return whether all has gone */
static bool ask(int socket, const char *text)
{
    size_t n_left = strlen(text);

    while (n_left > 0) {
        ssize_t n = send(socket, text, n_left, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR) {
            return false;
        }
        text += n > 0 ? n : 0;
        n_left -= n > 0 ? (size_t)n : 0;
    }
    return shutdown(socket, SHUT_WR) == 0;
}

/** Read all that comes. @return for free, or NULL */
static char *answer_of(int socket)
{
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);
    char part[READ_BYTES];
    ssize_t n = 1;

    while (out != NULL && n > 0) {
        n = read(socket, part, sizeof(part));
        if (n > 0) {
            fwrite(part, 1, (size_t)n, out);
        } else if (n < 0 && errno == EINTR) {
            n = 1;
        }
    }
    if (out == NULL || fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/** Have bcs-top answer. @return for free; NULL: it cannot */
static char *answer(const char *question)
{
    int sockets[2], status = 0;
    char *text = NULL;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
        return NULL;
    }
    if (start(sockets[1], &child) == 0) {
        close(sockets[1]);
        text = ask(sockets[0], question) ? answer_of(sockets[0]) : NULL;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    } else {
        close(sockets[1]);
    }
    close(sockets[0]);
    if (status != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/** What can be said without bcs-top. @return for free, or NULL */
static char *words_of(const struct bcs_line *line)
{
    const char *slash = line->path == NULL ? NULL : strrchr(line->path, '/');
    char *text;

    return asprintf(&text, "0x%" PRIx64 " in %s", line->offset,
                    slash != NULL        ? slash + 1
                    : line->path == NULL ? "no file"
                                         : line->path) < 0
               ? NULL
               : text;
}

/** Take the line of the source, "12 /src/file.c" behind a tab, off an answer. */
static void take_source(char *answer, struct bcs_line *line)
{
    char *tab = answer == NULL ? NULL : strchr(answer, '\t'), *path;

    line->file = NULL;
    if (tab != NULL) {
        *tab = '\0';
        line->number = (int)strtol(tab + 1, &path, 10);
        line->file = *path == ' ' ? strdup(path + 1) : NULL;
    }
}

bool bcs_lines_find(struct bcs_line *lines, uint32_t n)
{
    char *question = n == 0 ? NULL : question_of(lines, n);
    char *text = question == NULL ? NULL : answer(question);
    char *rest = text;
    bool is_found = text != NULL;

    for (uint32_t i = 0; i < n; i++) {
        char *line = rest == NULL ? NULL : strsep(&rest, "\n");

        take_source(line, &lines[i]);
        is_found &= line != NULL && *line != '\0';
        lines[i].text =
            line != NULL && *line != '\0' ? strdup(line) : words_of(&lines[i]);
    }
    free(text);
    free(question);
    return is_found;
}
