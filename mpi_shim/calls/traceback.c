/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads tracebacks; see traceback.h. The text is one that CPython may change: of a line
 * in another form nothing is taken, nor of those before it.
 *
 *     Stack (most recent call first):
 *       File "/a/run.py", line 7 in step
 *       File "/a/run.py", line 20 in <module>
 */
#include "mpi_shim/calls/traceback.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "mpi_shim/calls/skip_list.h"

#define HEAD "Stack (most recent call first):\n"
#define FILE_BEGIN "  File \""
#define LINE_BEGIN "\", line "
#define FUNCTION_BEGIN " in "
#define DEEPER "  ..."    /* in place of the frames after so many */
#define FROZEN "<frozen " /* modules of the interpreter itself */

enum { PATH_BYTES = 1024, FUNCTION_MOST = 60, FILE_MOST = 120, DIGITS_MOST = 9 };

/** A line of a traceback; texts are parts of it. */
struct frame {
    char path[PATH_BYTES];
    const char *digits, *function;
    size_t n_digits, n_function;
};

/** The last place of a text in a line. @return NULL: it has none */
static const char *last_of(const char *line, size_t n, const char *text)
{
    size_t n_text = strlen(text);

    for (size_t i = n; i >= n_text; i--) {
        if (memcmp(line + i - n_text, text, n_text) == 0) {
            return line + i - n_text;
        }
    }
    return NULL;
}

/** Read a line. @return whether it is that of a frame, and whole */
static bool read_frame(const char *line, size_t n, struct frame *frame_out)
{
    const char *file = line + strlen(FILE_BEGIN);
    const char *end = last_of(line, n, LINE_BEGIN);

    if (n < strlen(FILE_BEGIN) || memcmp(line, FILE_BEGIN, strlen(FILE_BEGIN)) != 0 ||
        end == NULL || end <= file || (size_t)(end - file) >= PATH_BYTES) {
        return false;
    }
    snprintf(frame_out->path, PATH_BYTES, "%.*s", (int)(end - file), file);
    frame_out->digits = end + strlen(LINE_BEGIN);
    frame_out->n_digits = strspn(frame_out->digits, "0123456789");
    frame_out->function =
        frame_out->digits + frame_out->n_digits + strlen(FUNCTION_BEGIN);
    if (frame_out->n_digits == 0 || frame_out->n_digits > DIGITS_MOST ||
        frame_out->function >= line + n ||
        memcmp(frame_out->digits + frame_out->n_digits, FUNCTION_BEGIN,
               strlen(FUNCTION_BEGIN)) != 0) {
        return false;
    }
    frame_out->n_function = (size_t)(line + n - frame_out->function);
    return true;
}

/** Add the words for a frame to others. @return false: there is no room for them */
static bool add_words(const struct frame *frame, char lines_out[BCS_STAND_LINES_BYTES])
{
    const char *slash = strrchr(frame->path, '/');
    size_t n_function =
        frame->n_function < FUNCTION_MOST ? frame->n_function : FUNCTION_MOST;
    size_t n = strlen(lines_out);
    char words[BCS_STAND_LINES_BYTES];

    snprintf(words, sizeof(words), "%s%.*s, %.*s:%.*s", n == 0 ? "" : "\n",
             (int)n_function, frame->function, FILE_MOST,
             slash == NULL ? frame->path : slash + 1, (int)frame->n_digits,
             frame->digits);
    if (n + strlen(words) >= BCS_STAND_LINES_BYTES) {
        return false;
    }
    strcpy(lines_out + n, words);
    return true;
}

/** Whether a frame is not the program's own. */
static bool is_skipped(const struct frame *frame, const char *skip)
{
    return strncmp(frame->path, FROZEN, strlen(FROZEN)) == 0 ||
           shim_skip_has(skip, frame->path);
}

void shim_traceback_lines(const char *text, const char *skip, uint32_t n_most,
                          char lines_out[BCS_STAND_LINES_BYTES])
{
    uint32_t n_lines = 0;
    const char *end;

    lines_out[0] = '\0';
    if (strncmp(text, HEAD, strlen(HEAD)) != 0) {
        return;
    }
    text += strlen(HEAD);
    for (; n_lines < n_most && (end = strchr(text, '\n')) != NULL; text = end + 1) {
        struct frame frame;

        if (strncmp(text, DEEPER, strlen(DEEPER)) == 0) {
            return;
        }
        if (!read_frame(text, (size_t)(end - text), &frame)) {
            lines_out[0] = '\0';
            return;
        }
        if (is_skipped(&frame, skip)) {
            continue;
        }
        if (!add_words(&frame, lines_out)) {
            return;
        }
        n_lines++;
    }
}
