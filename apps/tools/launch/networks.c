/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets the parameters pml and btl of Open MPI; see networks.h. Without them, Open MPI
 * 4.1 and 5.0 open UCX and libfabric, which look for devices. What BCS carries uses
 * neither; windows and files on one machine do not need them. Called by the one thread
 * of bcsrun's keeper.
 */
#include "apps/tools/launch/networks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/environment.h"

#define PML "ob1"
/* A list of what is not used: components have other names in each version. */
#define BTL "^openib,ofi,uct,usnic"
#define USER_FILE ".openmpi/mca-params.conf"
#define SYSTEM_FILE "openmpi-mca-params.conf"
#define HOST_FILE "openmpi-default-hostfile"

enum { NAME_BYTES = 64 };

/* How processes exchange data; other files of parameters, of which we know nothing; and
 * other machines. */
static const char *const choosing[] = {"pml",
                                       "btl",
                                       "mtl",
                                       "mca_base_param_files",
                                       "orte_default_hostfile",
                                       "prte_default_hostfile"};
/* What parameters have before their names in the environment. */
static const char *const prefixes[] = {"OMPI_MCA_", "PRTE_MCA_"};

enum {
    N_CHOOSING = sizeof choosing / sizeof choosing[0],
    N_PREFIXES = sizeof prefixes / sizeof prefixes[0],
};

bool networks_are_chosen_by(const char *parameter)
{
    size_t n_bytes = strcspn(parameter, "=");

    for (int i = 0; i < N_CHOOSING; i++) {
        if (strlen(choosing[i]) == n_bytes &&
            memcmp(parameter, choosing[i], n_bytes) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether a list of what is not used, "^a,b", has a name in it. */
static bool list_has(const char *list, const char *name)
{
    size_t n_name_bytes = strlen(name);

    while (*list != '\0') {
        list += strspn(list, "^, \t\r\n");
        if (strncmp(list, name, n_name_bytes) == 0 &&
            strcspn(list, ", \t\r\n") == n_name_bytes) {
            return true;
        }
        list += strcspn(list, ", \t\r\n");
    }
    return false;
}

/* Take in one parameter. */
static void parameter_add(const char *name, const char *value,
                          struct networks *networks)
{
    if (!networks_are_chosen_by(name)) {
        return;
    }
    if (value[0] != '^' || (strcmp(name, "pml") == 0 && list_has(value, PML))) {
        networks->are_chosen = true;
    }
    networks->has_btl |= strcmp(name, "btl") == 0;
}

void networks_read(FILE *parameters, struct networks *networks)
{
    size_t n_line_bytes = 0;
    char *line = NULL;

    while (getline(&line, &n_line_bytes, parameters) > 0) {
        char name[NAME_BYTES];
        char *value = strchr(line, '=');

        if (value != NULL && sscanf(line, " %63[^#= \t]", name) == 1) {
            value += 1 + strspn(value + 1, " \t\"'");
            parameter_add(name, value, networks);
        }
    }
    free(line);
}

void networks_read_hosts(FILE *hosts, struct networks *networks)
{
    size_t n_line_bytes = 0;
    char *line = NULL;

    while (getline(&line, &n_line_bytes, hosts) > 0) {
        networks->are_chosen |=
            line[strspn(line, " \t\r\n")] != '\0' && line[strspn(line, " \t")] != '#';
    }
    free(line);
}

/* Take in a file, if it is there. */
static void file_add(const char *folder, const char *name,
                     void (*read)(FILE *, struct networks *), struct networks *networks)
{
    char path[PATH_MAX + NAME_BYTES];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "re");
    if (file != NULL) {
        read(file, networks);
        fclose(file);
    }
}

/* Take in the files of the installation that mpirun is of: of /opt/x/bin/mpirun in
 * /opt/x/etc; of a distribution's in /etc/openmpi. */
static void installation_add(const char *mpirun, struct networks *networks)
{
    char *real = realpath(mpirun, NULL);
    char folder[PATH_MAX];
    bool is_distribution;

    for (int i = 0; i < 2 && real != NULL; i++) {
        char *slash = strrchr(real, '/');

        if (slash != NULL) {
            *slash = '\0';
        }
    }
    if (real != NULL) {
        is_distribution = strcmp(real, "/usr") == 0;
        snprintf(folder, sizeof folder, "%s%s", is_distribution ? "" : real,
                 is_distribution ? "/etc/openmpi" : "/etc");
        file_add(folder, SYSTEM_FILE, networks_read, networks);
        file_add(folder, HOST_FILE, networks_read_hosts, networks);
    }
    free(real);
}

/* Take in the environment. */
static void environment_add(struct networks *networks)
{
    for (int i = 0; i < N_CHOOSING * N_PREFIXES; i++) {
        char name[NAME_BYTES];

        snprintf(name, sizeof name, "%s%s", prefixes[i % N_PREFIXES],
                 choosing[i / N_PREFIXES]);
        networks->are_chosen |= bcs_environment_get(name) != NULL;
    }
}

void networks_apply(const char *mpirun)
{
    const char *home = bcs_environment_get("HOME");
    struct networks networks = {0};

    environment_add(&networks);
    if (home != NULL) {
        file_add(home, USER_FILE, networks_read, &networks);
    }
    installation_add(mpirun, &networks);
    if (!networks.are_chosen) {
        setenv("OMPI_MCA_pml", PML, 1);
        if (!networks.has_btl) {
            setenv("OMPI_MCA_btl", BTL, 1);
        }
    }
}
