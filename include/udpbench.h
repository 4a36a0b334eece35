/* A loop of yours, measured by udpbench: --engine exec:PROGRAM. See docs/OWN-LOOP.md.
 *
 * udpbench starts PROGRAM once per bench thread, without arguments, with two open descriptors: the socket (3) and a
 * page of shared memory (4). This header maps the page. It needs no library, but for -latomic on an ARMv6. Where the
 * compiler is strict (-std=c11), define _POSIX_C_SOURCE as 200809L first. All fields are in the byte order of the
 * machine; offsets are the same on all machines. */
#ifndef UDPBENCH_H
#define UDPBENCH_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UDPBENCH_VERSION 1
#define UDPBENCH_SOCKET 3 /* the socket: bound, and connected if the page says so */
#define UDPBENCH_PAGE 4   /* the page */

enum udpbench_role {
    UDPBENCH_SEND = 1,    /* send datagrams as fast as you can until `stop` */
    UDPBENCH_RECEIVE = 2, /* receive datagrams until SIGTERM */
    UDPBENCH_CLIENT = 3,  /* send a request, wait for its response, and so on until `stop` */
    UDPBENCH_SERVER = 4   /* send each request back to where it came from, until SIGTERM */
};

struct udpbench_page {
    /* Written by udpbench before PROGRAM starts. */
    uint32_t version;    /*    0: UDPBENCH_VERSION */
    uint32_t role;       /*    4: enum udpbench_role */
    uint32_t payload;    /*    8: bytes of each datagram to send */
    uint32_t buffer;     /*   12: bytes to have room for in each receive */
    uint32_t batch;      /*   16: datagrams per call at most, for loops that batch: 32 */
    uint32_t connected;  /*   20: 1: use send and recv; 0: name `peer` in each call */
    uint32_t spin;       /*   24: 1: the socket is non-blocking and stays so: call again instead of waiting */
    uint32_t timeout_ms; /*   28: client: give a request up after this time, and send the next one */
    uint64_t seed;       /*   32: for whatever is random in PROGRAM */
    uint32_t peer_bytes; /*   40: length of `peer`; 0: this end does not send first */
    uint32_t ip;         /*   44: family of the socket's addresses: 4 or 6 */
    uint8_t peer[128];   /*   48: struct sockaddr_in or sockaddr_in6 */
    char peer_text[64];  /*  176: the same as text, such as 127.0.0.1:40000 or [::1]:40000 */
    uint32_t verify;     /*  240: 1: the contents of datagrams are checked, through `slots` */
    uint32_t slots;      /*  244: number of slots, a power of two */
    uint32_t slot_bytes; /*  248: distance between two slots */
    uint32_t slots_at;   /*  252: offset of the first slot in the page */

    /* Written by udpbench while PROGRAM runs. */
    uint32_t go;       /*  256: 1: begin */
    uint32_t stop;     /*  260: 1: end */
    uint8_t rest1[56]; /*  264 */
    uint64_t slots_ready; /*  320: sender: slots filled so far; receiver: slots read so far. Both only grow */
    uint8_t rest2[184];   /*  328 */

    /* Written by PROGRAM. The counts only grow. */
    uint64_t packets;  /*  512: datagrams that the kernel took (sender, client) or delivered (receiver, server) */
    uint64_t bytes;    /*  520: payload sent (sender) or received (all others) */
    uint64_t reserved; /*  528 */
    uint64_t errors;   /*  536: calls that failed, apart from EINTR and EAGAIN, and from sends: see `refused` */
    uint64_t refused;  /*  544: datagrams that a send should have sent when it failed: not in `packets` */
    uint64_t answered; /*  552: server: responses sent; client: responses received in time */
    uint64_t late;     /*  560: client: responses that came after their time */
    uint32_t ready;    /*  568: 1: set up, waiting for `go` */
    uint32_t reserved2;   /*  572 */
    uint8_t rest3[448];   /*  576 */
    uint32_t rtt_ns[65536]; /* 1024: client: round-trip time of the n-th response in rtt_ns[n % 65536] */
    /* At `slots_at`: the slots. The first 4 bytes of a slot are the length of its datagram. */
};

#if !defined(__cplusplus) && __STDC_VERSION__ >= 201112L
_Static_assert(offsetof(struct udpbench_page, go) == 256, "as udpbench has it");
_Static_assert(offsetof(struct udpbench_page, slots_ready) == 320, "as udpbench has it");
_Static_assert(offsetof(struct udpbench_page, packets) == 512, "as udpbench has it");
_Static_assert(offsetof(struct udpbench_page, ready) == 568, "as udpbench has it");
_Static_assert(offsetof(struct udpbench_page, rtt_ns) == 1024, "as udpbench has it");
#endif

/* Maps the page. Returns NULL if the program was not started by udpbench, or by one of another version. */
static inline volatile struct udpbench_page *udpbench_open(void)
{
    off_t bytes = lseek(UDPBENCH_PAGE, 0, SEEK_END);
    if (bytes < (off_t)sizeof(struct udpbench_page))
        return NULL;
    void *page = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, UDPBENCH_PAGE, 0);
    if (page == MAP_FAILED || ((struct udpbench_page *)page)->version != UDPBENCH_VERSION)
        return NULL;
    return (volatile struct udpbench_page *)page;
}

static inline void udpbench_sleep_us(long us)
{
    struct timespec time = {0, us * 1000};
    nanosleep(&time, NULL);
}

/* Says that the program is set up, and waits for the start. */
static inline void udpbench_wait(volatile struct udpbench_page *page)
{
    __atomic_store_n(&page->ready, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&page->go, __ATOMIC_ACQUIRE))
        udpbench_sleep_us(100);
}

/* Returns whether to end. */
static inline int udpbench_stopped(const volatile struct udpbench_page *page)
{
    return (int)__atomic_load_n(&page->stop, __ATOMIC_RELAXED);
}

/* Counts `packets` datagrams with `bytes` bytes of payload together. */
static inline void udpbench_count(volatile struct udpbench_page *page, uint64_t packets, uint64_t bytes)
{
    __atomic_store_n(&page->bytes, page->bytes + bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&page->packets, page->packets + packets, __ATOMIC_RELEASE);
}

/* Counts the call that just failed, by `errno`. `refused`: datagrams that it should have sent; 0 for a receive. EAGAIN
 * and EINTR only say: call again. */
static inline void udpbench_failed(volatile struct udpbench_page *page, uint64_t refused)
{
    if (errno == EAGAIN || errno == EINTR)
        return;
    if (refused)
        __atomic_store_n(&page->refused, page->refused + refused, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&page->errors, page->errors + 1, __ATOMIC_RELAXED);
}

static inline uint64_t udpbench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Server: counts a response that the kernel took. */
static inline void udpbench_answered(volatile struct udpbench_page *page)
{
    __atomic_store_n(&page->answered, page->answered + 1, __ATOMIC_RELAXED);
}

/* Client: counts a response that came after its time. */
static inline void udpbench_late(volatile struct udpbench_page *page)
{
    __atomic_store_n(&page->late, page->late + 1, __ATOMIC_RELAXED);
}

/* Client: counts a response that came in time. */
static inline void udpbench_answer(volatile struct udpbench_page *page, uint64_t rtt_ns)
{
    uint64_t n = page->answered;
    page->rtt_ns[n % 65536] = rtt_ns < UINT32_MAX ? (uint32_t)rtt_ns : UINT32_MAX;
    __atomic_store_n(&page->answered, n + 1, __ATOMIC_RELEASE);
}

static inline volatile uint8_t *udpbench_slot(volatile struct udpbench_page *page, uint64_t n)
{
    return (volatile uint8_t *)page + page->slots_at + (n & (page->slots - 1)) * page->slot_bytes;
}

/* Sender, only if `verify`: copies the content of the n-th datagram (from 0) of this program to `datagram`. Returns 0 if
 * it must end instead. */
static inline int udpbench_fill(volatile struct udpbench_page *page, uint64_t n, void *datagram)
{
    while (__atomic_load_n(&page->slots_ready, __ATOMIC_ACQUIRE) <= n) {
        if (udpbench_stopped(page))
            return 0;
        udpbench_sleep_us(10); /* whoever fills them may be on this CPU */
    }
    memcpy(datagram, (const void *)(udpbench_slot(page, n) + 4), page->payload);
    return 1;
}

/* Copies the content of a datagram to the n-th slot. Client, only if `verify`: of the n-th response (from 0:
 * `answered`), before it is counted. */
static inline void udpbench_put(volatile struct udpbench_page *page, uint64_t n, const void *datagram, uint32_t bytes)
{
    volatile uint8_t *slot = udpbench_slot(page, n);
    memcpy((void *)slot, &bytes, 4);
    memcpy((void *)(slot + 4), datagram, bytes < page->buffer ? bytes : page->buffer);
}

/* Receiver, only if `verify`: hands the content of the n-th datagram (from 0) to udpbench, before it is counted. */
static inline void udpbench_hand_over(volatile struct udpbench_page *page, uint64_t n, const void *datagram, uint32_t bytes)
{
    while (n - __atomic_load_n(&page->slots_ready, __ATOMIC_ACQUIRE) >= page->slots)
        udpbench_sleep_us(10);
    udpbench_put(page, n, datagram, bytes);
}

#ifdef __cplusplus
}
#endif
#endif
