// A ring of io_uring(7), by its system calls, for the thread that makes it (SINGLE_ISSUER). Completions are worked
// off only when it asks for them (DEFER_TASKRUN, Linux 6.1). Its one registered file, number 0, is the socket.

#pragma once
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { SOCKET = 0 };

struct ring {
    int fd;
    char *queues; // of both directions
    size_t queues_bytes, requests_bytes;
    struct io_uring_sqe *requests;
    const struct io_uring_cqe *completions;
    _Atomic uint32_t *submitted, *pushed; // the kernel's head and our tail of the requests
    _Atomic uint32_t *taken, *completed;  // our head and the kernel's tail of the completions
    uint32_t request_mask, completion_mask;
};

static void *map(int fd, size_t bytes, off_t offset)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);
    if (memory == MAP_FAILED)
        err(BROKEN, "cannot map a queue of io_uring");
    return memory;
}

static long register_with(const struct ring *ring, unsigned operation, const void *argument, unsigned count)
{
    return syscall(__NR_io_uring_register, ring->fd, operation, argument, count);
}

static void open_ring(struct ring *ring, int socket, unsigned submissions, unsigned completions)
{
    struct io_uring_params params = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CLAMP |
                 IORING_SETUP_CQSIZE,
        .cq_entries = completions,
    };
    int fd = syscall(__NR_io_uring_setup, submissions, &params);
    if (fd < 0)
        err(CANNOT_RUN_HERE, "io_uring (Linux before 6.1, kernel.io_uring_disabled, or seccomp)");
    size_t request_bytes = params.sq_off.array + params.sq_entries * sizeof(uint32_t);
    size_t completion_bytes = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    *ring = (struct ring){ .fd = fd, .requests_bytes = params.sq_entries * sizeof(struct io_uring_sqe) };
    // One mapping has both queues (IORING_FEAT_SINGLE_MMAP, Linux 5.4).
    ring->queues_bytes = request_bytes > completion_bytes ? request_bytes : completion_bytes;
    char *queues = ring->queues = map(fd, ring->queues_bytes, IORING_OFF_SQ_RING);
    ring->requests = map(fd, ring->requests_bytes, IORING_OFF_SQES);
    ring->completions = (void *)(queues + params.cq_off.cqes);
    ring->submitted = (void *)(queues + params.sq_off.head);
    ring->pushed = (void *)(queues + params.sq_off.tail);
    ring->taken = (void *)(queues + params.cq_off.head);
    ring->completed = (void *)(queues + params.cq_off.tail);
    ring->request_mask = params.sq_entries - 1;
    ring->completion_mask = params.cq_entries - 1;
    // Requests are taken in the order of their memory.
    for (uint32_t n = 0; n < params.sq_entries; n++)
        ((uint32_t *)(queues + params.sq_off.array))[n] = n;
    if (register_with(ring, IORING_REGISTER_FILES, &socket, 1) < 0)
        err(BROKEN, "cannot register the socket with io_uring");
}

// The queue must have room for them. The kernel sees them in the next wait.
static inline void push(struct ring *ring, const struct io_uring_sqe *requests, unsigned count)
{
    uint32_t tail = atomic_load_explicit(ring->pushed, memory_order_relaxed);
    for (unsigned n = 0; n < count; n++)
        ring->requests[tail++ & ring->request_mask] = requests[n];
    atomic_store_explicit(ring->pushed, tail, memory_order_release);
}

// Submits what was pushed, and waits for so many completions. Negative, and errno set, if it fails.
static inline int submit_and_wait(struct ring *ring, unsigned completions)
{
    uint32_t pushed = atomic_load_explicit(ring->pushed, memory_order_relaxed);
    uint32_t requests = pushed - atomic_load_explicit(ring->submitted, memory_order_acquire);
    return syscall(__NR_io_uring_enter, ring->fd, requests, completions, IORING_ENTER_GETEVENTS, NULL, 0);
}

// How many completions are there to be read.
static inline unsigned ready_completions(const struct ring *ring)
{
    return atomic_load_explicit(ring->completed, memory_order_acquire) -
           atomic_load_explicit(ring->taken, memory_order_relaxed);
}

// One of them, counted from 0.
static inline const struct io_uring_cqe *completion_at(const struct ring *ring, unsigned n)
{
    uint32_t head = atomic_load_explicit(ring->taken, memory_order_relaxed);
    return &ring->completions[(head + n) & ring->completion_mask];
}

// Gives back the room of those that were read.
static inline void drop_completions(struct ring *ring, unsigned count)
{
    uint32_t head = atomic_load_explicit(ring->taken, memory_order_relaxed);
    atomic_store_explicit(ring->taken, head + count, memory_order_release);
}

static void close_ring(struct ring *ring)
{
    munmap(ring->requests, ring->requests_bytes);
    munmap(ring->queues, ring->queues_bytes);
    close(ring->fd);
}
