// A UDP flood in C: what each technique costs that udpbench has an engine for, written with no overhead at
// all. scripts/compare_with_c.py holds the engines against it.
//
// One thread sends, one receives, over 127.0.0.1; how, the two files say that are included below:
//
//     gcc -O3 -pthread -DSENDER='"sendmmsg.h"' -DRECEIVER='"recvmmsg.h"' flood.c -o flood
//     gcc ... -DCONNECTION=TCP -DSENDER='"send_stream.h"' -DRECEIVER='"recv_stream.h"'   # or UNIX_STREAM
//     gcc ... -DCONNECTION=UNIX_DGRAM -DSENDER='"write.h"' -DRECEIVER='"recv.h"'
//     ./flood --payload 300 --sender-cpu 1 --receiver-cpu 0
//
// The method is udpbench's (src/trial/mod.rs), so that only the loops differ: every window is a run of
// its own with new sockets and threads; the threads count for themselves, and the main thread reads the
// counts and the threads' CPU clocks at both edges of the window.
//
// Prints one line of name=value pairs, named like udpbench's columns. Exit codes: 0 measured, 1 something
// broke or datagrams are unaccounted for, 2 bad input, 3 this kernel lacks what the technique needs.

#define _GNU_SOURCE // CPU_SET(3), pthread_tryjoin_np(3), sendmmsg(2), recvmmsg(2) and others
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
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
enum { MAX_PAYLOAD_BYTES = 1 << 20, MAX_BATCH = 1024, MAX_MS = 60 * 1000, MAX_WINDOWS = 1000 };
enum { BROKEN = 1, BAD_INPUT = 2, CANNOT_RUN_HERE = 3 };

#include "options.h"
#include "sockets.h"
#include "half.h"

// struct sender; open_sender(), send_burst(), close_sender(), all on the sender's own thread. CUTS, if the
// kernel gets a burst in one piece.
#include SENDER
// struct receiver; open_receiver(), receive_burst(), close_receiver(). JOINS, if it gets such a piece as one;
// the kernel then counts one that it drops as one, too. receive_burst() returns an empty burst when a signal
// ends its wait.
#include RECEIVER

#ifndef CONNECTION
#define CONNECTION NONE
#endif
#ifdef UNCONNECTED
enum { IS_CONNECTED = false };
#else
enum { IS_CONNECTED = true };
#endif
#if defined CUTS && defined JOINS
enum { DROPS_ARE_BURSTS = true };
#else
enum { DROPS_ARE_BURSTS = false };
#endif

// What one thread has moved. Two cache lines of its own, as in udpbench: CPUs prefetch 64 B lines in
// pairs, and some have lines of 128 B.
struct bench_thread {
    alignas(128) _Atomic uint64_t packets, bytes;
    uint64_t packets_per_burst; // the last one's; known when the thread has ended
    struct end end;
    pthread_t thread;
    clockid_t cpu_clock;
};

struct run {
    struct bench_thread sender, receiver;
    alignas(128) atomic_bool stop_sending; // only read while datagrams flow
    atomic_bool stop_receiving;
    pthread_barrier_t gate;
};

struct edge {
    uint64_t received, drops, sent, sender_cpu_ns, receiver_cpu_ns;
};

struct totals {
    uint64_t sent, received, dropped, rcvbuf_bytes;
    int64_t unaccounted;
};

// One value per window.
struct cost {
    double ns_per_packet[MAX_WINDOWS];
    size_t count;
};

// Of the sender per datagram sent, of the receiver per datagram received, of both per datagram received.
struct costs {
    struct cost sender, receiver, both;
};

// Relaxed: a counter orders nothing.
static inline void publish(struct bench_thread *bench, struct burst total)
{
    atomic_store_explicit(&bench->packets, total.packets, memory_order_relaxed);
    atomic_store_explicit(&bench->bytes, total.bytes, memory_order_relaxed);
}

static void *send_until_stopped(void *arg)
{
    struct run *run = arg;
    struct sender sender;
    open_sender(&sender, &run->sender.end);
    pthread_barrier_wait(&run->gate);
    struct burst total = { 0 }, burst = { 0 };
    while (!atomic_load_explicit(&run->stop_sending, memory_order_relaxed)) {
        burst = send_burst(&sender);
        total.packets += burst.packets;
        total.bytes += burst.bytes;
        publish(&run->sender, total);
    }
    run->sender.packets_per_burst = burst.packets;
    close_sender(&sender);
    return NULL;
}

static void *receive_until_stopped(void *arg)
{
    struct run *run = arg;
    struct receiver receiver;
    open_receiver(&receiver, &run->receiver.end);
    pthread_barrier_wait(&run->gate);
    struct burst total = { 0 };
    while (!atomic_load_explicit(&run->stop_receiving, memory_order_relaxed)) {
        struct burst burst = receive_burst(&receiver);
        total.packets += burst.packets;
        total.bytes += burst.bytes;
        publish(&run->receiver, total);
    }
    close_receiver(&receiver);
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
        err(BROKEN, "cannot read a clock");
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void open_sockets(struct run *run, int buffer_bytes)
{
    struct end *sender = &run->sender.end, *receiver = &run->receiver.end;
    if (CONNECTION != NONE) {
        open_connection(CONNECTION, buffer_bytes, &sender->fd, &receiver->fd);
        return;
    }
    receiver->fd = bound_socket(&sender->peer);
    sender->fd = bound_socket(&receiver->peer);
    set_buffer(receiver->fd, SO_RCVBUFFORCE, SO_RCVBUF, buffer_bytes);
    if (IS_CONNECTED) {
        connect_to(sender->fd, &sender->peer);
        connect_to(receiver->fd, &receiver->peer);
    }
}

// Drops of a datagram socket. What a connection drops, it sends again.
static uint64_t lost(int fd)
{
    return CONNECTION == NONE ? drops(fd) : 0;
}

static void start(struct bench_thread *bench, void *(*loop)(void *), struct run *run, long cpu)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (cpu >= 0) {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        CPU_SET(cpu, &cpus);
        pthread_attr_setaffinity_np(&attributes, sizeof cpus, &cpus);
    }
    errno = pthread_create(&bench->thread, &attributes, loop, run);
    if (errno)
        err(BROKEN, "cannot start a thread; choose its CPU from those that `taskset -cp $$` shows");
    pthread_attr_destroy(&attributes);
    errno = pthread_getcpuclockid(bench->thread, &bench->cpu_clock);
    if (errno)
        err(BROKEN, "cannot find the CPU clock of a thread");
}

// A datagram is sent before it is dropped or received: reading in the opposite order keeps what is in
// flight from looking negative.
static struct edge read_edge(struct run *run)
{
    struct edge edge;
    edge.received = atomic_load_explicit(&run->receiver.packets, memory_order_relaxed);
    edge.drops = lost(run->receiver.end.fd);
    edge.sent = atomic_load_explicit(&run->sender.packets, memory_order_relaxed);
    edge.sender_cpu_ns = clock_ns(run->sender.cpu_clock);
    edge.receiver_cpu_ns = clock_ns(run->receiver.cpu_clock);
    return edge;
}

static uint64_t packets_per_drop(const struct run *run)
{
    return DROPS_ARE_BURSTS ? run->sender.packets_per_burst : 1;
}

// Once the sender has ended.
static int64_t in_flight(struct run *run)
{
    uint64_t received = atomic_load_explicit(&run->receiver.packets, memory_order_relaxed);
    return run->sender.packets - received - lost(run->receiver.end.fd) * packets_per_drop(run);
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

static void do_nothing(int signal)
{
    (void)signal;
}

// A signal ends the wait of a receiver, but not the next wait of one that was about to look at the flag.
static void stop_receiving(struct run *run)
{
    atomic_store_explicit(&run->stop_receiving, true, memory_order_relaxed);
    while (pthread_tryjoin_np(run->receiver.thread, NULL) == EBUSY) {
        pthread_kill(run->receiver.thread, SIGUSR1);
        sleep_ns(GLANCE_US * NS_PER_US);
    }
}

// On a busy machine a thread may not get to run in a short window, which then says nothing of its cost.
static void note(struct cost *cost, uint64_t cpu_ns, uint64_t packets)
{
    if (packets > 0)
        cost->ns_per_packet[cost->count++] = (double)cpu_ns / packets;
}

static void measure(const struct settings *settings, struct costs *costs, struct totals *totals)
{
    struct end end = { .payload_bytes = settings->payload_bytes, .batch = settings->batch };
    struct run run = { .sender.end = end, .receiver.end = end };
    open_sockets(&run, settings->rcvbuf_bytes);
    totals->rcvbuf_bytes = rcvbuf(run.receiver.end.fd);

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
    uint64_t sent = run.sender.packets;
    uint64_t dropped_before = opening.drops * packets_per_drop(&run);
    uint64_t dropped = lost(run.receiver.end.fd) * packets_per_drop(&run);
    stop_receiving(&run);

    // The counts, like those of udpbench, are of what was sent from the opening of the window on. All else
    // that was sent came before it in the queue, so the two have the same rest.
    int64_t unaccounted = sent - run.receiver.packets - dropped;
    totals->sent += sent - opening.sent;
    totals->dropped += dropped - dropped_before;
    totals->received += (sent - opening.sent) - (dropped - dropped_before) - unaccounted;
    totals->unaccounted += unaccounted < 0 ? -unaccounted : unaccounted; // may not cancel out
    uint64_t sender_ns = closing.sender_cpu_ns - opening.sender_cpu_ns;
    uint64_t receiver_ns = closing.receiver_cpu_ns - opening.receiver_cpu_ns;
    note(&costs->sender, sender_ns, closing.sent - opening.sent);
    note(&costs->receiver, receiver_ns, closing.received - opening.received);
    note(&costs->both, sender_ns + receiver_ns, closing.received - opening.received);
    pthread_barrier_destroy(&run.gate);
    close(run.sender.end.fd);
    close(run.receiver.end.fd);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(struct cost *cost)
{
    double *values = cost->ns_per_packet;
    if (cost->count == 0)
        errx(BROKEN, "nothing was moved while a window was open; try a longer --window-ms");
    qsort(values, cost->count, sizeof *values, by_value);
    return (values[(cost->count - 1) / 2] + values[cost->count / 2]) / 2;
}

int main(int argc, char **argv)
{
    struct settings settings = {
        .payload_bytes = 300,
        .batch = 32,
        .rcvbuf_bytes = 4 << 20,
        .sender_cpu = -1,
        .receiver_cpu = -1,
        .warmup_ms = 20,
        .window_ms = 200,
        .windows = 6,
    };
    parse(argc, argv, &settings);
    struct sigaction wakeup = { .sa_handler = do_nothing }; // no SA_RESTART: the system call must end
    sigaction(SIGUSR1, &wakeup, NULL);
    static struct costs costs;
    struct totals totals = { 0 };
    for (long n = 0; n < settings.windows; n++)
        measure(&settings, &costs, &totals);
    printf("sender_cpu_ns_per_packet=%.2f receiver_cpu_ns_per_packet=%.2f cpu_ns_per_packet=%.2f"
           " sent_packets=%" PRIu64 " received_packets=%" PRIu64 " dropped_socket_packets=%" PRIu64
           " unaccounted_packets=%" PRId64 " rcvbuf_bytes=%" PRIu64 "\n",
           median(&costs.sender), median(&costs.receiver), median(&costs.both), totals.sent,
           totals.received, totals.dropped, totals.unaccounted, totals.rcvbuf_bytes);
    if (totals.unaccounted != 0)
        errx(BROKEN, "%" PRId64 " datagrams unaccounted for; run again on a quieter machine",
             totals.unaccounted);
    return 0;
}
