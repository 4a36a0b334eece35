// io_uring: a batch of sends per io_uring_enter(2), which returns when all are done.

#include "uring.h"

struct sender {
    struct end end;
    char *buffer;
    struct io_uring ring;
};

static void open_sender(struct sender *sender, const struct end *end)
{
    *sender = (struct sender){ .end = *end, .buffer = new_buffer(end->payload_bytes) };
    open_ring(&sender->ring, end->fd, end->batch, end->batch);
}

static inline struct burst send_burst(struct sender *sender)
{
    const struct end *end = &sender->end;
    for (unsigned n = 0; n < end->batch; n++) {
        struct io_uring_sqe *request = io_uring_get_sqe(&sender->ring); // the queue is empty: there is room
        io_uring_prep_send(request, SOCKET, sender->buffer, end->payload_bytes, 0);
        request->flags |= IOSQE_FIXED_FILE;
    }
    int submitted = io_uring_submit_and_wait(&sender->ring, end->batch);
    if (submitted < 0)
        errx(BROKEN, "io_uring_enter: %s", strerror(-submitted));
    struct burst burst = { 0 };
    struct io_uring_cqe *completion;
    unsigned head, completions = 0;
    io_uring_for_each_cqe(&sender->ring, head, completion) {
        completions++;
        if (completion->res < 0)
            errx(BROKEN, "send: %s", strerror(-completion->res));
        burst.packets++;
        burst.bytes += completion->res;
    }
    io_uring_cq_advance(&sender->ring, completions);
    return burst;
}

static void close_sender(struct sender *sender)
{
    io_uring_queue_exit(&sender->ring);
    free(sender->buffer);
}
