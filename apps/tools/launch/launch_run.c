/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts mpirun. On a terminal it joins bcsrun's process group, so that job control and
 * reading from the terminal work. Otherwise it gets a group of its own. Called by the
 * one thread of bcsrun's keeper.
 */
#include "apps/tools/launch/launch_run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "apps/tools/launch/bcsrun_error.h"

/* mpirun itself takes a second or two to end a job. */
#define GRACE_NS 5000000000u

/** What the child needs. */
struct launch {
    const struct launch_home *home;
    char *const *command;
    int output_fd;
};

static void output_redirect(int output_fd)
{
    int input_fd = open("/dev/null", O_RDONLY);

    if (input_fd >= 0) {
        dup2(input_fd, STDIN_FILENO);
        close(input_fd);
    }
    dup2(output_fd, STDOUT_FILENO);
    dup2(output_fd, STDERR_FILENO);
}

/* In the child: become mpirun. Returns only if that fails. */
static int mpirun_exec(void *arg, const sigset_t *signals)
{
    const struct launch *launch = arg;

    (void)signals; /* the keeper's */
    if (launch->output_fd >= 0) {
        output_redirect(launch->output_fd);
    }
    sigprocmask(SIG_SETMASK, launch->home->signals, NULL);
    execv(launch->command[0], launch->command);
    bcsrun_error("cannot start %s: %s", launch->command[0], strerror(errno));
    return 127;
}

int launch_run(const struct launch_home *home, char *const *command, int output_fd,
               struct watch_result *result_out)
{
    struct launch launch = {home, command, output_fd};

    return watch_run(
        &(struct watch_child){
            .name = "mpirun",
            .run = mpirun_exec,
            .arg = &launch,
            .has_own_group = !isatty(STDIN_FILENO) || output_fd >= 0,
            .group = home->group,
            .grace_ns = GRACE_NS,
            .is_hasty = true,
            .ask = home->ask,
            .asked = home->asked,
            .look = home->look,
            .looked = home->looked,
            .first_look_ns = home->first_look_ns,
        },
        result_out);
}
