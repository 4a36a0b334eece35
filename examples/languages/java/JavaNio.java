import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.*;

/** Datagrams through NIO. Java adopts only its standard input, as inetd passes it: the script java-nio sees to it. */
class JavaNio {
    static Page page;
    static DatagramChannel channel;

    public static void main(String[] arguments) throws Exception {
        try {
            page = new Page();
        } catch (IOException error) {
            System.err.println("error: udpbench starts this program: udpbench --engine exec:PROGRAM: " + error);
            System.exit(2);
        }
        channel = (DatagramChannel) System.inheritedChannel(); // its side effect: standard error is lost
        var peer = page.peer();
        if (page.is(Page.CONNECTED) && peer != null) channel.connect(peer); // for Java, which does not know it yet
        page.await();
        switch (page.u32(Page.ROLE)) {
            case Page.SEND -> sendAll(peer);
            case Page.CLIENT -> ask(peer);
            default -> receiveAll(page.u32(Page.ROLE) == Page.SERVER);
        }
    }

    static void sendAll(SocketAddress to) {
        var datagram = ByteBuffer.allocateDirect(page.u32(Page.PAYLOAD));
        while (!page.is(Page.STOP) && page.fill(page.u64(Page.PACKETS), datagram)) send(datagram, to, 1);
    }

    /** Sends a datagram that counts as `packets`. Returns whether the kernel took it. */
    static boolean send(ByteBuffer datagram, SocketAddress to, int packets) {
        try {
            int sent = channel.isConnected() ? channel.write(datagram) : channel.send(datagram, to);
            if (!datagram.hasRemaining()) page.count(packets, page.u32(Page.ROLE) == Page.SEND ? sent : 0);
            return !datagram.hasRemaining();
        } catch (IOException error) {
            page.fail(1);
            return false;
        }
    }

    /** Receives a datagram. Returns its source, or null if there is none. */
    static SocketAddress receive(ByteBuffer datagram) {
        try {
            var source = channel.receive(datagram.clear());
            datagram.flip();
            return source;
        } catch (IOException error) {
            page.fail(0);
            return null;
        }
    }

    /** Receives datagrams; a server sends each of them back. */
    static void receiveAll(boolean isServer) {
        for (var datagram = ByteBuffer.allocateDirect(page.u32(Page.BUFFER));;) {
            var source = receive(datagram);
            if (source == null) continue;
            page.check(page.u64(Page.PACKETS), datagram);
            page.count(1, datagram.remaining());
            if (isServer && send(datagram, source, 0)) page.add(Page.ANSWERED, 1);
        }
    }

    static void ask(SocketAddress to) throws IOException {
        var request = ByteBuffer.allocateDirect(page.u32(Page.PAYLOAD));
        var response = ByteBuffer.allocateDirect(page.u32(Page.BUFFER));
        var selector = Selector.open();
        channel.configureBlocking(false).register(selector, SelectionKey.OP_READ);
        for (long n = 0; !page.is(Page.STOP) && page.fill(n, request); n = page.u64(Page.PACKETS)) {
            long sent = System.nanoTime();
            if (!send(request, to, 1)) continue;
            boolean inTime = await(request.flip().slice(0, 8), response, selector, sent);
            long rtt = System.nanoTime() - sent;
            if (!inTime) continue;
            page.put(page.u64(Page.ANSWERED), response);
            page.answer(rtt);
        }
    }

    /** Waits for the response that begins like its request. Returns whether it came in time. */
    static boolean await(ByteBuffer head, ByteBuffer response, Selector selector, long sent) throws IOException {
        for (;;) {
            long left = page.u32(Page.TIMEOUT_MS) * 1_000_000L - (System.nanoTime() - sent);
            if (left <= 0) return false;
            if (receive(response) == null) {
                selector.select(key -> {}, left / 1_000_000 + 1);
                continue;
            }
            page.count(0, response.remaining());
            if (response.remaining() >= 8 && response.slice(0, 8).equals(head)) return true;
            page.add(Page.LATE, 1);
        }
    }
}
