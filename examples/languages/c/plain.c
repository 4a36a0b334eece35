/* One datagram per call: send and recv, or sendto and recvfrom where the socket is not connected. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "udpbench.h"

static volatile struct udpbench_page *page;
static uint8_t *datagram, *response;

/* Sends one datagram. Returns whether the kernel took it. */
static int send_one(void)
{
    const struct sockaddr *peer = page->connected ? NULL : (const struct sockaddr *)page->peer;
    ssize_t sent = sendto(UDPBENCH_SOCKET, datagram, page->payload, 0, peer, peer ? page->peer_bytes : 0);
    uint64_t bytes = page->role == UDPBENCH_SEND ? page->payload : 0; /* a client counts those that it receives */
    sent < 0 ? udpbench_failed(page, 1) : udpbench_count(page, 1, bytes);
    return sent >= 0;
}

/* Receives datagrams; a server sends each of them back. */
static void receive_all(int is_server)
{
    struct sockaddr_storage storage;
    struct sockaddr *from = is_server || !page->connected ? (struct sockaddr *)&storage : NULL;
    for (;;) {
        socklen_t from_bytes = sizeof storage;
        ssize_t got = recvfrom(UDPBENCH_SOCKET, datagram, page->buffer, 0, from, from ? &from_bytes : NULL);
        if (got < 0) {
            udpbench_failed(page, 0);
            continue;
        }
        if (page->verify)
            udpbench_hand_over(page, page->packets, datagram, (uint32_t)got);
        udpbench_count(page, 1, (uint64_t)got);
        if (!is_server)
            continue;
        ssize_t sent;
        do
            sent = sendto(UDPBENCH_SOCKET, datagram, (size_t)got, 0, from, from_bytes);
        while (sent < 0 && errno == EAGAIN);
        sent < 0 ? udpbench_failed(page, 1) : udpbench_answered(page);
    }
}

/* Waits for the response to the request in `datagram`, which begins like it. Returns its length, or 0 if it is late. */
static uint32_t await_response(uint64_t sent_ns)
{
    while (udpbench_now_ns() - sent_ns < page->timeout_ms * UINT64_C(1000000)) {
        ssize_t got = recv(UDPBENCH_SOCKET, response, page->buffer, 0);
        if (got < 0) {
            udpbench_failed(page, 0);
            continue;
        }
        udpbench_count(page, 0, (uint64_t)got);
        if (got >= 8 && memcmp(response, datagram, 8) == 0)
            return (uint32_t)got;
        udpbench_late(page);
    }
    return 0;
}

static void ask_all(void)
{
    struct timeval limit = {page->timeout_ms / 1000, page->timeout_ms % 1000 * 1000};
    setsockopt(UDPBENCH_SOCKET, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    for (uint64_t n = 0; !udpbench_stopped(page); n = page->packets) {
        memcpy(datagram + 2, &n, 6); /* a response repeats the first 8 bytes */
        if (page->verify && !udpbench_fill(page, n, datagram))
            return;
        uint64_t sent_ns = udpbench_now_ns();
        if (!send_one())
            continue;
        uint32_t got = await_response(sent_ns);
        uint64_t rtt_ns = udpbench_now_ns() - sent_ns;
        if (got && page->verify)
            udpbench_put(page, page->answered, response, got);
        if (got)
            udpbench_answer(page, rtt_ns);
    }
}

int main(void)
{
    page = udpbench_open();
    if (!page)
        return fputs("error: udpbench starts this program: udpbench --engine exec:PROGRAM\n", stderr), 2;
    datagram = calloc(1, page->payload + page->buffer);
    response = calloc(1, page->buffer);
    udpbench_wait(page);
    if (page->role == UDPBENCH_SEND)
        while (!udpbench_stopped(page) && (!page->verify || udpbench_fill(page, page->packets, datagram)))
            send_one();
    else if (page->role == UDPBENCH_CLIENT)
        ask_all();
    else
        receive_all(page->role == UDPBENCH_SERVER);
    return 0;
}
