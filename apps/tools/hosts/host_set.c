/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes the file of the set; see host_set.h. A line a host; the switch's is
 * the first.
 */
#include "apps/tools/hosts/host_set.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libbcs/fabric/base/kernel_stat.h"

#define HEAD "bcs-hosts 1\n"

/* A private network of 254 addresses, which nothing outside of the hosts can reach. */
#define ADDRESS_FORMAT "10.78.0.%" PRIu32

int host_set_lock(void)
{
    /* The folder that ours is in: so there is no file of the lock to be left. */
    int fd = open("/run", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || flock(fd, LOCK_EX) < 0) {
        warn("/run cannot be locked");
        return -1;
    }
    return 0;
}

/* The files of a set. */
#define SET_FILE "set"
#define NEW_FILE "set.new"
#define NAMES_FILE "hosts"

/** The path of a file of the set. @return from malloc; NULL: told */
static char *path_of(const struct host_set *set, const char *file)
{
    char *path;

    if (asprintf(&path, "%s/%s", set->folder, file) < 0) {
        warnx("out of memory");
        return NULL;
    }
    return path;
}

/** Open a file of the set. @return NULL: errno tells why */
static FILE *file_open(const struct host_set *set, const char *name, const char *mode)
{
    char *path = path_of(set, name);
    FILE *file = path == NULL ? NULL : fopen(path, mode);

    free(path);
    return file;
}

/** Remove a file of the set, if it is there. */
static void file_remove(const struct host_set *set, const char *name)
{
    char *path = path_of(set, name);

    if (path != NULL) {
        unlink(path);
    }
    free(path);
}

char *host_set_names(const struct host_set *set)
{
    return path_of(set, NAMES_FILE);
}

static bool host_read(FILE *file, struct host *host_out)
{
    int64_t keeper;

    if (fscanf(file, "%15s %" SCNd64 " %" SCNu64 " %" SCNu64, host_out->name, &keeper,
               &host_out->start_time, &host_out->net) != 4) {
        return false;
    }
    host_out->keeper = (pid_t)keeper;
    return true;
}

/** @return whether the file has all that it should */
static bool set_read(FILE *file, struct host_set *set_out)
{
    char head[sizeof HEAD];

    if (fgets(head, sizeof head, file) == NULL || strcmp(head, HEAD) != 0 ||
        !host_read(file, &set_out->net_switch)) {
        return false;
    }
    set_out->n_hosts = 0;
    while (set_out->n_hosts < HOST_SET_MOST &&
           host_read(file, &set_out->hosts[set_out->n_hosts])) {
        set_out->n_hosts++;
    }
    return set_out->n_hosts > 0 && feof(file);
}

int host_set_read(struct host_set *set)
{
    FILE *file = file_open(set, SET_FILE, "re");
    bool is_sound;

    if (file == NULL) {
        if (errno == ENOENT) {
            warnx("no hosts are up; start some: bcs-hosts up 2");
        } else {
            warn("%s", set->folder);
        }
        return -1;
    }
    is_sound = set_read(file, set);
    fclose(file);
    if (!is_sound) {
        warnx("%s is not what this version of bcs-hosts writes; remove it",
              set->folder);
    }
    return is_sound ? 0 : -1;
}

bool host_set_exists(const struct host_set *set)
{
    FILE *file = file_open(set, SET_FILE, "re");

    if (file != NULL) {
        fclose(file);
    }
    return file != NULL;
}

/** Close a file that was written. @return 0; -1: not all of it was, told */
static int file_close(const struct host_set *set, FILE *file)
{
    bool is_whole = !ferror(file);

    if (fclose(file) != 0 || !is_whole) {
        warn("%s", set->folder);
        return -1;
    }
    return 0;
}

int host_set_prepare(const struct host_set *set)
{
    char address[HOST_ADDRESS_BYTES];
    FILE *file;

    if (mkdir(set->folder, 0700) < 0 && errno != EEXIST) {
        warn("%s", set->folder);
        return -1;
    }
    file = file_open(set, NAMES_FILE, "we");
    if (file == NULL) {
        warn("%s", set->folder);
        return -1;
    }
    fprintf(file, "127.0.0.1 localhost\n::1 localhost\n");
    for (uint32_t i = 0; i < set->n_hosts; i++) {
        host_address(i, address);
        fprintf(file, "%s %s\n", address, set->hosts[i].name);
    }
    /* Programs of any user read it. */
    fchmod(fileno(file), 0644);
    return file_close(set, file);
}

static void host_write(FILE *file, const struct host *host)
{
    fprintf(file, "%s %" PRId64 " %" PRIu64 " %" PRIu64 "\n", host->name,
            (int64_t)host->keeper, host->start_time, host->net);
}

/** Put the new file in the place of the old one. @return 0; -1: told */
static int put_in_place(const struct host_set *set)
{
    char *new = path_of(set, NEW_FILE), *path = path_of(set, SET_FILE);
    int rc = new == NULL || path == NULL ? -1 : rename(new, path);

    if (rc < 0) {
        warn("%s", set->folder);
    }
    free(new);
    free(path);
    return rc;
}

int host_set_write(const struct host_set *set)
{
    FILE *file = file_open(set, NEW_FILE, "we");

    if (file == NULL) {
        warn("%s", set->folder);
        return -1;
    }
    fputs(HEAD, file);
    host_write(file, &set->net_switch);
    for (uint32_t i = 0; i < set->n_hosts; i++) {
        host_write(file, &set->hosts[i]);
    }
    return file_close(set, file) < 0 ? -1 : put_in_place(set);
}

void host_set_remove(const struct host_set *set)
{
    file_remove(set, SET_FILE);
    file_remove(set, NEW_FILE);
    file_remove(set, NAMES_FILE);
    rmdir(set->folder);
}

bool host_is_up(const struct host *host)
{
    struct bcs_kernel_stat stat;

    return bcs_kernel_stat_process(host->keeper, &stat) && stat.state != 'Z' &&
           stat.start_time == host->start_time;
}

const struct host *host_set_find(const struct host_set *set, const char *name)
{
    char *end;
    unsigned long number = strtoul(name, &end, 10);

    if (*name != '\0' && *end == '\0' && number < set->n_hosts) {
        return &set->hosts[number];
    }
    for (uint32_t i = 0; i < set->n_hosts; i++) {
        if (strcmp(set->hosts[i].name, name) == 0) {
            return &set->hosts[i];
        }
    }
    warnx("no host \"%s\"; there are %s to %s, or 0 to %" PRIu32, name,
          set->hosts[0].name, set->hosts[set->n_hosts - 1].name, set->n_hosts - 1);
    return NULL;
}

void host_address(uint32_t i, char *text_out)
{
    snprintf(text_out, HOST_ADDRESS_BYTES, ADDRESS_FORMAT, i + 1);
}
