// io_uring: a multishot receive (Linux 6.0), that goes on by itself into a ring of provided buffers (5.19),
// of which the kernel takes one per datagram.

#include "uring.h"

// As many as udpbench has: twice what a call takes from a full queue.
enum { BUFFERS = 64, BUFFER_GROUP = 0 };

struct receiver {
    struct end end;
    struct io_uring ring;
    struct io_uring_buf_ring *pool;
    char *buffers;
    size_t buffer_bytes;
    bool is_armed;
};

// The kernel sees it after io_uring_buf_ring_advance().
static inline void give_back(struct receiver *receiver, unsigned buffer, unsigned offset)
{
    char *memory = receiver->buffers + buffer * receiver->buffer_bytes;
    int mask = io_uring_buf_ring_mask(BUFFERS);
    io_uring_buf_ring_add(receiver->pool, memory, receiver->buffer_bytes, buffer, mask, offset);
}

static void open_pool(struct receiver *receiver)
{
    receiver->buffers = new_buffer(BUFFERS * receiver->buffer_bytes);
    void *pool;
    if (posix_memalign(&pool, sysconf(_SC_PAGESIZE), BUFFERS * sizeof(struct io_uring_buf)) != 0)
        err(BROKEN, "no memory for a ring of buffers");
    receiver->pool = pool;
    io_uring_buf_ring_init(receiver->pool);
    struct io_uring_buf_reg registration = {
        .ring_addr = (uintptr_t)pool,
        .ring_entries = BUFFERS,
        .bgid = BUFFER_GROUP,
    };
    errno = -io_uring_register_buf_ring(&receiver->ring, &registration, 0);
    if (errno)
        err(CANNOT_RUN_HERE, "a ring of provided buffers, which needs Linux 5.19");
    for (unsigned n = 0; n < BUFFERS; n++)
        give_back(receiver, n, n);
    io_uring_buf_ring_advance(receiver->pool, BUFFERS);
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
    struct io_uring_sqe *request = io_uring_get_sqe(&receiver->ring);
    io_uring_prep_recv_multishot(request, SOCKET, NULL, 0, 0);
    request->flags |= IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT;
    request->buf_group = BUFFER_GROUP;
    receiver->is_armed = true;
}

static inline struct burst receive_burst(struct receiver *receiver)
{
    if (!receiver->is_armed)
        arm(receiver);
    int submitted = io_uring_submit_and_wait(&receiver->ring, 1);
    if (submitted < 0) {
        errno = -submitted;
        return no_burst("io_uring_enter");
    }
    struct burst burst = { 0 };
    struct io_uring_cqe *completion;
    unsigned head, completions = 0, used = 0;
    io_uring_for_each_cqe(&receiver->ring, head, completion) {
        completions++;
        if (completion->flags & IORING_CQE_F_BUFFER)
            give_back(receiver, completion->flags >> IORING_CQE_BUFFER_SHIFT, used++);
        if (!(completion->flags & IORING_CQE_F_MORE))
            receiver->is_armed = false; // for want of a buffer
        if (completion->res >= 0) {
            burst.packets++;
            burst.bytes += completion->res;
        } else if (completion->res != -ENOBUFS)
            errx(BROKEN, "receive: %s", strerror(-completion->res));
    }
    io_uring_buf_ring_advance(receiver->pool, used);
    io_uring_cq_advance(&receiver->ring, completions);
    return burst;
}

static void close_receiver(struct receiver *receiver)
{
    io_uring_queue_exit(&receiver->ring);
    free(receiver->pool);
    free(receiver->buffers);
}
