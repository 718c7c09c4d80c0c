/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-hosts: several hosts, played on this machine by Linux's namespaces, to try what
 * goes over a network without having one. One process, one thread; a keeper for each
 * host lives on.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tools/hosts/host_set.h"
#include "apps/tools/hosts/inhabitants.h"
#include "apps/tools/hosts/keeper.h"
#include "apps/tools/hosts/wires.h"
#include <bcs/version.h>

/* As a shell does. */
enum { EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };

static const char help[] =
    "Usage: bcs-hosts [--folder PATH] up N\n"
    "       bcs-hosts [--folder PATH] exec HOST COMMAND [ARGUMENT...]\n"
    "       bcs-hosts [--folder PATH] status\n"
    "       bcs-hosts [--folder PATH] down\n"
    "       bcs-hosts --help | --version\n"
    "\n"
    "Play N hosts on this machine, 2 to 64: bcs0, bcs1, ... Each has a network, a "
    "host\n"
    "name, an /etc/hosts and a /dev/shm of its own. They share processors, files and\n"
    "process numbers. It takes root, and the program ip.\n"
    "\n"
    "  up      start them\n"
    "  exec    run a command in one, by its name or number; mpirun and bcsrun there\n"
    "          find the others:\n"
    "            bcs-hosts exec bcs0 bcsrun -H bcs0:2,bcs1:2 -n 4 ./prog\n"
    "  rsh     the same, by a shell: what mpirun calls in place of ssh\n"
    "  status  the hosts, their addresses, and how many processes each has\n"
    "  down    end all processes in them, and take them away\n"
    "\n"
    "  --folder PATH  where the set of hosts is written, /run/bcs-hosts if not given;\n"
    "                 sets of several folders are apart\n";

/* What mpirun needs to be told in a host, unless the user has: how it gets to others;
 * that hosts share the cores, so that no rank is bound to "its" one; and for UCX, that
 * shared memory does not lead to other hosts. Open MPI 4 and 5. */
static const char *const settings[][2] = {
    {"OMPI_MCA_hwloc_base_binding_policy", "none"},
    {"PRTE_MCA_hwloc_default_binding_policy", "none"},
    {"UCX_TLS", "tcp,self"},
};
static const char *const agents[] = {"OMPI_MCA_plm_rsh_agent",
                                     "PRTE_MCA_plm_ssh_agent"};

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/** End all of the hosts' processes. @return 0; -1: some are left, told */
static int set_kill(const struct host_set *set)
{
    int rc = 0;

    for (uint32_t i = 0; i < set->n_hosts; i++) {
        rc = inhabitants_kill(&set->hosts[i]) < 0 ? -1 : rc;
    }
    return inhabitants_kill(&set->net_switch) < 0 ? -1 : rc;
}

/** Whether any process of a set is there. */
static bool set_is_up(const struct host_set *set)
{
    bool is_up = host_is_up(&set->net_switch);

    for (uint32_t i = 0; i < set->n_hosts; i++) {
        is_up = is_up || host_is_up(&set->hosts[i]) ||
                inhabitants_count(&set->hosts[i]) > 0;
    }
    return is_up;
}

/** What an earlier set has left is removed, if nothing of it lives. @return 0; -1: told
 */
static int clear_old(const struct host_set *set)
{
    struct host_set old;

    if (!host_set_exists(set)) {
        return 0;
    }
    old.folder = set->folder;
    if (host_set_read(&old) < 0) {
        return -1;
    }
    if (set_is_up(&old)) {
        warnx("%" PRIu32 " hosts are up; end them first: bcs-hosts down", old.n_hosts);
        return -1;
    }
    host_set_remove(&old);
    return 0;
}

/** Start the keepers of a named set, connect and write them. @return 0; -1: told */
static int set_start(struct host_set *set)
{
    struct keeper_release release;
    char *names = host_set_names(set);
    int rc;

    if (names == NULL || keeper_release_init(&release) < 0) {
        free(names);
        return -1;
    }
    rc = keeper_start(&set->net_switch, NULL, &release);
    for (uint32_t i = 0; i < set->n_hosts && rc == 0; i++) {
        rc = keeper_start(&set->hosts[i], names, &release);
    }
    free(names);
    if (rc < 0 || wires_connect(set) < 0 || host_set_write(set) < 0) {
        return -1;
    }
    keeper_release_all(&release, set->n_hosts + 1);
    return 0;
}

static int up(const char *folder, const char *number)
{
    struct host_set set = {.folder = folder, .net_switch.name = "switch"};
    char *end;
    unsigned long n_hosts = strtoul(number, &end, 10);

    if (*number == '\0' || *end != '\0' || n_hosts < 2 || n_hosts > HOST_SET_MOST) {
        warnx("up %s: allowed are 2 to %d hosts", number, HOST_SET_MOST);
        return EXIT_FAILURE;
    }
    set.n_hosts = (uint32_t)n_hosts;
    for (uint32_t i = 0; i < set.n_hosts; i++) {
        snprintf(set.hosts[i].name, sizeof set.hosts[i].name, "bcs%" PRIu32, i);
    }
    if (host_set_lock() < 0 || clear_old(&set) < 0) {
        return EXIT_FAILURE;
    }
    if (host_set_prepare(&set) < 0 || set_start(&set) < 0) {
        for (uint32_t i = 0; i < set.n_hosts; i++) {
            keeper_kill(&set.hosts[i]);
        }
        keeper_kill(&set.net_switch);
        host_set_remove(&set);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

static int down(const char *folder)
{
    struct host_set set = {.folder = folder};

    if (host_set_lock() < 0 || host_set_read(&set) < 0 || set_kill(&set) < 0) {
        return EXIT_FAILURE;
    }
    host_set_remove(&set);
    return EXIT_SUCCESS;
}

static int status(const char *folder)
{
    struct host_set set = {.folder = folder};

    if (host_set_read(&set) < 0) {
        return EXIT_FAILURE;
    }
    for (uint32_t i = 0; i < set.n_hosts; i++) {
        const struct host *host = &set.hosts[i];
        char address[HOST_ADDRESS_BYTES];

        host_address(i, address);
        if (host_is_up(host)) {
            printf("%-6s %-12s %" PRIu32 " processes\n", host->name, address,
                   inhabitants_count(host));
        } else {
            printf("%-6s %-12s has ended\n", host->name, address);
        }
    }
    return EXIT_SUCCESS;
}

/** Set what programs in a host are to find in the environment. @return 0; -1: told */
static int environment_set(const char *folder)
{
    char *self = realpath("/proc/self/exe", NULL);
    char *agent = NULL;
    int rc = self == NULL ? -1 : asprintf(&agent, "%s --folder %s rsh", self, folder);

    for (size_t i = 0; i < N_OF(agents) && rc >= 0; i++) {
        rc = setenv(agents[i], agent, 0);
    }
    for (size_t i = 0; i < N_OF(settings) && rc >= 0; i++) {
        rc = setenv(settings[i][0], settings[i][1], 0);
    }
    if (rc < 0) {
        warn("the environment");
    }
    free(self);
    free(agent);
    return rc;
}

/** Become a command in a host. @return only if that fails */
static int run(const char *folder, const char *name, char *const command[])
{
    struct host_set set = {.folder = folder};
    const struct host *host;

    if (host_set_read(&set) < 0) {
        return EXIT_NOT_RUN;
    }
    host = host_set_find(&set, name);
    if (host == NULL || keeper_enter(host) < 0 || environment_set(folder) < 0) {
        return EXIT_NOT_RUN;
    }
    execvp(command[0], command);
    warn("%s", command[0]);
    return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}

/** Run words as a shell reads them, as rsh and ssh do. @return only if that fails */
static int run_by_shell(const char *folder, const char *name, int n_words,
                        char *const words[])
{
    char *command[] = {"sh", "-c", NULL, NULL};
    size_t n_bytes;
    FILE *line = open_memstream(&command[2], &n_bytes);

    for (int i = 0; line != NULL && i < n_words; i++) {
        fprintf(line, "%s%s", i == 0 ? "" : " ", words[i]);
    }
    if (line == NULL || fclose(line) != 0) {
        warn("%s", name);
        return EXIT_NOT_RUN;
    }
    return run(folder, name, command);
}

static int wrong(const char *word)
{
    warnx("%s; see bcs-hosts --help", word);
    return EXIT_FAILURE;
}

/** Do what a verb says. @param n_words  with the verb */
static int act(const char *folder, int n_words, char *const words[])
{
    const char *verb = n_words > 0 ? words[0] : "";

    if (strcmp(verb, "up") == 0) {
        return n_words == 2 ? up(folder, words[1])
                            : wrong("up takes the number of hosts");
    }
    if (strcmp(verb, "exec") == 0) {
        return n_words > 2 ? run(folder, words[1], words + 2)
                           : wrong("exec takes a host and a command");
    }
    if (strcmp(verb, "rsh") == 0) {
        return n_words > 2 ? run_by_shell(folder, words[1], n_words - 2, words + 2)
                           : wrong("rsh takes a host and a command");
    }
    if (n_words == 1 && strcmp(verb, "status") == 0) {
        return status(folder);
    }
    if (n_words == 1 && strcmp(verb, "down") == 0) {
        return down(folder);
    }
    return wrong("allowed are up, exec, rsh, status and down");
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    const char *folder = HOST_SET_FOLDER;

    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        fputs(help, stdout);
        return EXIT_SUCCESS;
    }
    if (strcmp(word, "--version") == 0) {
        printf("bcs-hosts %s\n", bcs_version());
        return EXIT_SUCCESS;
    }
    if (geteuid() != 0) {
        return wrong("it takes root to make networks");
    }
    argv++;
    argc--;
    if (strcmp(word, "--folder") == 0) {
        if (argc < 2 || argv[1][0] != '/' || strpbrk(argv[1], " \t") != NULL) {
            return wrong("--folder takes a path from the root, without blanks");
        }
        folder = argv[1];
        argv += 2;
        argc -= 2;
    }
    return act(folder, argc, argv);
}
