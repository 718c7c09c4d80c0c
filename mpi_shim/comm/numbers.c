/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts on at each of them, and begins anew when all have been used: which of them are
 * free may differ between members, what has been made may not.
 */
#include "mpi_shim/comm/numbers.h"

#include <errno.h>
#include <stdlib.h>

#include "libbcs/fabric/base/log.h"

struct shim_numbers {
    uint32_t next;
    bool is_taken[BCS_PERSISTENT_NUMBERS];
};

int shim_number_take(struct shim_comm *comm, uint32_t *number_out)
{
    struct shim_numbers *numbers = comm->numbers;
    uint32_t number;

    if (numbers == NULL) {
        numbers = comm->numbers = calloc(1, sizeof(*numbers));
    }
    if (numbers == NULL) {
        return -ENOMEM;
    }
    number = numbers->next;
    if (numbers->is_taken[number]) {
        bcs_error(
            "a persistent collective cannot be made while the one that was made %d "
            "before on the same communicator is there",
            BCS_PERSISTENT_NUMBERS);
        return -ENOSPC;
    }
    numbers->next = (number + 1) % BCS_PERSISTENT_NUMBERS;
    numbers->is_taken[number] = true;
    *number_out = number;
    return 0;
}

void shim_number_give_back(struct shim_comm *comm, uint32_t number)
{
    comm->numbers->is_taken[number] = false;
}
