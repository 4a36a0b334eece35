// A receiver into one buffer, for calls of one datagram.

struct receiver {
    struct end end;
    char *buffer;
    size_t filled; // bytes of a message that came from a stream so far
};

static void open_receiver(struct receiver *receiver, const struct end *end)
{
    *receiver = (struct receiver){ .end = *end, .buffer = new_buffer(end->payload_bytes) };
}

static void close_receiver(struct receiver *receiver)
{
    free(receiver->buffer);
}
