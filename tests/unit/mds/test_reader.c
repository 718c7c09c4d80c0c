/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child that reads: it answers, better and better, and is ended if it does not, or
 * has ended by itself; and files are opened without waiting. A question's first letter
 * says what the child does.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mds/source/reader.h"
#include "tests/unit/run_suite.h"

#define LONG_NS (UINT64_C(3600) * 1000000000)
#define SHORT_NS UINT64_C(20000000)
#define TOO_MUCH_BYTES ((size_t)6 << 30)

static char answer[READER_ANSWER_BYTES];

static void tell_text(int answers, bool is_last, const char *text)
{
    reader_tell(answers, is_last, text, strlen(text));
}

/** Tell which descriptors are open besides the first three and the socket. */
static void tell_descriptors(int answers)
{
    char text[256] = "";

    for (int i = 0; i < 1024; i++) {
        if (i > 2 && i != answers && fcntl(i, F_GETFD) >= 0) {
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d ", i);
        }
    }
    tell_text(answers, true, text[0] == '\0' ? "none" : text);
}

static void tell_user(int answers)
{
    char text[64];
    bool is = reader_become(65534, 65533);

    snprintf(text, sizeof(text), "%d %d %d %d", is, (int)getuid(), (int)getegid(),
             getgroups(0, NULL));
    tell_text(answers, true, text);
}

static void serve(void *arg, const char *question, size_t n_bytes, int answers)
{
    (void)n_bytes;
    switch (question[0]) {
    case 'e': /* echo */
        tell_text(answers, true, question);
        break;
    case 'b': /* better and better */
        tell_text(answers, false, "good");
        tell_text(answers, false, "better");
        tell_text(answers, true, arg);
        break;
    case 'h': /* hangs, after a first answer */
        tell_text(answers, false, "so far");
        for (;;) {
            pause();
        }
    case 'd': /* dies */
        tell_text(answers, false, "last words");
        raise(SIGSEGV);
        break;
    case 'm': /* takes too much memory */
        tell_text(answers, true, malloc(TOO_MUCH_BYTES) == NULL ? "none" : "all");
        break;
    case 'f':
        tell_descriptors(answers);
        break;
    case 'u':
        tell_user(answers);
        break;
    default:
        break;
    }
}

static struct reader *start(void)
{
    static char best[] = "best";
    struct reader *reader = reader_start(serve, best);

    ck_assert_ptr_nonnull(reader);
    return reader;
}

static bool ask(struct reader *reader, const char *question, uint64_t ns)
{
    return reader_ask(reader, question, strlen(question), answer, &ns);
}

/** No child is left. */
static void assert_alone(void)
{
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}

START_TEST(a_child_answers_one_question_after_another)
{
    struct reader *reader = start();

    ck_assert(ask(reader, "echo 1", LONG_NS));
    ck_assert_str_eq(answer, "echo 1");
    ck_assert(ask(reader, "better?", LONG_NS));
    ck_assert_str_eq(answer, "best");
    ck_assert(ask(reader, "e", LONG_NS));
    ck_assert_str_eq(answer, "e");
    reader_end(reader);
    assert_alone();
}
END_TEST

START_TEST(of_a_child_that_hangs_there_is_what_it_has_found)
{
    struct reader *reader = start();
    uint64_t left_ns = SHORT_NS;

    ck_assert(!reader_ask(reader, "hang", 4, answer, &left_ns));
    ck_assert_str_eq(answer, "so far");
    ck_assert_uint_lt(left_ns, SHORT_NS);
    reader_end(reader);
    assert_alone();
}
END_TEST

START_TEST(without_time_nothing_is_waited_for)
{
    struct reader *reader = start();
    uint64_t left_ns = 0;

    ck_assert(!reader_ask(reader, "hang", 4, answer, &left_ns));
    ck_assert_uint_eq(left_ns, 0);
    reader_end(reader);
}
END_TEST

START_TEST(of_a_child_that_dies_there_is_what_it_has_found)
{
    struct reader *reader = start();

    ck_assert(!ask(reader, "die", LONG_NS));
    ck_assert_str_eq(answer, "last words");
    ck_assert(!ask(reader, "echo", LONG_NS));
    ck_assert_str_eq(answer, "");
    reader_end(reader);
    assert_alone();
}
END_TEST

START_TEST(a_child_has_no_memory_without_end)
{
    struct reader *reader = start();

    ck_assert(ask(reader, "m", LONG_NS));
    ck_assert_str_eq(answer, "none");
    reader_end(reader);
}
END_TEST

START_TEST(a_child_holds_no_descriptor_of_its_parent)
{
    int ends[2];
    struct reader *reader;

    ck_assert_int_eq(pipe(ends), 0);
    reader = start();
    ck_assert(ask(reader, "f", LONG_NS));
    ck_assert_str_eq(answer, "none");
    reader_end(reader);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

START_TEST(a_parent_without_descriptors_has_a_child)
{
    struct reader *reader;

    for (int i = 0; i < 3; i++) {
        close(i); /* in this test's own process */
    }
    reader = start();
    ck_assert(ask(reader, "echo", LONG_NS));
    ck_assert_str_eq(answer, "echo");
    reader_end(reader);
}
END_TEST

START_TEST(roots_child_becomes_another_user)
{
    struct reader *reader = start();
    char expected[64];
    bool is_root = geteuid() == 0;

    snprintf(expected, sizeof(expected), "1 %d %d %d", is_root ? 65534 : (int)getuid(),
             is_root ? 65533 : (int)getegid(), is_root ? 0 : getgroups(0, NULL));
    ck_assert(ask(reader, "u", LONG_NS));
    ck_assert_str_eq(answer, expected);
    reader_end(reader);
}
END_TEST

START_TEST(only_files_are_opened)
{
    char folder[] = "/tmp/reader-test.XXXXXX", path[64];
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd, door = socket(AF_UNIX, SOCK_STREAM, 0);

    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(mkfifo("fifo", 0600), 0);
    snprintf(name.sun_path, sizeof(name.sun_path), "%s/socket", folder);
    ck_assert_int_eq(bind(door, (struct sockaddr *)&name, sizeof(name)), 0);
    ck_assert_int_eq(symlink("fifo", "link"), 0);
    ck_assert_int_eq(symlink("file", "good"), 0);
    close(open("file", O_CREAT | O_WRONLY, 0600));
    ck_assert_int_eq(reader_open_file("fifo"), -EINVAL);
    ck_assert_int_eq(reader_open_file("link"), -EINVAL);
    ck_assert_int_eq(reader_open_file("socket"), -EINVAL);
    ck_assert_int_eq(reader_open_file(folder), -EINVAL);
    ck_assert_int_eq(reader_open_file("/dev/zero"), -EINVAL);
    ck_assert_int_eq(reader_open_file("nothing"), -ENOENT);
    fd = reader_open_file("good");
    ck_assert_int_ge(fd, 0);
    close(fd);
    close(door);
    snprintf(path, sizeof(path), "rm -r %s", folder);
    ck_assert_int_eq(system(path), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("reader");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_child_answers_one_question_after_another);
    tcase_add_test(tcase, of_a_child_that_hangs_there_is_what_it_has_found);
    tcase_add_test(tcase, without_time_nothing_is_waited_for);
    tcase_add_test(tcase, of_a_child_that_dies_there_is_what_it_has_found);
    if (!HAS_ADDRESS_SANITIZER) {
        tcase_add_test(tcase, a_child_has_no_memory_without_end);
    }
    tcase_add_test(tcase, a_child_holds_no_descriptor_of_its_parent);
    tcase_add_test(tcase, a_parent_without_descriptors_has_a_child);
    tcase_add_test(tcase, roots_child_becomes_another_user);
    tcase_add_test(tcase, only_files_are_opened);
    return run_tcase("reader", tcase);
}
