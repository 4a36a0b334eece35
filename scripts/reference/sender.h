// A sender of one buffer, for calls of one datagram.

struct sender {
    struct end end;
    char *buffer;
    size_t gone; // bytes of a message that a stream took so far
};

static void open_sender(struct sender *sender, const struct end *end)
{
    *sender = (struct sender){ .end = *end, .buffer = new_buffer(end->payload_bytes) };
}

static void close_sender(struct sender *sender)
{
    free(sender->buffer);
}
