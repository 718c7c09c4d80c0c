/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bootstrap of programs without MPI: rank, size and an exchange of data by the
 * launcher's PMIx. Called by entry.c.
 */
#ifndef BCS_SESSION_BOOTSTRAP_PMIX_H
#define BCS_SESSION_BOOTSTRAP_PMIX_H

#include <stdbool.h>

#include "libbcs/session/bootstrap.h"

/** A connection to the launcher. */
struct bcs_pmix;

/** Whether a PMIx launcher has started this process. */
bool bcs_pmix_is_launched(void);

/**
 * Connect to the launcher; once in a process's life for each caller.
 *
 * @param caller         in log lines, and in the keys of what is exchanged; static
 * @param bootstrap_out  valid until bcs_pmix_close
 * @return 0            end with bcs_pmix_close
 * @return -ELIBACC     libpmix.so.2 cannot be loaded; logged
 * @return -EIO         PMIx does not answer as it should; logged
 * @return -ENOMEM
 */
int bcs_pmix_open(struct bcs_pmix **pmix_out, struct bcs_bootstrap *bootstrap_out,
                  const char *caller);

/** Disconnect: from now on this process may end without the others. Accepts NULL. */
void bcs_pmix_close(struct bcs_pmix *pmix);

#endif
