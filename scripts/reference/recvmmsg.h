// recvmmsg(2): waits for one datagram, and takes up to a batch of those that are there besides. Each has a
// buffer of its own; the headers are prepared once.

struct receiver {
    struct end end;
    char *buffers;
    struct iovec slices[MAX_BATCH];
    struct mmsghdr headers[MAX_BATCH];
};

static void open_receiver(struct receiver *receiver, const struct end *end)
{
    *receiver = (struct receiver){ .end = *end, .buffers = new_buffer(end->batch * end->payload_bytes) };
    for (unsigned n = 0; n < end->batch; n++) {
        struct iovec *slice = &receiver->slices[n];
        *slice = (struct iovec){ receiver->buffers + n * end->payload_bytes, end->payload_bytes };
        receiver->headers[n].msg_hdr = (struct msghdr){ .msg_iov = slice, .msg_iovlen = 1 };
    }
}

static inline struct burst receive_burst(struct receiver *receiver)
{
    const struct end *end = &receiver->end;
    int received = recvmmsg(end->fd, receiver->headers, end->batch, MSG_WAITFORONE, NULL);
    if (received < 0)
        return no_burst("recvmmsg");
    struct burst burst = { .packets = received };
    for (int n = 0; n < received; n++)
        burst.bytes += receiver->headers[n].msg_len;
    return burst;
}

static void close_receiver(struct receiver *receiver)
{
    free(receiver->buffers);
}
