/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The relations between the values of an input file, each as one row: the condition,
 * where the value stands and what is allowed. Runs on rank 0, once.
 */
#include "apps/sweep3d/input_check.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "apps/common/message.h"
#include "apps/sweep3d/quadrature.h"

struct relation {
    bool holds;
    int line;
    const char *name;
    double value;
    const char *allowed;
};

static bool is_epsi_allowed(double epsi)
{
    return epsi < 0 ? epsi == floor(epsi) : epsi >= 1e-14;
}

static bool is_range_inside(int first, int last, int n)
{
    return first <= last && last <= n;
}

int input_check(const char *path, const struct input *in, char *message)
{
    char mk[40], mmi[60], sigs[60], ranges[3][60];

    snprintf(mk, sizeof(mk), "1 to KT = %d", in->kt);
    snprintf(mmi, sizeof(mmi), "a divisor of MM = %d", in->mm);
    snprintf(sigs, sizeof(sigs), "0 to SIGT = %g", in->sigt);
    snprintf(ranges[0], sizeof(ranges[0]), "I1 = %d to IT = %d", in->i1, in->it);
    snprintf(ranges[1], sizeof(ranges[1]), "J1 = %d to JT = %d", in->j1, in->jt);
    snprintf(ranges[2], sizeof(ranges[2]), "K1 = %d to KT = %d", in->k1, in->kt);
    const struct relation relations[] = {
        {quadrature_is_known(in->mm), 2, "MM", in->mm, "1, 3, 6 or 10"},
        {in->mk <= in->kt, 1, "MK", in->mk, mk},
        {in->mm % in->mmi == 0, 1, "MMI", in->mmi, mmi},
        {is_epsi_allowed(in->epsi), 3, "EPSI", in->epsi, INPUT_ALLOWED_EPSI},
        {in->sigs <= in->sigt, 6, "SIGS", in->sigs, sigs},
        {fabs(in->sigs1) * 3 <= in->sigs, 6, "SIGS1", in->sigs1, INPUT_ALLOWED_SIGS1},
        {is_range_inside(in->i1, in->i2, in->it), 7, "I2", in->i2, ranges[0]},
        {is_range_inside(in->j1, in->j2, in->jt), 7, "J2", in->j2, ranges[1]},
        {is_range_inside(in->k1, in->k2, in->kt), 7, "K2", in->k2, ranges[2]},
    };
    for (size_t r = 0; r < sizeof(relations) / sizeof(relations[0]); r++) {
        if (!relations[r].holds) {
            message_set(message, "%s:%d: %s is %g; allowed: %s", path,
                        in->line_at[relations[r].line], relations[r].name,
                        relations[r].value, relations[r].allowed);
            return -EINVAL;
        }
    }
    return 0;
}
