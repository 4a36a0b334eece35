// UDP_GRO (Linux 5.0): recvmsg(2) of everything that was sent as one piece, with a control message that says
// how long each datagram in it is (udp(7)).

#define JOINS

#include <netinet/udp.h>

enum { MAX_PIECE_BYTES = 65535 }; // an IP packet

struct receiver {
    struct end end;
    char *buffer;
    struct iovec slice;
    struct msghdr header;
    alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
};

static void open_receiver(struct receiver *receiver, const struct end *end)
{
    int on = 1;
    if (setsockopt(end->fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on) < 0)
        err(CANNOT_RUN_HERE, "UDP_GRO, which needs Linux 5.0");
    *receiver = (struct receiver){ .end = *end, .buffer = new_buffer(MAX_PIECE_BYTES) };
    receiver->slice = (struct iovec){ receiver->buffer, MAX_PIECE_BYTES };
    receiver->header.msg_iov = &receiver->slice;
    receiver->header.msg_iovlen = 1;
    receiver->header.msg_control = receiver->control;
}

static inline struct burst receive_burst(struct receiver *receiver)
{
    struct msghdr *header = &receiver->header;
    header->msg_controllen = sizeof receiver->control; // the kernel wrote how much it used
    ssize_t received = recvmsg(receiver->end.fd, header, 0);
    if (received < 0)
        return no_burst("recvmsg");
    struct burst burst = { .packets = 1, .bytes = received };
    const struct cmsghdr *message = CMSG_FIRSTHDR(header);
    if (message && message->cmsg_level == IPPROTO_UDP && message->cmsg_type == UDP_GRO) {
        unsigned segment_bytes = *(const int *)CMSG_DATA(message);
        burst.packets = (received + segment_bytes - 1) / segment_bytes;
    }
    return burst;
}

static void close_receiver(struct receiver *receiver)
{
    free(receiver->buffer);
}
