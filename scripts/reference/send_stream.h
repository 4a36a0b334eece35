// send(2) on a stream: one message a call, gone on with where a call took only a part of it.

#include "sender.h"

static inline struct burst send_burst(struct sender *sender)
{
    size_t bytes = sender->end.payload_bytes;
    ssize_t sent = send(sender->end.fd, sender->buffer + sender->gone, bytes - sender->gone, MSG_NOSIGNAL);
    if (sent < 0)
        err(BROKEN, "send");
    sender->gone += sent;
    if (sender->gone < bytes)
        return (struct burst){ 0 };
    sender->gone = 0;
    return (struct burst){ .packets = 1, .bytes = bytes };
}
