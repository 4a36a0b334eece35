#!/usr/bin/env python3
"""Datagrams through the transports and protocols of asyncio, which wait with epoll."""

import asyncio
import socket
import time

from udpbench import CLIENT, RECEIVE, SEND, SERVER, SOCKET, page


class Protocol(asyncio.DatagramProtocol):
    """Sends one datagram at a time; receives and counts, as a server sends back, as a client waits for a response."""

    def __init__(self):
        self.room = asyncio.Event()
        self.room.set()
        self.request = self.response = None

    def connection_made(self, transport):
        self.transport = transport
        transport.set_write_buffer_limits(high=0)  # pauses as soon as the kernel does not take a datagram

    def pause_writing(self):
        self.room.clear()

    def resume_writing(self):
        self.room.set()

    def error_received(self, _error):
        page.fail(refused=page.role != RECEIVE)
        self.failed = True

    async def send(self, datagram, to):
        """Returns whether the kernel took the datagram."""
        self.failed = False
        self.transport.sendto(datagram, to)
        await self.room.wait()
        if not self.failed:
            page.count(1, len(datagram) if page.role == SEND else 0)  # a client counts the bytes that it receives
        return not self.failed

    def datagram_received(self, datagram, source):
        if page.role == CLIENT:
            page.count(0, len(datagram))
            if self.response.done() or datagram[:8] != self.request[:8]:
                page.late += 1
            else:
                self.response.set_result(datagram)
            return
        page.check(page.packets, datagram)
        page.count(1, len(datagram))
        if page.role == SERVER:
            self.failed = False
            self.transport.sendto(datagram, source)
            if not self.failed:
                page.count(0, 0)
                page.answered += 1


async def send(protocol, peer):
    datagram = page.content(0)
    while not page.stop and datagram is not None:
        # Nothing else is to run in this loop: it gets no turn unless the kernel has no room.
        await protocol.send(datagram, peer)
        if page.verify:
            datagram = page.content(page.packets)


async def ask(protocol, peer):
    while not page.stop:
        protocol.request, sent_ns = page.content(page.packets), time.monotonic_ns()
        protocol.response = asyncio.get_running_loop().create_future()
        if protocol.request is None or not await protocol.send(protocol.request, peer):
            continue
        try:
            response = await asyncio.wait_for(protocol.response, page.timeout_ms / 1000)
            rtt_ns = time.monotonic_ns() - sent_ns
        except TimeoutError:
            continue
        page.put(page.answered, response)
        page.answer(rtt_ns)


async def main():
    loop, peer = asyncio.get_running_loop(), None if page.connected else page.peer_address()
    sock = socket.socket(fileno=SOCKET)
    _, protocol = await loop.create_datagram_endpoint(Protocol, sock=sock)
    page.wait()
    if page.role == SEND:
        await send(protocol, peer)
    elif page.role == CLIENT:
        await ask(protocol, peer)
    else:
        await loop.create_future()


asyncio.run(main())
