// sendmmsg(2): a batch a call. The headers are prepared once, and all point to one payload.

struct sender {
    struct end end;
    char *buffer;
    struct iovec slice;
    struct mmsghdr headers[MAX_BATCH];
};

static void open_sender(struct sender *sender, const struct end *end)
{
    *sender = (struct sender){ .end = *end, .buffer = new_buffer(end->payload_bytes) };
    sender->slice = (struct iovec){ sender->buffer, end->payload_bytes };
    for (unsigned n = 0; n < end->batch; n++)
        sender->headers[n].msg_hdr = (struct msghdr){ .msg_iov = &sender->slice, .msg_iovlen = 1 };
}

static inline struct burst send_burst(struct sender *sender)
{
    int sent = sendmmsg(sender->end.fd, sender->headers, sender->end.batch, 0);
    if (sent < 0)
        err(BROKEN, "sendmmsg");
    return (struct burst){ .packets = sent, .bytes = sent * sender->end.payload_bytes };
}

static void close_sender(struct sender *sender)
{
    free(sender->buffer);
}
