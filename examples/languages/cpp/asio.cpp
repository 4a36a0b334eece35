// Coroutines over standalone asio, which waits with epoll.
#include <asio.hpp>
#include <cstdio>
#include <vector>
#include "udpbench.h"

using asio::awaitable, asio::buffer, asio::error_code, asio::ip::udp;

static volatile udpbench_page *page;
static std::vector<char> datagram, response;

// Awaits an operation, and stores its error rather than throw it.
static auto into(error_code &error) { return asio::redirect_error(asio::use_awaitable, error); }

// Counts a finished operation. A request's time-out cancels its receive: that is no error.
static void count(error_code error, uint64_t packets, uint64_t bytes, uint64_t refused)
{
    errno = error == asio::error::operation_aborted ? EINTR : error.value();
    error ? udpbench_failed(page, refused) : udpbench_count(page, packets, bytes);
}

static awaitable<bool> send_one(udp::socket &socket, const udp::endpoint &peer)
{
    error_code error;
    const auto content = buffer(datagram, page->payload);
    size_t sent = page->connected ? co_await socket.async_send(content, into(error))
                                  : co_await socket.async_send_to(content, peer, into(error));
    count(error, 1, page->role == UDPBENCH_SEND ? sent : 0, 1); // a client counts the bytes that it receives
    co_return !error;
}

static awaitable<void> send_all(udp::socket &socket, const udp::endpoint peer)
{
    while (!udpbench_stopped(page) && (!page->verify || udpbench_fill(page, page->packets, &datagram[0])))
        co_await send_one(socket, peer);
}

// Receives datagrams; a server sends each of them back.
static awaitable<void> receive_all(udp::socket &socket, bool is_server)
{
    for (udp::endpoint from;;) {
        error_code error;
        const auto room = buffer(datagram, page->buffer);
        size_t got = page->connected && !is_server ? co_await socket.async_receive(room, into(error))
                                                   : co_await socket.async_receive_from(room, from, into(error));
        if (!error && page->verify)
            udpbench_hand_over(page, page->packets, &datagram[0], got);
        count(error, 1, got, 0);
        if (is_server && !error) {
            co_await socket.async_send_to(buffer(datagram, got), from, into(error));
            count(error, 0, 0, 1);
            page->answered = page->answered + !error;
        }
    }
}

static awaitable<void> ask_all(udp::socket &socket, const udp::endpoint peer)
{
    asio::steady_timer timer(socket.get_executor());
    for (uint64_t n = 0; !udpbench_stopped(page); n = page->packets) {
        std::memcpy(&datagram[2], &n, 6); // a response repeats the first 8 bytes
        if (page->verify && !udpbench_fill(page, n, &datagram[0]))
            break;
        const uint64_t sent_ns = udpbench_now_ns();
        bool waits = co_await send_one(socket, peer), in_time = false;
        size_t got = 0;
        timer.expires_after(std::chrono::milliseconds(page->timeout_ms));
        timer.async_wait([&](error_code answered) { answered ? void() : socket.cancel(); });
        while (waits && !in_time) {
            error_code error;
            got = co_await socket.async_receive(buffer(response), into(error));
            count(error, 0, got, 0);
            waits = error != asio::error::operation_aborted;
            in_time = !error && got >= 8 && std::memcmp(&response[0], &datagram[0], 8) == 0;
            page->late = page->late + (!error && !in_time);
        }
        const uint64_t rtt_ns = udpbench_now_ns() - sent_ns;
        if (in_time && page->verify)
            udpbench_put(page, page->answered, &response[0], got);
        if (in_time)
            udpbench_answer(page, rtt_ns);
    }
}

int main()
{
    if (!(page = udpbench_open()))
        return std::fputs("error: udpbench starts this program: udpbench --engine exec:PROGRAM\n", stderr), 2;
    datagram.resize(page->payload + page->buffer), response.resize(page->buffer);
    asio::io_context context(1);
    udp::socket socket(context, page->ip == 6 ? udp::v6() : udp::v4(), UDPBENCH_SOCKET);
    udp::endpoint peer;
    std::memcpy(peer.data(), (const void *)page->peer, page->peer_bytes);
    udpbench_wait(page);
    asio::co_spawn(context, page->role == UDPBENCH_SEND     ? send_all(socket, peer)
                            : page->role == UDPBENCH_CLIENT ? ask_all(socket, peer)
                                                            : receive_all(socket, page->role == UDPBENCH_SERVER),
                   asio::detached);
    context.run();
}
