/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that slices are recorded in; see live_slices.h. Whoever reads one has it as it
 * was at a moment at which somebody may have been writing, or has died while writing:
 * so nothing in it is trusted. What is not sound in itself makes the file none; a span
 * that is half written is mended.
 */
#include "mds/live_slices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libbcs/fabric/base/digest.h"
#include "mds/live.h"
#include "mds/mds_config.h"
#include "nic_threads/node/monitor.h"
#include <bcs/version.h>

enum { MOST_TRIES = 8, MOST_SHIFT = 63 };

_Static_assert(sizeof(struct mds_live_slices) <= MDS_LIVE_SLICES_HEAD_BYTES,
               "the head has room");
_Static_assert(MDS_LIVE_SLICES_HEAD_BYTES % _Alignof(struct nic_monitor) == 0,
               "monitors behind the head are aligned");

/** What is being read. */
struct reading {
    struct mds_live_slices head;
    int fd;
    struct bcs_clock_moment now;
    uint64_t last_ticks;         /* until when there is something */
    struct nic_monitor *monitor; /* a copy of one, with its spans */
};

uint64_t mds_live_slices_layout(void)
{
    const uint64_t numbers[] = {
        sizeof(struct mds_live_slices), sizeof(struct nic_monitor),
        sizeof(struct bcs_span),        offsetof(struct nic_monitor, quick),
        NIC_MONITOR_PAGE_BYTES,         BCS_METRICS,
    };
    const char *version = bcs_version();

    return bcs_digest_add(
        bcs_digest_add(BCS_DIGEST_OF_NOTHING, numbers, sizeof(numbers)), version,
        strlen(version));
}

static uint64_t n_bytes_of(const struct mds_live_slices *slices)
{
    return MDS_LIVE_SLICES_HEAD_BYTES +
           slices->n_monitors * (uint64_t)nic_monitor_bytes(slices->n_spans);
}

int mds_live_slices_make(const struct mds_live_slices *slices, const char *path)
{
    struct mds_live_slices head = *slices;
    int fd;

    memset(head.magic, 0, sizeof(head.magic));
    head.layout = mds_live_slices_layout();
    head.n_bytes = n_bytes_of(slices);
    fd = mds_live_make_file(head.n_bytes, path);
    if (fd < 0) {
        return fd;
    }
    if (pwrite(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head)) {
        close(fd);
        unlink(path);
        return -EIO;
    }
    close(fd);
    return 0;
}

/** Whether all that a head says of where something is, is within the file. */
static bool is_head_sound(const struct mds_live_slices *head, size_t n_bytes)
{
    const struct mds_dump_node *facts = &head->facts;

    return head->layout == mds_live_slices_layout() && head->n_bytes == n_bytes &&
           head->n_spans >= 2 && head->n_spans % 2 == 0 &&
           head->n_spans <= MDS_SLICES_MOST && head->is_global <= 1 &&
           head->n_monitors >= 1 && n_bytes_of(head) == n_bytes &&
           memchr(facts->host, '\0', sizeof(facts->host)) != NULL;
}

/** Map a file that is open. */
static int map(int fd, size_t n_bytes, struct mds_live_slices **slices_out)
{
    struct mds_live_slices head;
    void *memory;

    if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        !is_head_sound(&head, n_bytes)) {
        return -EINVAL;
    }
    memory = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        return -errno;
    }
    *slices_out = memory;
    return 0;
}

int mds_live_slices_map(const char *path, struct mds_live_slices **slices_out)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    off_t n_bytes;
    int rc;

    if (fd < 0) {
        return -errno;
    }
    n_bytes = lseek(fd, 0, SEEK_END);
    rc = n_bytes < 0 ? -errno : map(fd, (size_t)n_bytes, slices_out);
    close(fd);
    return rc;
}

void mds_live_slices_begin(struct mds_live_slices *slices,
                           struct bcs_clock_moment began, uint64_t interval_ticks)
{
    struct mds_dump_node *facts = &slices->facts;

    slices->began = began;
    slices->interval_ticks = interval_ticks;
    facts->began_monotonic = began.ns;
    facts->began_unix = mds_unix_ns(began.ns);
    gethostname(facts->host, sizeof(facts->host) - 1);
    /* Whoever finds the file finds the rest before this. */
    atomic_signal_fence(memory_order_release);
    memcpy(slices->magic, MDS_LIVE_SLICES_MAGIC, sizeof(slices->magic));
}

void mds_live_slices_unmap(struct mds_live_slices *slices)
{
    if (slices != NULL) {
        munmap(slices, slices->n_bytes);
    }
}

/** Whether the numbers of a series are possible. */
static bool is_series_sound(const struct nic_series *series,
                            const struct mds_live_slices *head)
{
    uint64_t n = head->n_spans;

    return series->n == n && series->begin == head->facts.window_first &&
           series->shift <= MOST_SHIFT &&
           n - 1 <= (UINT64_MAX - series->begin) >> series->shift &&
           series->n_brought <= n * series->shift &&
           series->n_brought + n >= n * series->shift;
}

/** Have a monitor be without the slice under way, and with quick ones only if they are
 *  in place.
 *  @return -EINVAL: it is none */
static int settle(struct reading *reading)
{
    const struct mds_live_slices *head = &reading->head;
    struct nic_monitor *monitor = reading->monitor;
    enum bcs_metric first = bcs_metrics_first(head->is_global != 0);
    uint64_t own = UINT64_C(1) << (bcs_metrics_end(head->is_global != 0) - first);

    reading->now = bcs_clock_moment();
    if (!is_series_sound(&monitor->series, head) ||
        monitor->metrics != (head->metrics >> first & (own - 1))) {
        return -EINVAL;
    }
    monitor->has = 0;
    if (monitor->began < head->began.ticks || monitor->began > reading->now.ticks ||
        monitor->n_quick >= NIC_MONITOR_SAMPLE) {
        monitor->n_quick = 0;
    }
    if (monitor->since > reading->last_ticks && monitor->since <= reading->now.ticks) {
        reading->last_ticks = monitor->since;
    }
    return 0;
}

/** Copy a monitor, by its number, with its spans: until both are of one length of
 *  spans. */
static int copy_monitor(struct reading *reading, uint32_t number)
{
    size_t n_bytes = nic_monitor_bytes(reading->head.n_spans);
    off_t at = MDS_LIVE_SLICES_HEAD_BYTES + (off_t)number * (off_t)n_bytes;
    struct nic_monitor after;

    for (int i = 0; i < MOST_TRIES; i++) {
        if (pread(reading->fd, reading->monitor, n_bytes, at) != (ssize_t)n_bytes ||
            pread(reading->fd, &after, sizeof(after), at) != (ssize_t)sizeof(after)) {
            return -EINVAL;
        }
        if (after.series.shift == reading->monitor->series.shift) {
            break;
        }
    }
    return settle(reading);
}

/** Make a tally sound that was half written. */
static void mend_tally(struct bcs_tally *tally)
{
    if (tally->count == 0) {
        *tally = (struct bcs_tally){0};
    } else if (tally->least > tally->most) {
        tally->most = tally->least;
    }
}

/** The same of spans; those that have not begun within the recording go. */
static void mend(const struct reading *reading, struct bcs_spans *spans)
{
    uint64_t run_ticks = reading->last_ticks - reading->head.began.ticks;
    size_t n = 0;

    for (size_t i = 0; i < spans->n; i++) {
        struct bcs_span *span = &spans->spans[i];

        if (span->began > run_ticks) {
            continue;
        }
        for (int j = 0; j < BCS_SPAN_TALLIES; j++) {
            mend_tally(&span->tallies[j]);
            if (span->tallies[j].count > span->n_slices) {
                span->n_slices = span->tallies[j].count;
            }
        }
        spans->spans[n++] = *span;
    }
    spans->n = n;
}

/** The spans of a monitor, by its number. */
static int read_monitor(struct reading *reading, uint32_t number,
                        struct bcs_spans *spans_out)
{
    const struct bcs_machine machine = {.began = reading->head.began};
    const struct nic_recorder recorder = {
        .monitor = reading->monitor,
        .spans = {.whole = nic_monitor_spans(reading->monitor)},
        .machine = &machine,
    };
    int rc = copy_monitor(reading, number);

    if (rc == 0) {
        rc = nic_monitor_copy(&recorder, &spans_out->spans, &spans_out->n,
                              &spans_out->shift);
    }
    if (rc == 0) {
        mend(reading, spans_out);
    }
    return rc;
}

/** The spans of all monitors together. */
static int read_monitors(struct reading *reading, struct bcs_spans *spans_out)
{
    struct bcs_spans sum = {0};
    int rc = read_monitor(reading, 0, &sum);

    for (uint32_t i = 1; i < reading->head.n_monitors && rc == 0; i++) {
        struct bcs_spans more;

        rc = read_monitor(reading, i, &more);
        if (rc == 0) {
            rc = bcs_spans_join(&sum, &more, reading->head.facts.window_first);
        }
    }
    if (rc < 0) {
        free(sum.spans);
        return rc;
    }
    *spans_out = sum;
    return 0;
}

/** Whether it was recorded here, since this machine was started. */
static bool is_of_this_machine(const struct reading *reading)
{
    char host[sizeof(reading->head.facts.host)] = "";

    gethostname(host, sizeof(host) - 1);
    return strcmp(host, reading->head.facts.host) == 0 &&
           reading->now.ns > reading->head.began.ns &&
           reading->now.ticks > reading->head.began.ticks;
}

static struct mds_node node_of(const struct reading *reading,
                               const struct bcs_spans *spans)
{
    const struct mds_live_slices *head = &reading->head;
    double ns_per_tick = (double)(reading->now.ns - head->began.ns) /
                         (double)(reading->now.ticks - head->began.ticks);
    struct mds_node node = {
        .is_global = head->is_global != 0,
        .metrics = head->metrics,
        .facts = head->facts,
        .spans = spans->spans,
        .n_spans = spans->n,
    };

    bcs_spans_scale(spans, node.is_global, ns_per_tick);
    node.facts.end = MDS_DUMP_END_UNKNOWN;
    node.facts.shift = (uint32_t)spans->shift;
    node.facts.interval = bcs_clock_in_ns(head->interval_ticks, ns_per_tick);
    node.facts.run =
        (uint64_t)((double)(reading->last_ticks - head->began.ticks) * ns_per_tick +
                   0.5);
    return node;
}

/** Read a file that is open. */
static int read_file(int fd, size_t n_bytes, struct mds_node *node_out)
{
    struct reading reading = {.fd = fd, .now = bcs_clock_moment()};
    struct mds_live_slices *head = &reading.head;
    struct bcs_spans spans;
    int rc;

    if (pread(fd, head, sizeof(*head), 0) != (ssize_t)sizeof(*head)) {
        return -EINVAL;
    }
    if (head->magic[0] == '\0') {
        return -EAGAIN;
    }
    if (memcmp(head->magic, MDS_LIVE_SLICES_MAGIC, sizeof(head->magic)) != 0 ||
        !is_head_sound(head, n_bytes)) {
        return -EINVAL;
    }
    if (!is_of_this_machine(&reading)) {
        return -ESTALE;
    }
    reading.last_ticks = head->began.ticks;
    reading.monitor = malloc(nic_monitor_bytes(head->n_spans));
    rc = reading.monitor == NULL ? -ENOMEM : read_monitors(&reading, &spans);
    free(reading.monitor);
    if (rc == 0) {
        *node_out = node_of(&reading, &spans);
    }
    return rc;
}

int mds_live_slices_read(const char *path, struct mds_node *node_out)
{
    size_t n_bytes;
    int fd = mds_live_open(path, sizeof(struct mds_live_slices), &n_bytes);
    int rc;

    if (fd < 0) {
        return fd;
    }
    rc = read_file(fd, n_bytes, node_out);
    close(fd);
    return rc;
}
