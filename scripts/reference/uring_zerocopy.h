// io_uring: a batch of sends without a copy (SEND_ZC) per io_uring_enter(2), from registered memory of several batches.
// Each is used again only after a second completion of each of its datagrams, the notification
// (io_uring_prep_send_zc(3)).

#include "uring.h"
#include "zerocopy_memory.h"

enum { FEWEST_BATCHES = 2, REGISTERED_MEMORY = 0 };

struct sender {
    struct end end;
    struct ring ring;
    char *memory;
    struct io_uring_sqe *requests; // of all batches, prepared once
    unsigned batches, next;
    unsigned in_use[MOST_BUFFERS]; // datagrams of each batch that the kernel may still read
};

static struct io_uring_sqe prepared(const struct sender *sender, unsigned batch, size_t offset)
{
    return (struct io_uring_sqe){
        .opcode = IORING_OP_SEND_ZC,
        .flags = IOSQE_FIXED_FILE,
        // As udpbench does, it asks whether the kernel copied after all.
        .ioprio = IORING_RECVSEND_FIXED_BUF | IORING_SEND_ZC_REPORT_USAGE,
        .fd = SOCKET,
        .addr = (uintptr_t)sender->memory + offset,
        .len = sender->end.payload_bytes,
        .buf_index = REGISTERED_MEMORY,
        .user_data = batch,
    };
}

static void register_memory(const struct sender *sender, size_t bytes)
{
    struct iovec memory = { sender->memory, bytes };
    if (register_with(&sender->ring, IORING_REGISTER_BUFFERS, &memory, 1) == 0)
        return;
    if (errno != ENOMEM)
        err(BROKEN, "cannot register memory with io_uring");
    errx(CANNOT_RUN_HERE, "the kernel locks no %zu kB of memory; use root, or raise ulimit -l", bytes / 1024);
}

static void open_sender(struct sender *sender, const struct end *end)
{
    unsigned most = MOST_BUFFERS / end->batch;
    size_t stride = stride_of(end->payload_bytes), batch_bytes = end->batch * stride;
    unsigned batches = MOST_MEMORY_BYTES / batch_bytes;
    if (batches > most)
        batches = most;
    if (batches < FEWEST_BATCHES)
        batches = FEWEST_BATCHES;
    size_t bytes = batches * batch_bytes;
    *sender = (struct sender){ .end = *end, .batches = batches, .memory = new_pages(bytes) };
    open_ring(&sender->ring, end->fd, end->batch, 2 * batches * end->batch);
    register_memory(sender, bytes);
    sender->requests = new_pages(batches * end->batch * sizeof *sender->requests);
    for (unsigned n = 0; n < batches * end->batch; n++)
        sender->requests[n] = prepared(sender, n / end->batch, n * stride);
}

static void fail(int error)
{
    if (error == EINVAL)
        errx(CANNOT_RUN_HERE, "no zero copy of io_uring, which needs Linux 6.2");
    errx(BROKEN, "send: %s", strerror(error));
}

// Waits for so many completions, takes all that are there, and adds what was sent.
static inline void take_completions(struct sender *sender, unsigned completions, struct burst *burst)
{
    if (submit_and_wait(&sender->ring, completions) < 0)
        err(BROKEN, "io_uring_enter");
    unsigned ready = ready_completions(&sender->ring);
    for (unsigned n = 0; n < ready; n++) {
        const struct io_uring_cqe *completion = completion_at(&sender->ring, n);
        if (!(completion->flags & IORING_CQE_F_MORE))
            sender->in_use[completion->user_data]--;
        if (completion->flags & IORING_CQE_F_NOTIF)
            continue; // its result is whether the kernel copied
        if (completion->res < 0)
            fail(-completion->res);
        burst->packets++;
        burst->bytes += completion->res;
    }
    drop_completions(&sender->ring, ready);
}

static void await_notifications(struct sender *sender, unsigned batch)
{
    struct burst none = { 0 };
    while (sender->in_use[batch] > 0)
        take_completions(sender, 1, &none);
}

static inline struct burst send_burst(struct sender *sender)
{
    unsigned batch = sender->next, count = sender->end.batch;
    struct burst burst = { 0 };
    await_notifications(sender, batch);
    push(&sender->ring, sender->requests + batch * count, count);
    sender->in_use[batch] = count;
    sender->next = (batch + 1) % sender->batches;
    while (burst.packets < count)
        take_completions(sender, count - burst.packets, &burst);
    return burst;
}

static void close_sender(struct sender *sender)
{
    for (unsigned batch = 0; batch < sender->batches; batch++)
        await_notifications(sender, batch);
    close_ring(&sender->ring);
    free(sender->requests);
    free(sender->memory);
}
