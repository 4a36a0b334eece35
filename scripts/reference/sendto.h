// sendto(2): one datagram a call, each with its address.

#define UNCONNECTED

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
    const struct end *end = &sender->end;
    const struct sockaddr *peer = (const struct sockaddr *)&end->peer;
    ssize_t sent = sendto(end->fd, sender->buffer, end->payload_bytes, 0, peer, sizeof end->peer);
    if (sent < 0)
        err(BROKEN, "sendto");
    return (struct burst){ .packets = 1, .bytes = sent };
}

static void close_sender(struct sender *sender)
{
    free(sender->buffer);
}
