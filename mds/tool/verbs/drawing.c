/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pictures; see the header. gnuplot is another program, and may not be there.
 */
#include "mds/tool/verbs/drawing.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mds/tool/read/output.h"
#include "mds/tool/verbs/verbs.h"

enum { NOT_FOUND = 127 };

#define COMMAND "command -v gnuplot > /dev/null || exit 127; exec gnuplot"

/** The ending of a file's name, and how gnuplot draws such a one. */
static const struct {
    const char *ending;
    const char *terminal;
} kinds[] = {
    {".svg", "svg size 760,460 dynamic noenhanced background 'white' font 'sans,13'"},
    {".png", "png size 1140,690 noenhanced font 'sans,13'"},
    {".txt", "dumb noenhanced size 100,32"},
    {"-", "dumb noenhanced size 100,32"},
};

/** @return NULL: there is none for such a name */
static const char *terminal_of(const char *name)
{
    size_t n_bytes = strlen(name);

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t n = strlen(kinds[i].ending);

        if (n_bytes >= n && strcmp(name + n_bytes - n, kinds[i].ending) == 0) {
            return kinds[i].terminal;
        }
    }
    return NULL;
}

/** Write a text in quotes. Nothing in it means anything to gnuplot. */
static void quote(FILE *script, const char *text)
{
    putc('\'', script);
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            putc('\'', script); /* two are one */
        }
        putc((unsigned char)*text < ' ' ? '?' : *text, script);
    }
    putc('\'', script);
}

/** What is drawn, and how. */
struct drawing {
    drawing_fn write;
    const void *what;
    const char *terminal, *title;
};

/** Have gnuplot draw into an open file. */
static int draw(const void *what, struct output *output,
                char error_out[DUMP_ERROR_BYTES])
{
    const struct drawing *drawing = what;
    int fd = dup(fileno(output->file)); /* which a program that is started keeps */
    FILE *script;
    int status;

    if (fd < 0) {
        return dump_refuse(error_out, "cannot draw: %s", strerror(errno));
    }
    signal(SIGPIPE, SIG_IGN); /* it may not be there to read */
    script = popen(COMMAND, "w");
    if (script == NULL) {
        close(fd);
        return dump_refuse(error_out, "cannot start gnuplot: %s", strerror(errno));
    }
    fprintf(script, "set terminal %s\nset output '/dev/fd/%d'\nset title ",
            drawing->terminal, fd);
    quote(script, drawing->title);
    putc('\n', script);
    drawing->write(script, drawing->what);
    status = pclose(script);
    close(fd);
    if (status != 0) {
        return dump_refuse(error_out, "%s",
                           status >> 8 == NOT_FOUND
                               ? "gnuplot is not installed, which draws the picture"
                               : "gnuplot has failed");
    }
    return 0;
}

int drawing_make(const char *name, const char *title, drawing_fn write,
                 const void *what)
{
    struct drawing drawing = {write, what, terminal_of(name), title};

    if (drawing.terminal == NULL) {
        fprintf(stderr,
                "bcs-mds: a picture's name ends in .svg, .png or .txt, or is -, "
                "which is not so of %s\n",
                name);
        return VERBS_USAGE_STATUS;
    }
    return output_make(name, false, draw, &drawing);
}
