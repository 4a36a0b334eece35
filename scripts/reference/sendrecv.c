// A minimal UDP flood in C: what a socket loop costs that has no overhead at all. udpbench's engine `std`
// is held against it by scripts/compare-with-c.
//
// One thread calls send(), one calls recv(), one datagram a call, on two connected sockets of 127.0.0.1.
// The method is udpbench's (src/runner/mod.rs), so that only the loops differ: every window is a run of
// its own with new sockets and threads; the threads count for themselves, and the main thread reads the
// counts and the threads' CPU clocks at both edges of the window.
//
//     gcc -O3 -pthread sendrecv.c -o sendrecv && ./sendrecv --payload 300 --sender-cpu 1 --receiver-cpu 0
//
// Prints one line of name=value pairs, named like udpbench's columns. Exit codes: 0 measured, 1 something
// broke or datagrams are unaccounted for, 2 bad input.

#define _GNU_SOURCE // CPU_SET(3), pthread_attr_setaffinity_np(3)
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const uint64_t NS_PER_US = 1000, NS_PER_MS = 1000 * 1000, NS_PER_S = 1000 * 1000 * 1000;
enum { GLANCE_US = 100, QUIET_MS = 500 };
enum { MAX_PAYLOAD_BYTES = 65507, MAX_MS = 60 * 1000, MAX_WINDOWS = 1000 };

// A CPU of -1: not pinned.
struct settings {
    long payload_bytes, rcvbuf_bytes, sender_cpu, receiver_cpu, warmup_ms, window_ms, windows;
};

// What one thread has moved. Two cache lines of its own, as in udpbench: CPUs prefetch 64 B lines in
// pairs, and some have lines of 128 B.
struct lane {
    alignas(128) _Atomic uint64_t packets;
    int fd;
    pthread_t thread;
    clockid_t cpu_clock;
};

struct run {
    struct lane sender, receiver;
    size_t payload_bytes;
    alignas(128) atomic_bool stop_sending; // only read while datagrams flow
    atomic_bool stop_receiving;
    pthread_barrier_t gate;
};

struct edge {
    uint64_t received, dropped, sent, sender_cpu_ns, receiver_cpu_ns;
};

struct totals {
    uint64_t sent, received, dropped, rcvbuf_bytes;
    int64_t unaccounted;
};

// One thread's, one value per window.
struct costs {
    double ns_per_packet[MAX_WINDOWS];
    size_t count;
};

// Not zeros, which the kernel might back with one shared page.
static char *new_buffer(size_t bytes)
{
    char *buffer = malloc(bytes + 1);
    if (!buffer)
        err(1, "no memory for a buffer");
    return memset(buffer, 0xA5, bytes + 1);
}

static void *send_until_stopped(void *arg)
{
    struct run *run = arg;
    const int fd = run->sender.fd;
    const size_t bytes = run->payload_bytes;
    char *buffer = new_buffer(bytes);
    pthread_barrier_wait(&run->gate);
    uint64_t sent = 0;
    while (!atomic_load_explicit(&run->stop_sending, memory_order_relaxed)) {
        if (send(fd, buffer, bytes, 0) < 0)
            err(1, "send");
        atomic_store_explicit(&run->sender.packets, ++sent, memory_order_relaxed);
    }
    free(buffer);
    return NULL;
}

static void *receive_until_stopped(void *arg)
{
    struct run *run = arg;
    const int fd = run->receiver.fd;
    const size_t bytes = run->payload_bytes;
    char *buffer = new_buffer(bytes);
    pthread_barrier_wait(&run->gate);
    uint64_t received = 0;
    for (;;) {
        ssize_t got = recv(fd, buffer, bytes, 0);
        // The stop comes when the queue is empty: what returns after it is the shutdown, not a datagram.
        if (atomic_load_explicit(&run->stop_receiving, memory_order_relaxed))
            break;
        if (got < 0)
            err(1, "recv");
        atomic_store_explicit(&run->receiver.packets, ++received, memory_order_relaxed);
    }
    free(buffer);
    return NULL;
}

static void sleep_ns(uint64_t ns)
{
    struct timespec left = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) < 0)
        err(1, "cannot read a clock");
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

// A socket on a port of 127.0.0.1 that the kernel chooses.
static int bound_socket(struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t length = sizeof *address;
    *address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (fd < 0 || bind(fd, (struct sockaddr *)address, length) < 0 ||
        getsockname(fd, (struct sockaddr *)address, &length) < 0)
        err(1, "cannot bind a socket to 127.0.0.1; is lo up?");
    return fd;
}

static void connect_to(int fd, const struct sockaddr_in *peer)
{
    if (connect(fd, (const struct sockaddr *)peer, sizeof *peer) < 0)
        err(1, "cannot connect a socket of 127.0.0.1");
}

// Returns what was granted: twice what was asked for, up to net.core.rmem_max (socket(7)).
static uint64_t set_rcvbuf(int fd, int bytes)
{
    socklen_t length = sizeof bytes;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, length) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &length) < 0)
        err(1, "cannot set SO_RCVBUF");
    return bytes;
}

// Datagrams that the socket has dropped since it was made (sock_diag(7), struct sk_meminfo).
static uint64_t drops(int fd)
{
    uint32_t meminfo[SK_MEMINFO_VARS] = { 0 };
    socklen_t length = sizeof meminfo;
    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, meminfo, &length) < 0)
        err(1, "cannot read SO_MEMINFO, which needs Linux 4.12");
    if (length <= SK_MEMINFO_DROPS * sizeof *meminfo)
        errx(1, "this kernel's SO_MEMINFO has no drops; use Linux 4.12 or later");
    return meminfo[SK_MEMINFO_DROPS];
}

static void start(struct lane *lane, void *(*loop)(void *), struct run *run, long cpu)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (cpu >= 0) {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        CPU_SET(cpu, &cpus);
        pthread_attr_setaffinity_np(&attributes, sizeof cpus, &cpus);
    }
    errno = pthread_create(&lane->thread, &attributes, loop, run);
    if (errno)
        err(1, "cannot start a thread; choose its CPU from those that `taskset -cp $$` shows");
    pthread_attr_destroy(&attributes);
    errno = pthread_getcpuclockid(lane->thread, &lane->cpu_clock);
    if (errno)
        err(1, "cannot find the CPU clock of a thread");
}

// A datagram is sent before it is dropped or received: reading in the opposite order keeps what is in
// flight from looking negative.
static struct edge read_edge(struct run *run)
{
    struct edge edge;
    edge.received = atomic_load_explicit(&run->receiver.packets, memory_order_relaxed);
    edge.dropped = drops(run->receiver.fd);
    edge.sent = atomic_load_explicit(&run->sender.packets, memory_order_relaxed);
    edge.sender_cpu_ns = clock_ns(run->sender.cpu_clock);
    edge.receiver_cpu_ns = clock_ns(run->receiver.cpu_clock);
    return edge;
}

static int64_t in_flight(struct run *run)
{
    uint64_t received = atomic_load_explicit(&run->receiver.packets, memory_order_relaxed);
    uint64_t gone = received + drops(run->receiver.fd);
    return atomic_load_explicit(&run->sender.packets, memory_order_relaxed) - gone;
}

// Waits until the receiver, in its own loop, has taken what the sender left in the queue.
static void drain(struct run *run)
{
    int64_t last = in_flight(run);
    uint64_t moved_at = clock_ns(CLOCK_MONOTONIC);
    while (last != 0 && clock_ns(CLOCK_MONOTONIC) - moved_at < QUIET_MS * NS_PER_MS) {
        sleep_ns(GLANCE_US * NS_PER_US);
        int64_t now = in_flight(run);
        if (now != last) {
            last = now;
            moved_at = clock_ns(CLOCK_MONOTONIC);
        }
    }
}

// On a busy machine a thread may not get to run in a short window, which then says nothing of its cost.
static void note(struct costs *costs, uint64_t cpu_ns, uint64_t packets)
{
    if (packets > 0)
        costs->ns_per_packet[costs->count++] = (double)cpu_ns / packets;
}

static void measure(const struct settings *settings, struct costs *sender, struct costs *receiver,
                    struct totals *totals)
{
    struct run run = { .payload_bytes = settings->payload_bytes };
    struct sockaddr_in sender_address, receiver_address;
    run.receiver.fd = bound_socket(&receiver_address);
    run.sender.fd = bound_socket(&sender_address);
    totals->rcvbuf_bytes = set_rcvbuf(run.receiver.fd, settings->rcvbuf_bytes);
    connect_to(run.sender.fd, &receiver_address);
    connect_to(run.receiver.fd, &sender_address);

    pthread_barrier_init(&run.gate, NULL, 3);
    start(&run.sender, send_until_stopped, &run, settings->sender_cpu);
    start(&run.receiver, receive_until_stopped, &run, settings->receiver_cpu);
    pthread_barrier_wait(&run.gate);
    sleep_ns(settings->warmup_ms * NS_PER_MS);
    struct edge opening = read_edge(&run);
    sleep_ns(settings->window_ms * NS_PER_MS);
    struct edge closing = read_edge(&run);

    atomic_store_explicit(&run.stop_sending, true, memory_order_relaxed);
    pthread_join(run.sender.thread, NULL);
    drain(&run);
    uint64_t sent = run.sender.packets, dropped = drops(run.receiver.fd);
    atomic_store_explicit(&run.stop_receiving, true, memory_order_relaxed);
    // Wakes a receiver that waits, and lets none wait that is about to: recv() returns 0 once the queue is
    // empty (__skb_wait_for_more_packets, net/core/datagram.c).
    shutdown(run.receiver.fd, SHUT_RD);
    pthread_join(run.receiver.thread, NULL);

    // The books, like udpbench's, are those of what was sent from the opening of the window on. All else
    // that was sent came before it in the queue, so the two have the same rest.
    int64_t unaccounted = sent - run.receiver.packets - dropped;
    totals->sent += sent - opening.sent;
    totals->dropped += dropped - opening.dropped;
    totals->received += (sent - opening.sent) - (dropped - opening.dropped) - unaccounted;
    totals->unaccounted += unaccounted < 0 ? -unaccounted : unaccounted; // may not cancel out
    note(sender, closing.sender_cpu_ns - opening.sender_cpu_ns, closing.sent - opening.sent);
    note(receiver, closing.receiver_cpu_ns - opening.receiver_cpu_ns, closing.received - opening.received);
    pthread_barrier_destroy(&run.gate);
    close(run.sender.fd);
    close(run.receiver.fd);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(struct costs *costs)
{
    double *values = costs->ns_per_packet;
    if (costs->count == 0)
        errx(1, "nothing was moved while a window was open; try a longer --window-ms");
    qsort(values, costs->count, sizeof *values, by_value);
    return (values[(costs->count - 1) / 2] + values[costs->count / 2]) / 2;
}

#define OPTION(name, field, min, max) { name, offsetof(struct settings, field), min, max }
static const struct {
    const char *name;
    size_t offset;
    long min, max;
} OPTIONS[] = {
    OPTION("payload", payload_bytes, 0, MAX_PAYLOAD_BYTES),
    OPTION("rcvbuf", rcvbuf_bytes, 1, INT32_MAX / 2), // the kernel doubles an int
    OPTION("sender-cpu", sender_cpu, 0, CPU_SETSIZE - 1),
    OPTION("receiver-cpu", receiver_cpu, 0, CPU_SETSIZE - 1),
    OPTION("warmup-ms", warmup_ms, 0, MAX_MS),
    OPTION("window-ms", window_ms, 1, MAX_MS),
    OPTION("windows", windows, 1, MAX_WINDOWS),
};
enum { OPTION_COUNT = sizeof OPTIONS / sizeof *OPTIONS };

static void parse(int argc, char **argv, struct settings *settings)
{
    struct option names[OPTION_COUNT + 1] = { 0 };
    for (int n = 0; n < OPTION_COUNT; n++)
        names[n] = (struct option){ OPTIONS[n].name, required_argument, NULL, n };
    int n;
    while ((n = getopt_long(argc, argv, "", names, NULL)) >= 0 && n < OPTION_COUNT) {
        char *end;
        errno = 0;
        long value = strtol(optarg, &end, 10);
        if (errno || end == optarg || *end || value < OPTIONS[n].min || value > OPTIONS[n].max)
            errx(2, "--%s takes a number from %ld to %ld, not %s", OPTIONS[n].name, OPTIONS[n].min,
                 OPTIONS[n].max, optarg);
        *(long *)((char *)settings + OPTIONS[n].offset) = value;
    }
    if (n >= 0 || optind < argc) { // '?', or words that are no options
        fprintf(stderr, "usage: %s", argv[0]);
        for (n = 0; n < OPTION_COUNT; n++)
            fprintf(stderr, " [--%s N]", OPTIONS[n].name);
        fprintf(stderr, "\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    struct settings settings = {
        .payload_bytes = 300,
        .rcvbuf_bytes = 4 << 20,
        .sender_cpu = -1,
        .receiver_cpu = -1,
        .warmup_ms = 20,
        .window_ms = 200,
        .windows = 6,
    };
    parse(argc, argv, &settings);
    struct costs sender = { 0 }, receiver = { 0 };
    struct totals totals = { 0 };
    for (long n = 0; n < settings.windows; n++)
        measure(&settings, &sender, &receiver, &totals);
    printf("sender_cpu_ns_per_packet=%.1f receiver_cpu_ns_per_packet=%.1f sent_packets=%" PRIu64
           " received_packets=%" PRIu64 " dropped_socket_packets=%" PRIu64 " unaccounted_packets=%" PRId64
           " rcvbuf_bytes=%" PRIu64 "\n",
           median(&sender), median(&receiver), totals.sent, totals.received,
           totals.dropped, totals.unaccounted, totals.rcvbuf_bytes);
    if (totals.unaccounted != 0)
        errx(1, "%" PRId64 " datagrams unaccounted for; run again on a quieter machine", totals.unaccounted);
    return 0;
}
