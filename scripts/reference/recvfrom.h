// recvfrom(2): one datagram a call, each with its address.

#define UNCONNECTED

#include "receiver.h"

static inline struct burst receive_burst(struct receiver *receiver)
{
    const struct end *end = &receiver->end;
    struct sockaddr_storage source;
    socklen_t length = sizeof source;
    ssize_t received = recvfrom(end->fd, receiver->buffer, end->payload_bytes, 0,
                                (struct sockaddr *)&source, &length);
    if (received < 0)
        return no_burst("recvfrom");
    return (struct burst){ .packets = 1, .bytes = received };
}
