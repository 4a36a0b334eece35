// recv(2) on a stream: into room for the rest of one message.

#include "receiver.h"

static inline struct burst receive_burst(struct receiver *receiver)
{
    size_t bytes = receiver->end.payload_bytes;
    ssize_t received = recv(receiver->end.fd, receiver->buffer + receiver->filled, bytes - receiver->filled, 0);
    if (received < 0)
        return no_burst("recv");
    if (received == 0)
        errx(BROKEN, "the sender closed the connection");
    receiver->filled += received;
    if (receiver->filled < bytes)
        return (struct burst){ 0 };
    receiver->filled = 0;
    return (struct burst){ .packets = 1, .bytes = bytes };
}
