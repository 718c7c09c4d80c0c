/* SPDX-License-Identifier: BSD-3-Clause */
/* Which version the library is. Any thread. */
#include <bcs/version.h>

const char *bcs_version(void)
{
    return BCS_VERSION;
}
