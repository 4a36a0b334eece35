// io_uring: a multishot receive (Linux 6.0), that goes on by itself into a ring of provided buffers (5.19),
// of which the kernel takes one per datagram.

#include "uring.h"

// As many as udpbench has: twice what a call takes from a full queue.
enum { BUFFERS = 64, BUFFER_GROUP = 0 };

struct receiver {
    struct end end;
    struct ring ring;
    struct io_uring_buf_ring *pool;
    uint16_t given; // buffers so far, modulo 2^16
    char *buffers;
    size_t buffer_bytes;
    bool is_armed;
};

// The kernel sees it after show_buffers().
static inline void give_back(struct receiver *receiver, unsigned buffer)
{
    struct io_uring_buf *slot = &receiver->pool->bufs[receiver->given++ % BUFFERS];
    slot->addr = (uintptr_t)receiver->buffers + buffer * receiver->buffer_bytes;
    slot->len = receiver->buffer_bytes;
    slot->bid = buffer; // the last field stays: that of the first slot is the ring's tail
}

static inline void show_buffers(struct receiver *receiver)
{
    _Atomic uint16_t *tail = (void *)&receiver->pool->tail;
    atomic_store_explicit(tail, receiver->given, memory_order_release);
}

static void open_pool(struct receiver *receiver)
{
    receiver->buffers = new_buffer(BUFFERS * receiver->buffer_bytes);
    size_t bytes = BUFFERS * sizeof(struct io_uring_buf);
    receiver->pool = memset(new_pages(bytes), 0, bytes);
    struct io_uring_buf_reg registration = {
        .ring_addr = (uintptr_t)receiver->pool,
        .ring_entries = BUFFERS,
        .bgid = BUFFER_GROUP,
    };
    if (register_with(&receiver->ring, IORING_REGISTER_PBUF_RING, &registration, 1) < 0)
        err(CANNOT_RUN_HERE, "a ring of provided buffers, which needs Linux 5.19");
    for (unsigned n = 0; n < BUFFERS; n++)
        give_back(receiver, n);
    show_buffers(receiver);
}

static void open_receiver(struct receiver *receiver, const struct end *end)
{
    *receiver = (struct receiver){ .end = *end };
    receiver->buffer_bytes = end->payload_bytes ? end->payload_bytes : 1; // none has no length
    open_ring(&receiver->ring, end->fd, 8, 2 * BUFFERS);
    open_pool(receiver);
}

static void arm(struct receiver *receiver)
{
    struct io_uring_sqe request = {
        .opcode = IORING_OP_RECV,
        .flags = IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT,
        .ioprio = IORING_RECV_MULTISHOT,
        .fd = SOCKET,
        .buf_group = BUFFER_GROUP,
    };
    push(&receiver->ring, &request, 1);
    receiver->is_armed = true;
}

static inline struct burst receive_burst(struct receiver *receiver)
{
    if (!receiver->is_armed)
        arm(receiver);
    if (submit_and_wait(&receiver->ring, 1) < 0)
        return no_burst("io_uring_enter");
    struct burst burst = { 0 };
    unsigned ready = ready_completions(&receiver->ring);
    for (unsigned n = 0; n < ready; n++) {
        const struct io_uring_cqe *completion = completion_at(&receiver->ring, n);
        if (completion->flags & IORING_CQE_F_BUFFER)
            give_back(receiver, completion->flags >> IORING_CQE_BUFFER_SHIFT);
        if (!(completion->flags & IORING_CQE_F_MORE))
            receiver->is_armed = false; // for want of a buffer
        if (completion->res >= 0) {
            burst.packets++;
            burst.bytes += completion->res;
        } else if (completion->res != -ENOBUFS)
            errx(BROKEN, "receive: %s", strerror(-completion->res));
    }
    show_buffers(receiver);
    drop_completions(&receiver->ring, ready);
    return burst;
}

static void close_receiver(struct receiver *receiver)
{
    close_ring(&receiver->ring);
    free(receiver->pool);
    free(receiver->buffers);
}
