/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connects hosts; see wires.h. `ip` gets its commands in one file a namespace.
 */
#include "apps/tools/hosts/wires.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/tools/hosts/keeper.h"

/** Commands of ip, a line each. */
struct batch {
    char *text;
    size_t n_bytes;
    FILE *file;
};

/** @return whether there was memory */
static bool batch_begin(struct batch *batch_out)
{
    batch_out->file = open_memstream(&batch_out->text, &batch_out->n_bytes);
    return batch_out->file != NULL;
}

/** In the child: read commands from a pipe. Does not return. */
static void ip_exec(const struct host *where, int commands)
{
    if (keeper_enter_network(where) == 0 && dup2(commands, STDIN_FILENO) >= 0) {
        execlp("ip", "ip", "-batch", "-", (char *)NULL);
        warn("the program ip (Debian's package iproute2) cannot be run");
    }
    _exit(EXIT_FAILURE);
}

/** Have ip do what the batch says, in a host's network; frees the batch. @return 0; -1:
 *  told */
static int batch_run(struct batch *batch, const struct host *where)
{
    int fds[2], status = -1;
    pid_t pid = -1;

    fclose(batch->file);
    if (pipe(fds) == 0) {
        pid = fork();
        if (pid == 0) {
            close(fds[1]);
            ip_exec(where, fds[0]);
        }
        close(fds[0]);
        if (pid > 0 &&
            write(fds[1], batch->text, batch->n_bytes) != (ssize_t)batch->n_bytes) {
            warn("ip");
        }
        close(fds[1]);
    }
    free(batch->text);
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) {
        warnx("the network of %s cannot be made", where->name);
        return -1;
    }
    return 0;
}

/** The bridge, and one end of each host's wire. */
static int connect_switch(const struct host_set *set)
{
    struct batch batch;

    if (!batch_begin(&batch)) {
        warnx("out of memory");
        return -1;
    }
    fprintf(batch.file, "link add bridge type bridge\nlink set bridge up\n");
    for (uint32_t i = 0; i < set->n_hosts; i++) {
        fprintf(batch.file,
                "link add host%" PRIu32 " type veth peer name eth0 netns %ld\n"
                "link set host%" PRIu32 " master bridge up\n",
                i, (long)set->hosts[i].keeper, i);
    }
    return batch_run(&batch, &set->net_switch);
}

/** The other end of a host's wire. */
static int connect_host(const struct host_set *set, uint32_t i)
{
    struct batch batch;
    char address[HOST_ADDRESS_BYTES];

    if (!batch_begin(&batch)) {
        warnx("out of memory");
        return -1;
    }
    host_address(i, address);
    fprintf(batch.file, "link set lo up\naddr add %s/24 dev eth0\nlink set eth0 up\n",
            address);
    return batch_run(&batch, &set->hosts[i]);
}

int wires_connect(const struct host_set *set)
{
    if (connect_switch(set) < 0) {
        return -1;
    }
    for (uint32_t i = 0; i < set->n_hosts; i++) {
        if (connect_host(set, i) < 0) {
            return -1;
        }
    }
    return 0;
}
