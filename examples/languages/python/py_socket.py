#!/usr/bin/env python3
"""One datagram per call of the module socket."""

import socket
import time

from udpbench import CLIENT, SEND, SERVER, SOCKET, page

sock, peer = socket.socket(fileno=SOCKET), page.peer_address()


def send_one(datagram):
    """Returns whether the kernel took the datagram."""
    try:
        sent = sock.send(datagram) if page.connected else sock.sendto(datagram, peer)
    except BlockingIOError:
        return False
    except OSError:
        page.fail(refused=1)
        return False
    page.count(1, sent if page.role == SEND else 0)  # a client counts the bytes that it receives
    return True


def send():
    datagram = page.content(0)
    while not page.stop and datagram is not None:
        send_one(datagram)
        if page.verify:
            datagram = page.content(page.packets)


def receive(is_server):
    """Receives datagrams; a server sends each of them back."""
    is_connected, size = page.connected and not is_server, page.buffer
    while True:
        try:
            datagram, source = (sock.recv(size), None) if is_connected else sock.recvfrom(size)
        except BlockingIOError:
            continue
        except OSError:
            page.fail(refused=0)
            continue
        if page.verify:
            page.check(page.packets, datagram)
        page.count(1, len(datagram))
        while is_server and not send_back(datagram, source):
            pass


def send_back(datagram, source):
    """Returns False if the kernel has no room yet."""
    try:
        sock.sendto(datagram, source)
        page.count(0, 0)
        page.answered += 1
    except BlockingIOError:
        return False
    except OSError:
        page.fail(refused=1)
    return True


def ask():
    sock.settimeout(page.timeout_ms / 1000)
    while not page.stop:
        request, sent_ns = page.content(page.packets), time.monotonic_ns()
        if request is None or not send_one(request):
            continue
        response = response_to(request, sent_ns)
        rtt_ns = time.monotonic_ns() - sent_ns
        if response:
            page.put(page.answered, response)
            page.answer(rtt_ns)


def response_to(request, sent_ns):
    """Returns the response that begins like its request, or nothing if it does not come in time."""
    while time.monotonic_ns() - sent_ns < page.timeout_ms * 1_000_000:
        try:
            response = sock.recv(page.buffer)
        except TimeoutError:
            continue
        except OSError:
            page.fail(refused=0)
            continue
        page.count(0, len(response))
        if response[:8] == request[:8]:
            return response
        page.late += 1
    return b""


page.wait()
if page.role == SEND:
    send()
elif page.role == CLIENT:
    ask()
else:
    receive(page.role == SERVER)
