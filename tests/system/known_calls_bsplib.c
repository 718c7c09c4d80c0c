/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A BSPlib program whose calls run_mds_calls.py knows; with one process less than there
 * are.
 */
#include <bsp.h>

#include <stdlib.h>

enum { N_WORDS = 4, N_PUTS = 2 };

int main(void)
{
    int words[N_WORDS] = {0}, got[N_WORDS], tag_size = sizeof(int), tag = 1, next;

    bsp_begin(bsp_nprocs() - 1);
    next = (bsp_pid() + 1) % bsp_nprocs();
    bsp_push_reg(words, sizeof(words));
    bsp_set_tagsize(&tag_size);
    bsp_sync();
    for (int i = 0; i < N_PUTS; i++) {
        bsp_put(next, &tag, words, 0, sizeof(int));
    }
    bsp_hpput(next, &tag, words, (int)sizeof(int), sizeof(int));
    bsp_get(next, words, 0, got, sizeof(got));
    bsp_hpget(next, words, 0, got, sizeof(int));
    bsp_send(next, &tag, words, 3 * sizeof(int));
    bsp_pop_reg(words);
    bsp_sync();
    bsp_end();
    return words[0] == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
