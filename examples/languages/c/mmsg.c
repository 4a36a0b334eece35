/* Many datagrams per call: sendmmsg and recvmmsg, with as many as `batch`. No requests and responses. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "udpbench.h"

static volatile struct udpbench_page *page;
static struct mmsghdr *messages;

/* Makes `batch` messages, each with memory for a datagram of `bytes` and, if it needs one, an address. */
static void prepare(size_t bytes)
{
    messages = calloc(page->batch, sizeof *messages);
    struct iovec *parts = calloc(page->batch, sizeof *parts);
    struct sockaddr_storage *addresses = calloc(page->batch, sizeof *addresses);
    for (uint32_t i = 0; i < page->batch; i++) {
        parts[i] = (struct iovec){calloc(1, bytes), bytes};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
        if (page->connected)
            continue;
        memcpy(&addresses[i], (const void *)page->peer, page->peer_bytes);
        messages[i].msg_hdr.msg_name = &addresses[i];
        messages[i].msg_hdr.msg_namelen = page->role == UDPBENCH_SEND ? page->peer_bytes : sizeof addresses[i];
    }
}

static void *content(uint32_t i)
{
    return messages[i].msg_hdr.msg_iov->iov_base;
}

static void send_all(void)
{
    prepare(page->payload);
    udpbench_wait(page);
    while (!udpbench_stopped(page)) {
        for (uint32_t i = 0; page->verify && i < page->batch; i++)
            if (!udpbench_fill(page, page->packets + i, content(i)))
                return;
        int sent = sendmmsg(UDPBENCH_SOCKET, messages, page->batch, 0);
        if (sent > 0)
            udpbench_count(page, (uint64_t)sent, (uint64_t)sent * page->payload);
        else
            udpbench_failed(page, 1); /* the first one: the kernel tried no other */
    }
}

static void receive_all(void)
{
    prepare(page->buffer);
    udpbench_wait(page);
    for (;;) {
        int got = recvmmsg(UDPBENCH_SOCKET, messages, page->batch, MSG_WAITFORONE, NULL);
        if (got < 0) {
            udpbench_failed(page, 0);
            continue;
        }
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < (uint32_t)got; i++) {
            bytes += messages[i].msg_len;
            if (page->verify)
                udpbench_hand_over(page, page->packets + i, content(i), messages[i].msg_len);
            if (!page->connected) /* the kernel left the length of the address that it wrote */
                messages[i].msg_hdr.msg_namelen = sizeof(struct sockaddr_storage);
        }
        udpbench_count(page, (uint64_t)got, bytes);
    }
}

int main(void)
{
    page = udpbench_open();
    if (!page) {
        fputs("error: udpbench starts this program: udpbench --engine exec:PROGRAM\n", stderr);
        return 2;
    }
    if (page->role != UDPBENCH_SEND && page->role != UDPBENCH_RECEIVE) {
        fputs("error: this program sends and receives batches; it is neither client nor server\n", stderr);
        return 2;
    }
    if (page->role == UDPBENCH_SEND)
        send_all();
    else
        receive_all();
    return 0;
}
