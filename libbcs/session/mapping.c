/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the map of ranks and ports; see mapping.h.
 */
#include "libbcs/session/mapping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/fabric/base/environment.h"
#include "libbcs/fabric/base/log.h"

/** The name of a machine, ended by a zero. */
struct host {
    char name[64];
};

static bool is_same(const struct host *a, const struct host *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/** Give each machine the number of its first rank. The rank before is often on the same
 *  one. */
static void number_hosts(const struct host *hosts, uint32_t n, uint32_t *machines)
{
    for (uint32_t rank = 1; rank < n; rank++) {
        uint32_t first = machines[rank - 1];

        if (!is_same(&hosts[first], &hosts[rank])) {
            first = 0;
            while (!is_same(&hosts[first], &hosts[rank])) {
                first++;
            }
        }
        machines[rank] = first;
    }
}

/** Exchange the names of the machines. */
static int exchange_hosts(const struct bcs_bootstrap *bootstrap, uint32_t *machines)
{
    struct host *hosts = calloc(bootstrap->size, sizeof(*hosts)), own = {0};
    int rc = -ENOMEM;

    if (hosts != NULL) {
        gethostname(own.name, sizeof(own.name) - 1);
        rc = bootstrap->allgather(bootstrap->arg, &own, sizeof(own), hosts);
    }
    if (rc == 0) {
        number_hosts(hosts, bootstrap->size, machines);
    }
    free(hosts);
    return rc;
}

/** Find the machine of each rank. */
static int find_machines(const struct bcs_bootstrap *bootstrap,
                         const struct nic_config *config, uint32_t *machines)
{
    if (!nic_config_plays_machines(config)) {
        return exchange_hosts(bootstrap, machines);
    }
    for (uint32_t i = 0; i < bootstrap->size; i++) {
        machines[i] = nic_config_machine(config, bootstrap->size, i);
    }
    return 0;
}

/** Whether all processes are on this machine, as far as the launcher says. */
static bool is_one_machine(const struct bcs_bootstrap *bootstrap)
{
    return bootstrap->size == 1 || bootstrap->n_near == bootstrap->size;
}

int bcs_mapping_find(const struct bcs_bootstrap *bootstrap, struct nic_config *config,
                     struct bcs_port_map **map_out)
{
    struct bcs_port_plan plan = {
        .n_ranks = bootstrap->size,
        .node_ranks = (uint32_t)config->node_ranks,
        .is_falling = config->far_map == NIC_FAR_FALLING,
    };
    uint32_t *machines = NULL;
    int rc = 0;

    if (!is_one_machine(bootstrap) || nic_config_plays_machines(config)) {
        machines = calloc(bootstrap->size, sizeof(*machines));
        rc = machines == NULL ? -ENOMEM : find_machines(bootstrap, config, machines);
        plan.machines = machines;
    }
    rc = rc < 0 ? rc : bcs_port_map_create(&plan, map_out);
    free(machines);
    if (rc < 0) {
        bcs_error("the ports of %u ranks: %s", bootstrap->size, strerror(-rc));
        return rc;
    }
    config->node_ranks = (*map_out)->node_ranks;
    return 0;
}

uint32_t bcs_mapping_n_near(void)
{
    /* of Open MPI, and of MPICH's hydra */
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE",
                                        "MPI_LOCALNRANKS"};
    uint32_t n_near = 0;

    for (size_t i = 0; n_near == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = bcs_environment_get(names[i]);

        n_near = text == NULL ? 0 : (uint32_t)strtoul(text, NULL, 10);
    }
    return n_near;
}
