// UDP_SEGMENT (Linux 4.18): send(2) of as many datagrams as one call takes, which the kernel cuts (udp(7)).

#define CUTS

#include <netinet/udp.h>

// UDP_MAX_SEGMENTS since Linux 6.9, and before.
enum { MOST_SEGMENTS = 128, FEWER_SEGMENTS = 64 };

struct sender {
    struct end end;
    char *buffer;
    size_t segments;
};

static void open_sender(struct sender *sender, const struct end *end)
{
    int bytes = end->payload_bytes;
    size_t fit = bytes ? MAX_PAYLOAD_BYTES / bytes : 1;
    size_t segments = fit < MOST_SEGMENTS ? fit : MOST_SEGMENTS;
    if (segments > 1 && setsockopt(end->fd, IPPROTO_UDP, UDP_SEGMENT, &bytes, sizeof bytes) < 0)
        err(CANNOT_RUN_HERE, "UDP_SEGMENT, which needs Linux 4.18");
    *sender = (struct sender){ *end, new_buffer(segments * bytes), segments };
}

static inline struct burst send_burst(struct sender *sender)
{
    ssize_t sent = send(sender->end.fd, sender->buffer, sender->segments * sender->end.payload_bytes, 0);
    if (sent >= 0)
        return (struct burst){ .packets = sender->segments, .bytes = sent };
    if (errno != EINVAL || sender->segments <= FEWER_SEGMENTS)
        err(BROKEN, "send of %zu segments", sender->segments);
    sender->segments = FEWER_SEGMENTS;
    return (struct burst){ 0 };
}

static void close_sender(struct sender *sender)
{
    free(sender->buffer);
}
