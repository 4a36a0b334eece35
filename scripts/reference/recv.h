// recv(2): one datagram a call.

struct receiver {
    struct end end;
    char *buffer;
};

static void open_receiver(struct receiver *receiver, const struct end *end)
{
    *receiver = (struct receiver){ .end = *end, .buffer = new_buffer(end->payload_bytes) };
}

static inline struct burst receive_burst(struct receiver *receiver)
{
    ssize_t received = recv(receiver->end.fd, receiver->buffer, receiver->end.payload_bytes, 0);
    if (received < 0)
        return no_burst("recv");
    return (struct burst){ .packets = 1, .bytes = received };
}

static void close_receiver(struct receiver *receiver)
{
    free(receiver->buffer);
}
