/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws what the viewer has, by ncurses, and reads keys; see screen.h. Signals come by
 * a file descriptor, so that nothing runs in a handler, and the one loop waits for
 * keys, signals and the time.
 */
#include "screen.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "guard.h"
#include "libbcs/fabric/base/clock.h"
#include "picture.h"
#include "viewer.h"

enum { LINE_BYTES = 1024, SHIFT = 8, SIGNAL_STATUS = 128 };

/** The terminal and what is seen of the rows. */
struct screen {
    struct viewer viewer;
    uint32_t top;   /* the first row that is seen */
    uint32_t shift; /* characters of what ranks wait in that are left out */
    bool has_help;
    bool is_over;
    int signals; /* file descriptor */
    int ended_by;
};

static uint32_t width(void)
{
    return (uint32_t)(COLS > 0 ? COLS : 1);
}

/** Rows that there is room for. */
static uint32_t n_visible(void)
{
    return LINES > PICTURE_LINES + 1 ? (uint32_t)(LINES - PICTURE_LINES - 1) : 0;
}

/** Put a text on a line, cut off where the terminal ends. */
static void put_line(int line, const char *text, attr_t attributes)
{
    if (line >= LINES) {
        return;
    }
    move(line, 0);
    clrtoeol();
    attron(attributes);
    /* The last column of the last line would scroll. */
    addnstr(text, line == LINES - 1 ? COLS - 1 : COLS);
    if ((attributes & A_REVERSE) != 0) {
        for (int x = getcurx(stdscr); getcury(stdscr) == line && x < COLS - 1; x++) {
            addch(' ');
        }
    }
    attroff(attributes);
}

static void draw_help(void)
{
    const char *text;

    for (uint32_t i = 0; (text = picture_help(i)) != NULL; i++) {
        put_line((int)i, text, i == 0 ? A_BOLD : A_NORMAL);
    }
    put_line(LINES - 1, "any key goes back", A_NORMAL);
}

static void draw_none(const struct viewer *viewer)
{
    put_line(0, "bcs-top", A_BOLD);
    put_line(
        2,
        viewer->problem[0] != '\0'
            ? viewer->problem
            : "No job under BCS that this user may look at. One that begins is shown.",
        A_NORMAL);
    put_line(LINES - 1, "q quit  ? help  j/k other job", A_NORMAL);
}

static void draw_rows(struct screen *screen, const struct picture *picture)
{
    const struct rows *rows = picture->rows;
    uint32_t n = n_visible();

    if (screen->top + n > rows->n) {
        screen->top = rows->n > n ? rows->n - n : 0;
    }
    for (uint32_t i = 0; i < n && screen->top + i < rows->n; i++) {
        const struct row *row = &rows->rows[screen->top + i];
        char room[LINE_BYTES];
        struct words words = words_begin(room, sizeof(room));

        picture_add_row(&words, picture, row, viewer_place(&screen->viewer, row),
                        width(), screen->shift);
        put_line(PICTURE_LINES + (int)i, room, A_NORMAL);
    }
}

static void draw_job(struct screen *screen)
{
    const struct picture picture = viewer_picture(&screen->viewer);
    char room[LINE_BYTES];
    struct words words;

    for (int i = 0; i < PICTURE_LINES; i++) {
        words = words_begin(room, sizeof(room));
        picture_add_line(&words, &picture, (enum picture_line)i, width());
        put_line(i, room,
                 i == PICTURE_TITLE  ? A_BOLD
                 : i == PICTURE_HEAD ? A_REVERSE
                                     : A_NORMAL);
    }
    draw_rows(screen, &picture);
    words = words_begin(room, sizeof(room));
    picture_add_foot(&words, &picture);
    if (picture.rows->n > n_visible()) {
        words_add(&words, "  %u-%u of %u", screen->top + 1, screen->top + n_visible(),
                  picture.rows->n);
    }
    put_line(LINES - 1, room, picture.has_ended ? A_BOLD : A_NORMAL);
}

static void draw(struct screen *screen)
{
    erase();
    if (screen->has_help) {
        draw_help();
    } else if (!screen->viewer.has_now) {
        draw_none(&screen->viewer);
    } else {
        draw_job(screen);
    }
    refresh();
}

/** Scroll so many rows, down if positive. */
static void scroll_by(struct screen *screen, int64_t n)
{
    int64_t last = (int64_t)screen->viewer.rows.n - n_visible();
    int64_t top = (int64_t)screen->top + n;

    top = top > last ? last : top;
    screen->top = top < 0 ? 0 : (uint32_t)top;
}

static void turn(struct screen *screen, int steps)
{
    viewer_turn(&screen->viewer, steps);
    screen->top = screen->shift = 0;
}

/** Change how rows are arranged. */
static void arrange(struct screen *screen, int key)
{
    struct viewer *viewer = &screen->viewer;

    if (key == 's') {
        viewer->order = (viewer->order + 1) % ROWS_ORDERS;
    } else {
        viewer->is_grouped = !viewer->is_grouped;
        viewer->has_chosen_groups = true;
    }
    screen->top = 0;
    viewer_arrange(viewer);
}

/** Keys that move what is seen. */
static void scroll_for(struct screen *screen, int key)
{
    switch (key) {
    case KEY_UP:
        scroll_by(screen, -1);
        break;
    case KEY_DOWN:
        scroll_by(screen, 1);
        break;
    case KEY_PPAGE:
        scroll_by(screen, -(int64_t)n_visible());
        break;
    case KEY_NPAGE:
        scroll_by(screen, n_visible());
        break;
    case KEY_HOME:
        screen->top = 0;
        break;
    case KEY_END:
        scroll_by(screen, screen->viewer.rows.n);
        break;
    case KEY_LEFT:
        screen->shift -= screen->shift < SHIFT ? screen->shift : SHIFT;
        break;
    case KEY_RIGHT:
        screen->shift += screen->shift < LINE_BYTES ? SHIFT : 0;
        break;
    default:
        break;
    }
}

static void obey(struct screen *screen, int key)
{
    if (screen->has_help && key != 'q') {
        screen->has_help = false;
        return;
    }
    switch (key) {
    case 'q':
    case 'Q':
        screen->is_over = true;
        break;
    case '?':
    case 'h':
        screen->has_help = true;
        break;
    case 'j':
    case 'k':
        turn(screen, key == 'j' ? 1 : -1);
        break;
    case 's':
    case 'g':
        arrange(screen, key);
        break;
    case 'p':
        viewer_pause(&screen->viewer);
        break;
    default:
        scroll_for(screen, key);
        break;
    }
}

/** Take the size that the terminal has got. */
static void resize(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
        size.ws_col > 0) {
        resizeterm(size.ws_row, size.ws_col);
    }
}

/** Take a signal. */
static void take_signal(struct screen *screen)
{
    struct signalfd_siginfo info;

    if (read(screen->signals, &info, sizeof(info)) != sizeof(info)) {
        return;
    }
    if (info.ssi_signo == SIGWINCH) {
        resize();
    } else {
        screen->ended_by = (int)info.ssi_signo;
        screen->is_over = true;
    }
}

/** Wait for a key, a signal, or the time. @return whether there is something new to
 *  show */
static bool await(struct screen *screen, uint64_t until_ns)
{
    struct pollfd sources[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                               {.fd = screen->signals, .events = POLLIN}};
    uint64_t now_ns = bcs_clock_now_ns();
    uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    bool is_new = false;
    int key;

    if (poll(sources, 2, (int)(left_ns / 1000000) + (left_ns % 1000000 != 0)) <= 0) {
        return false;
    }
    if (sources[1].revents != 0) {
        take_signal(screen);
        is_new = true;
    }
    while (!screen->is_over && sources[0].revents != 0 && (key = getch()) != ERR) {
        obey(screen, key);
        is_new = true;
    }
    if ((sources[0].revents & (POLLHUP | POLLERR)) != 0) {
        screen->ended_by = SIGHUP; /* the terminal is gone */
        screen->is_over = true;
    }
    return is_new;
}

static void show(struct screen *screen)
{
    bool is_new = true;
    uint64_t next_ns;

    while (!screen->is_over) {
        is_new |= viewer_step(&screen->viewer, &next_ns);
        if (is_new) {
            draw(screen);
        }
        is_new = await(screen, next_ns);
    }
}

/** Have signals come by a file descriptor. @return it, or -1 */
static int catch_signals(void)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGQUIT);
    sigaddset(&signals, SIGWINCH);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

/** In the child of the guard. */
static int run(void *arg)
{
    struct screen *screen = arg;
    SCREEN *terminal;

    screen->signals = catch_signals();
    if (screen->signals < 0 || viewer_init(&screen->viewer) < 0) {
        fprintf(stderr, "bcs-top: out of memory or file descriptors\n");
        return EXIT_FAILURE;
    }
    terminal = newterm(NULL, stdout, stdin);
    if (terminal == NULL) {
        fprintf(stderr,
                "bcs-top: no terminal of a known type (TERM): use --once or --json\n");
        viewer_fini(&screen->viewer);
        return EXIT_FAILURE;
    }
    cbreak();
    noecho();
    nodelay(stdscr, TRUE);
    keypad(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    show(screen);
    endwin();
    delscreen(terminal);
    viewer_fini(&screen->viewer);
    close(screen->signals);
    return screen->ended_by == 0 ? EXIT_SUCCESS : SIGNAL_STATUS + screen->ended_by;
}

int screen_run(void)
{
    struct screen *screen = calloc(1, sizeof(*screen));
    int status;

    if (screen == NULL) {
        fprintf(stderr, "bcs-top: out of memory\n");
        return EXIT_FAILURE;
    }
    status = guard_run(run, screen);
    free(screen);
    return status;
}
