/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The child and its questions; see reader.h. One thread of the parent asks, one
 * question at a time. A packet to the child is a question. One back is a byte, whether
 * it is the last, and an answer.
 */
#include "mds/source/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/kernel_stat.h"

#define READER_MEMORY_BYTES (UINT64_C(4) << 30)
#define NS_PER_MS UINT64_C(1000000)
#define DEATH_MS 100

struct reader {
    pid_t child;
    int socket;
};

/* ---- in the child
 * --------------------------------------------------------------------- */

/** Let go of all descriptors but the socket, which becomes number 3: who waits for the
 *  end of a pipe that this process writes to is not to wait for the child. @return
 *  whether it is done */
static bool drop_descriptors(int socket)
{
    int none = open("/dev/null", O_RDWR);
    int kept = fcntl(socket, F_DUPFD, 4); /* it may be one of the first three */

    return none >= 0 && kept >= 0 && dup2(none, 0) == 0 && dup2(none, 1) == 1 &&
           dup2(none, 2) == 2 && dup2(kept, 3) == 3 && close_range(4, ~0u, 0) == 0;
}

/** The address space of this process. @return 0: unknown */
static uint64_t own_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    uint64_t n_pages = 0;

    if (file != NULL) {
        if (fscanf(file, "%" SCNu64, &n_pages) != 1) {
            n_pages = 0;
        }
        fclose(file);
    }
    return n_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/** Lower a limit of this process, unless it is lower already. */
static void limit(int what, uint64_t most)
{
    struct rlimit limit;

    if (getrlimit(what, &limit) == 0) {
        limit.rlim_cur = limit.rlim_cur < most ? limit.rlim_cur : most;
        limit.rlim_max = limit.rlim_max < most ? limit.rlim_max : most;
        setrlimit(what, &limit);
    }
}

static void run(int socket, pid_t parent, reader_serve_fn serve, void *arg)
{
    char question[READER_ANSWER_BYTES];
    sigset_t none;
    ssize_t n;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || !drop_descriptors(socket)) {
        return;
    }
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_AS, own_bytes() + READER_MEMORY_BYTES);
    while ((n = recv(3, question, sizeof(question) - 1, 0)) > 0) {
        question[n] = '\0';
        serve(arg, question, (size_t)n, 3);
    }
}

void reader_tell(int answers, bool is_last, const char *answer, size_t n_bytes)
{
    char kind = is_last;
    struct iovec parts[] = {
        {.iov_base = &kind, .iov_len = 1},
        {.iov_base = (void *)(uintptr_t)answer,
         .iov_len = n_bytes < READER_ANSWER_BYTES ? n_bytes : READER_ANSWER_BYTES - 1},
    };
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

    if (sendmsg(answers, &message, MSG_NOSIGNAL) < 0) {
        _exit(EXIT_FAILURE); /* nobody listens any more */
    }
}

bool reader_become(uint32_t user, uint32_t group)
{
    /* The death of the parent ends the child still: a change of user undoes that. */
    return geteuid() != 0 || user == 0 ||
           (setgroups(0, NULL) == 0 && setresgid(group, group, group) == 0 &&
            setresuid(user, user, user) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
}

int reader_open_file(const char *path)
{
    int place = open(path, O_PATH | O_CLOEXEC), fd;
    struct stat status;
    char name[64];

    if (place < 0) {
        return -errno;
    }
    if (fstat(place, &status) < 0 || !S_ISREG(status.st_mode)) {
        close(place);
        return -EINVAL;
    }
    snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
    fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    fd = fd < 0 ? -errno : fd;
    close(place);
    return fd;
}

/* ---- in the parent
 * -------------------------------------------------------------------- */

struct reader *reader_start(reader_serve_fn serve, void *arg)
{
    struct reader *reader = calloc(1, sizeof(*reader));
    pid_t parent = getpid();
    int sockets[2];

    if (reader == NULL ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        free(reader);
        return NULL;
    }
    reader->child = fork();
    if (reader->child == 0) {
        run(sockets[1], parent, serve, arg);
        _exit(EXIT_SUCCESS);
    }
    close(sockets[1]);
    reader->socket = sockets[0];
    if (reader->child < 0) {
        close(sockets[0]);
        free(reader);
        return NULL;
    }
    return reader;
}

/** What a child has had of the cores. */
struct share {
    uint64_t run_ns, starved_ns; /* when it could have run and had no core */
};

/** @return zeros where the kernel does not count it */
static struct share share_of(const struct reader *reader)
{
    struct share share = {0};
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%ld/schedstat", (long)reader->child);
    file = fopen(path, "re");
    if (file != NULL) {
        if (fscanf(file, "%" SCNu64 " %" SCNu64, &share.run_ns, &share.starved_ns) !=
            2) {
            share = (struct share){0};
        }
        fclose(file);
    }
    return share;
}

/** A question that was asked. */
struct asking {
    const struct reader *reader;
    uint64_t begin_ns;
    struct share share; /* of the child until then */
};

/** For how long a child has run or waited, but for a core. */
static uint64_t waited_ns(const struct asking *asking)
{
    struct share share = share_of(asking->reader);
    uint64_t all_ns = bcs_clock_now_ns() - asking->begin_ns, run_ns;
    uint64_t starved_ns = share.starved_ns - asking->share.starved_ns;
    struct bcs_kernel_stat stat;

    all_ns = all_ns > starved_ns ? all_ns - starved_ns : 0;
    run_ns = share.run_ns - asking->share.run_ns;
    /* Of who waits for a core now the kernel has not counted that yet. */
    return run_ns < all_ns && bcs_kernel_stat_process(asking->reader->child, &stat) &&
                   stat.state == 'R'
               ? run_ns
               : all_ns;
}

/** Wait for a packet. @return false: the time is over */
static bool await(const struct asking *asking, uint64_t left_ns)
{
    struct pollfd wanted = {.fd = asking->reader->socket, .events = POLLIN};
    uint64_t gone_ns = 0;

    /* What has come counts, however late this process gets to look at it. */
    while (poll(&wanted, 1, (int)((left_ns - gone_ns) / NS_PER_MS)) <= 0) {
        gone_ns = waited_ns(asking);
        if (gone_ns + NS_PER_MS > left_ns) {
            return poll(&wanted, 1, 0) > 0;
        }
    }
    return true;
}

/** Take a packet: all but its first byte is the answer, which is shorter by one than it
 *  may be.
 *  @return whether there will be others */
static bool take(const struct reader *reader, char answer_out[READER_ANSWER_BYTES],
                 bool *is_last_out)
{
    char packet[READER_ANSWER_BYTES];
    ssize_t n = recv(reader->socket, packet, sizeof(packet), 0);

    if (n < 1) {
        return false; /* the child has ended */
    }
    memcpy(answer_out, packet + 1, (size_t)n - 1);
    memset(answer_out + n - 1, 0, READER_ANSWER_BYTES - (size_t)n + 1);
    *is_last_out = packet[0] != 0;
    return !*is_last_out;
}

bool reader_ask(const struct reader *reader, const char *question, size_t n_bytes,
                char answer_out[READER_ANSWER_BYTES], uint64_t *left_ns)
{
    struct asking asking = {
        .reader = reader,
        .begin_ns = bcs_clock_now_ns(),
        .share = share_of(reader),
    };
    bool is_last = false;
    uint64_t gone_ns;

    answer_out[0] = '\0';
    if (n_bytes < READER_ANSWER_BYTES &&
        send(reader->socket, question, n_bytes, MSG_NOSIGNAL) == (ssize_t)n_bytes) {
        while (await(&asking, *left_ns) && take(reader, answer_out, &is_last)) {
        }
    }
    gone_ns = waited_ns(&asking);
    *left_ns = gone_ns < *left_ns ? *left_ns - gone_ns : 0;
    return is_last;
}

void reader_end(struct reader *reader)
{
    struct pollfd end = {.events = POLLIN};
    struct bcs_kernel_stat stat;

    if (reader == NULL) {
        return;
    }
    kill(reader->child, SIGKILL);
    close(reader->socket);
    /* One that the kernel holds in a system call (D) is left to init when it dies. */
    end.fd = (int)syscall(SYS_pidfd_open, reader->child, 0);
    do {
        poll(&end, 1, DEATH_MS);
    } while (waitpid(reader->child, NULL, WNOHANG) == 0 &&
             bcs_kernel_stat_process(reader->child, &stat) && stat.state != 'D');
    if (end.fd >= 0) {
        close(end.fd);
    }
    free(reader);
}
