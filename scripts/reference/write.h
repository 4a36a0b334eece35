// write(2): one datagram a call, as std's UnixDatagram has it. It may take longer than send(2).

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
    ssize_t sent = write(sender->end.fd, sender->buffer, sender->end.payload_bytes);
    if (sent < 0)
        err(BROKEN, "write");
    return (struct burst){ .packets = 1, .bytes = sent };
}

static void close_sender(struct sender *sender)
{
    free(sender->buffer);
}
