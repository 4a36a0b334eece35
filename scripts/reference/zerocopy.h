// MSG_ZEROCOPY (Linux 5.0 for UDP): send(2) of one datagram from a ring of buffers, each used again only after its
// completion came from the error queue (Documentation/networking/msg_zerocopy.rst).

#include <linux/errqueue.h>
#include <poll.h>

#include "zerocopy_memory.h"

enum { FEWEST_BUFFERS = 16 };

struct sender {
    struct end end;
    char *ring;
    size_t stride;
    unsigned buffers; // a power of two: the numbers of calls wrap at 2^32
    uint32_t next;
    bool in_flight[MOST_BUFFERS];
};

static void open_sender(struct sender *sender, const struct end *end)
{
    int on = 1;
    if (setsockopt(end->fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) < 0)
        err(CANNOT_RUN_HERE, "SO_ZEROCOPY, which needs Linux 5.0");
    *sender = (struct sender){ .end = *end, .stride = stride_of(end->payload_bytes), .buffers = MOST_BUFFERS };
    while (sender->buffers > FEWEST_BUFFERS && sender->buffers * sender->stride > MOST_MEMORY_BYTES)
        sender->buffers /= 2;
    sender->ring = new_pages(sender->buffers * sender->stride);
}

// Frees the buffers of one message of the error queue: usually of all calls since the last one. False if there is none.
static bool read_completion(struct sender *sender)
{
    alignas(struct cmsghdr) char control[128];
    struct msghdr message = { .msg_control = control, .msg_controllen = sizeof control };
    if (recvmsg(sender->end.fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
        if (errno != EAGAIN)
            err(BROKEN, "recvmsg of a completion");
        return false;
    }
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header)
        return true;
    struct sock_extended_err told;
    memcpy(&told, CMSG_DATA(header), sizeof told);
    if (told.ee_origin == SO_EE_ORIGIN_ZEROCOPY)
        for (uint32_t call = told.ee_info; call != told.ee_data + 1; call++)
            sender->in_flight[call % sender->buffers] = false;
    return true;
}

static void await_completion(struct sender *sender)
{
    struct pollfd socket = { .fd = sender->end.fd };
    if (!read_completion(sender) && poll(&socket, 1, -1) < 0 && errno != EINTR)
        err(BROKEN, "poll");
}

static inline struct burst send_burst(struct sender *sender)
{
    unsigned buffer = sender->next % sender->buffers;
    if (sender->next % (sender->buffers / 4) == 0)
        read_completion(sender);
    while (sender->in_flight[buffer])
        await_completion(sender);
    char *datagram = sender->ring + buffer * sender->stride;
    ssize_t sent = send(sender->end.fd, datagram, sender->end.payload_bytes, MSG_ZEROCOPY);
    if (sent < 0 && errno == ENOBUFS) { // no memory for more completions
        await_completion(sender);
        return (struct burst){ 0 };
    }
    if (sent < 0)
        err(BROKEN, "send");
    if (sent > 0) { // an empty datagram has no number
        sender->in_flight[buffer] = true;
        sender->next++;
    }
    return (struct burst){ .packets = 1, .bytes = sent };
}

static void close_sender(struct sender *sender)
{
    for (unsigned buffer = 0; buffer < sender->buffers; buffer++)
        while (sender->in_flight[buffer])
            await_completion(sender);
    free(sender->ring);
}
