// send(2): one datagram a call, on a connected socket.

#include "sender.h"

static inline struct burst send_burst(struct sender *sender)
{
    ssize_t sent = send(sender->end.fd, sender->buffer, sender->end.payload_bytes, 0);
    if (sent < 0)
        err(BROKEN, "send");
    return (struct burst){ .packets = 1, .bytes = sent };
}
