/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compare-And-Write: checks the arguments, then hands the query to the transport. Runs
 * in whichever thread acts for the node; between any two microphases.
 */
#include <errno.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/core/core.h"

static int variable_check(const struct bcs_core *core, const char *what, uint64_t gva)
{
    return bcs_core_check_range(core, "bcs_compare_and_write", what, gva,
                                sizeof(uint64_t), sizeof(uint64_t));
}

int bcs_compare_and_write(struct bcs_core *core,
                          const struct bcs_comparison *comparison, bool *is_true_out)
{
    if ((unsigned)comparison->op > BCS_COMPARE_NE) {
        bcs_error("bcs_compare_and_write: comparison %d; allowed are %d to %d",
                  (int)comparison->op, BCS_COMPARE_GE, BCS_COMPARE_NE);
        return -EINVAL;
    }
    if (comparison->reserved != 0) {
        bcs_error("bcs_compare_and_write: the reserved member is not 0");
        return -EINVAL;
    }
    if (bcs_core_check_dests(core, "bcs_compare_and_write", comparison->dests) < 0 ||
        variable_check(core, "compared variable", comparison->variable_gva) < 0) {
        return -EINVAL;
    }
    if (comparison->write_gva != 0 &&
        variable_check(core, "written variable", comparison->write_gva) < 0) {
        return -EINVAL;
    }
    return core->transport->ops->compare_and_write(core->transport, comparison,
                                                   is_true_out);
}
