// send(2): one datagram a call, on a connected socket.

struct sender {
    struct end end;
    char *buffer;
};

static void open_sender(struct sender *sender, const struct end *end)
{
    *sender = (struct sender){ .end = *end, .buffer = new_buffer(end->payload_bytes) };
}

static inline struct burst send_burst(struct sender *sender)
{
    ssize_t sent = send(sender->end.fd, sender->buffer, sender->end.payload_bytes, 0);
    if (sent < 0)
        err(BROKEN, "send");
    return (struct burst){ .packets = 1, .bytes = sent };
}

static void close_sender(struct sender *sender)
{
    free(sender->buffer);
}
