/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bsp_sync: one superstep of cBSP, and a second one if any process gets something.
 *
 * The first carries registrations, messages with tags, puts, and requests of gets; its
 * barrier tells everybody whether there are any of these. Puts are kept by their
 * receivers, and requests are answered with what is in memory; then all answers have
 * been read before anything is put. The second superstep carries the answers, which
 * each process counts. After it gets and then puts are written. Unbuffered ones are
 * written as they come.
 */
#include "libbcs/bsplib/bsplib.h"

static void check_bits(uint8_t all_bits)
{
    if ((all_bits & BSPLIB_SYNC) != 0 && (all_bits & BSPLIB_END) != 0) {
        bsp_abort("bsp_sync/bsp_end: some processes have called bsp_sync, others "
                  "bsp_end\n");
    }
}

uint8_t bsplib_superstep(struct bsplib *bsp, const char *caller)
{
    uint8_t all_bits = 0;

    bsplib_require(caller, cbsp_raw_gsync(bsp->bits, &all_bits));
    check_bits(all_bits);
    if ((all_bits & BSPLIB_GETS) != 0) {
        bsplib_require(caller, cBSP_nsync(bsp->n_gets));
    }
    bsp->bits = 0;
    bsp->n_gets = 0;
    return all_bits;
}

void bsplib_call_sync(void)
{
    struct bsplib *bsp = bsplib_check("bsp_sync");
    uint8_t all_bits;

    bsp->bits |= BSPLIB_SYNC;
    bsplib_registrations_tell(bsp);
    all_bits = bsplib_superstep(bsp, "bsp_sync");
    bsplib_remote_apply(bsp);
    if ((all_bits & BSPLIB_REGISTERS) != 0) {
        bsplib_registrations_apply(bsp);
    }
    bsplib_queue_turn(bsp);
}
