// io_uring: a batch of sends per io_uring_enter(2), which returns when all are done.

#include "uring.h"

struct sender {
    struct end end;
    char *buffer;
    struct ring ring;
    struct io_uring_sqe requests[MAX_BATCH]; // prepared once
};

static void open_sender(struct sender *sender, const struct end *end)
{
    *sender = (struct sender){ .end = *end, .buffer = new_buffer(end->payload_bytes) };
    open_ring(&sender->ring, end->fd, end->batch, end->batch);
    for (unsigned n = 0; n < end->batch; n++)
        sender->requests[n] = (struct io_uring_sqe){
            .opcode = IORING_OP_SEND,
            .flags = IOSQE_FIXED_FILE,
            .fd = SOCKET,
            .addr = (uintptr_t)sender->buffer,
            .len = end->payload_bytes,
        };
}

static inline struct burst send_burst(struct sender *sender)
{
    push(&sender->ring, sender->requests, sender->end.batch);
    if (submit_and_wait(&sender->ring, sender->end.batch) < 0)
        err(BROKEN, "io_uring_enter");
    struct burst burst = { .packets = ready_completions(&sender->ring) };
    for (unsigned n = 0; n < burst.packets; n++) {
        int sent = completion_at(&sender->ring, n)->res;
        if (sent < 0)
            errx(BROKEN, "send: %s", strerror(-sent));
        burst.bytes += sent;
    }
    drop_completions(&sender->ring, burst.packets);
    return burst;
}

static void close_sender(struct sender *sender)
{
    close_ring(&sender->ring);
    free(sender->buffer);
}
