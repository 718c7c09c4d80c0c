/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A static program that has mapped what a static MPI program has mapped after MPI_Init:
 * a file in the folder of its first argument, named as Open MPI names its shared
 * memory. It prints "begun" and waits for SIGUSR2.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int n_words, char **words)
{
    char path[4096];
    sigset_t signals;
    int fd, number;

    snprintf(path, sizeof(path), "%s/vader_segment.%d", n_words > 1 ? words[1] : ".",
             (int)getpid());
    fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) {
        perror(path);
        return 1;
    }
    unlink(path);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR2);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    puts("begun");
    fflush(stdout);
    sigwait(&signals, &number);
    return 0;
}
