/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BSPlib on cBSP: every call, with checks; or, with the name of an error as argument,
 * that error, which must end the job. Started by run_bsplib.py.
 */
#include <bsp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_wrong, n_wanted, P, s;

static void expect(int is_right, int line)
{
    if (!is_right) {
        n_wrong++;
        printf("process %d: line %d: wrong\n", s, line);
    }
}

#define EXPECT(condition) expect(condition, __LINE__)

enum { MOST_PROCESSES = 64, LONG = 100000 };

/** Puts are written after gets, and those to one place in the order of the
 *  processes. */
static void puts_and_gets(void)
{
    int x = s, y = -1, here[MOST_PROCESSES];

    bsp_push_reg(&x, sizeof(x));
    bsp_push_reg(here, P * (int)sizeof(int));
    bsp_sync();
    for (int i = 0; i < P; i++) {
        bsp_put(i, &s, here, s * (int)sizeof(int), sizeof(int));
        bsp_put(i, &s, &x, 0, sizeof(x));
    }
    bsp_get((s + 1) % P, &x, 0, &y, sizeof(y));
    bsp_sync();
    EXPECT(y == (s + 1) % P); /* before anything was put */
    EXPECT(x == P - 1);
    for (int i = 0; i < P; i++) {
        EXPECT(here[i] == i);
    }
    bsp_get((s + 1) % P, &x, 0, &x, sizeof(x));
    bsp_put(s, &s, &x, 0, sizeof(x));
    bsp_put(s, NULL, NULL, 0, 0);
    bsp_pop_reg(&x);
    bsp_sync();
    EXPECT(x == s); /* the put came last */
    bsp_pop_reg(here);
    bsp_sync();
}

static void unbuffered(void)
{
    char *mine = malloc(LONG), *theirs = malloc(LONG), *got = malloc(LONG);
    int next = (s + 1) % P, before = (s + P - 1) % P, is_right = 1;

    memset(mine, s, LONG);
    bsp_push_reg(theirs, LONG);
    bsp_push_reg(mine, LONG);
    bsp_sync();
    bsp_hpput(next, mine, theirs, 10, LONG - 10);
    bsp_hpget(next, mine, 0, got, LONG - 10);
    bsp_sync();
    for (int i = 10; i < LONG; i++) {
        is_right = is_right && theirs[i] == before && got[i - 10] == next;
    }
    EXPECT(is_right);
    bsp_put(next, got, theirs, 0, LONG);
    bsp_get(next, mine, 1, got, LONG - 1);
    bsp_pop_reg(mine);
    bsp_pop_reg(theirs);
    bsp_sync();
    EXPECT(theirs[10] == s && got[LONG - 2] == next);
    free(mine);
    free(theirs);
    free(got);
}

/** The last registration of an address counts; NULL for those that have no part. */
static void registrations(void)
{
    int x[2] = {-1, -1}, root = P - 1;

    bsp_push_reg(x, sizeof(int));
    bsp_push_reg(s == root ? x : NULL, s == root ? (int)sizeof(x) : 0);
    bsp_push_reg(x, s == root ? (int)sizeof(x) : 0);
    bsp_sync();
    bsp_put(root, &s, x, sizeof(int), sizeof(int));
    bsp_pop_reg(x);
    bsp_pop_reg(s == root ? x : NULL);
    bsp_sync();
    EXPECT(x[0] == -1 && x[1] == (s == root ? P - 1 : -1));
    bsp_put(0, &P, x, 0, sizeof(int));
    bsp_pop_reg(x);
    bsp_sync();
    EXPECT(x[0] == (s == 0 ? P : -1));
}

static void tagged_messages(void)
{
    int tag_size = sizeof(int), n, n_bytes, status, tag, word;
    void *tag_at, *payload_at;

    bsp_set_tagsize(&tag_size);
    EXPECT(tag_size == 0);
    bsp_sync();
    for (int i = 0; i < P; i++) {
        for (tag = 0; tag < 3; tag++) {
            bsp_send(i, &tag, &s, tag == 1 ? 0 : (int)sizeof(s));
        }
    }
    bsp_sync();
    bsp_qsize(&n, &n_bytes);
    EXPECT(n == 3 * P && n_bytes == 2 * P * (int)sizeof(int));
    for (int i = P - 1; i >= 0; i--) {
        bsp_get_tag(&status, &tag);
        EXPECT(status == sizeof(int) && tag == 0);
        word = -1;
        bsp_move(&word, 2 * sizeof(word));
        EXPECT(word == i);
        bsp_get_tag(&status, &tag);
        EXPECT(status == 0 && tag == 1);
        bsp_move(NULL, 0);
        EXPECT(bsp_hpmove(&tag_at, &payload_at) == sizeof(int));
        EXPECT(*(int *)tag_at == 2 && *(int *)payload_at == i);
    }
    bsp_get_tag(&status, &tag);
    EXPECT(status == -1 && bsp_hpmove(&tag_at, &payload_at) == -1);
    bsp_send(0, &tag, &tag, sizeof(tag));
    bsp_sync();
    tag_size = 0;
    bsp_set_tagsize(&tag_size);
    EXPECT(tag_size == sizeof(int));
    bsp_sync(); /* what was not taken is gone */
    bsp_qsize(&n, &n_bytes);
    EXPECT(n == 0 && n_bytes == 0);
}

/** An error that ends the job. */
/* Messages have the tags of their own superstep, and no more is moved than there is
 * room for. */
static void tags_of_several_lengths(void)
{
    int size = 8, status, words[] = {s + 10, s + 20}, moved[] = {-1, -1};

    bsp_set_tagsize(&size);
    bsp_send(s, NULL, words, sizeof(words)); /* it has none yet */
    bsp_sync();
    bsp_get_tag(&status, NULL);
    EXPECT(status == sizeof(words));
    bsp_move(moved, sizeof(int));
    EXPECT(moved[0] == s + 10 && moved[1] == -1);
    size = 0;
    bsp_set_tagsize(&size);
    EXPECT(size == 8);
    bsp_sync();
}

static void registrations_one_after_the_other(void)
{
    int first = -1, second = -1;

    bsp_push_reg(&first, sizeof(first));
    bsp_sync();
    bsp_push_reg(&second, sizeof(second));
    bsp_sync();
    bsp_put((s + 1) % P, &s, &second, 0, sizeof(s));
    bsp_sync();
    EXPECT(first == -1 && second == (s + P - 1) % P);
    bsp_pop_reg(&first);
    bsp_pop_reg(&second);
    bsp_sync();
}

static void fail(const char *name)
{
    int x = 0, y = 0;

    if (strcmp(name, "unregistered") == 0) {
        bsp_put(0, &x, &y, 0, sizeof(y));
    } else if (strcmp(name, "too_early") == 0) {
        bsp_push_reg(&y, sizeof(y));
        bsp_put(0, &x, &y, 0, sizeof(y));
    } else if (strcmp(name, "beyond") == 0) {
        bsp_push_reg(&y, sizeof(y));
        bsp_sync();
        bsp_put(P - 1, &x, &y, 1, sizeof(y));
    } else if (strcmp(name, "push_differs") == 0) {
        if (s == 0) {
            bsp_push_reg(&y, sizeof(y));
        }
        bsp_sync();
    } else if (strcmp(name, "pop_differs") == 0) {
        bsp_push_reg(&x, sizeof(x));
        bsp_push_reg(&y, sizeof(y));
        bsp_pop_reg(s == 0 ? &x : &y);
        bsp_sync();
    } else if (strcmp(name, "tagsize_differs") == 0) {
        bsp_set_tagsize(&s);
        bsp_sync();
    } else if (strcmp(name, "end_differs") == 0) {
        if (s == 0) {
            bsp_sync();
        }
        bsp_end();
    } else if (strcmp(name, "no_process") == 0) {
        bsp_send(P, NULL, NULL, 0);
    } else if (strcmp(name, "no_end") == 0) {
        exit(EXIT_SUCCESS);
    } else if (strcmp(name, "abort") == 0 && s == P - 1) {
        bsp_abort("aborted by %d\n", s);
    }
    bsp_sync();
}

static const char *error;

static void parallel_part(void)
{
    bsp_begin(n_wanted == 0 ? bsp_nprocs() : n_wanted);
    P = bsp_nprocs();
    s = bsp_pid();
    if (error != NULL) {
        fail(error);
    }
    for (int round = 0; round < 3; round++) {
        puts_and_gets();
        unbuffered();
        registrations();
        tagged_messages();
        tags_of_several_lengths();
        registrations_one_after_the_other();
    }
    EXPECT(bsp_time() > 0);
    printf("process %d of %d: %d wrong\n", s, P, n_wrong);
    fflush(stdout);
    bsp_end();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "fewer") != 0) {
        error = argv[1];
    }
    if (argc > 1 && error == NULL) {
        bsp_init(parallel_part, argc, argv);
        n_wanted = 2; /* in process 0 only, which is the one that counts */
        printf("before, in process 0\n");
        parallel_part();
        printf("after, in process 0\n");
    } else {
        parallel_part();
    }
    return n_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
