// recv(2): one datagram a call.

#include "receiver.h"

static inline struct burst receive_burst(struct receiver *receiver)
{
    ssize_t received = recv(receiver->end.fd, receiver->buffer, receiver->end.payload_bytes, 0);
    if (received < 0)
        return no_burst("recv");
    return (struct burst){ .packets = 1, .bytes = received };
}
