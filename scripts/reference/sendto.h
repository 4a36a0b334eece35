// sendto(2): one datagram a call, each with its address.

#define UNCONNECTED

#include "sender.h"

static inline struct burst send_burst(struct sender *sender)
{
    const struct end *end = &sender->end;
    const struct sockaddr *peer = (const struct sockaddr *)&end->peer;
    ssize_t sent = sendto(end->fd, sender->buffer, end->payload_bytes, 0, peer, sizeof end->peer);
    if (sent < 0)
        err(BROKEN, "sendto");
    return (struct burst){ .packets = 1, .bytes = sent };
}
