// write(2): one datagram a call, as std's UnixDatagram has it. It may take longer than send(2).

#include "sender.h"

static inline struct burst send_burst(struct sender *sender)
{
    ssize_t sent = write(sender->end.fd, sender->buffer, sender->end.payload_bytes);
    if (sent < 0)
        err(BROKEN, "write");
    return (struct burst){ .packets = 1, .bytes = sent };
}
