import static java.nio.file.StandardOpenOption.*;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** The page that a program shares with udpbench: include/udpbench.h in Java. */
class Page {
    static final int SEND = 1, RECEIVE = 2, CLIENT = 3, SERVER = 4;
    // Offsets.
    static final int ROLE = 4, PAYLOAD = 8, BUFFER = 12, CONNECTED = 20, TIMEOUT_MS = 28, PEER_TEXT = 176, VERIFY = 240,
            SLOTS = 244, SLOT_BYTES = 248, SLOTS_AT = 252, GO = 256, STOP = 260, SLOTS_READY = 320, PACKETS = 512,
            BYTES = 520, ERRORS = 536, REFUSED = 544, ANSWERED = 552, LATE = 560, READY = 568,
            RTT_NS = 1024;
    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private final ByteBuffer memory;

    /** Maps the page. */
    Page() throws IOException {
        try (var file = FileChannel.open(Path.of("/proc/self/fd/4"), READ, WRITE)) {
            memory = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size());
        }
        if (memory.capacity() < RTT_NS || u32(0) != 1) throw new IOException("descriptor 4 is no page of version 1");
    }

    int u32(int offset) { return (int) INT.getAcquire(memory, offset); }
    long u64(int offset) { return (long) LONG.getAcquire(memory, offset); }
    boolean is(int offset) { return u32(offset) == 1; }
    void add(int offset, long more) { LONG.setRelease(memory, offset, u64(offset) + more); }

    /** Returns the address to send to, or null. */
    InetSocketAddress peer() {
        var text = new byte[64];
        memory.get(PEER_TEXT, text);
        var parts = new String(text).trim().split(":(?=\\d+$)");
        return parts.length < 2 ? null : new InetSocketAddress(parts[0], Integer.parseInt(parts[1]));
    }

    /** Says that the program is set up, and waits for the start. */
    void await() throws InterruptedException {
        INT.setRelease(memory, READY, 1);
        while (!is(GO)) Thread.sleep(0, 100_000);
    }

    /** Counts datagrams that a call moved. */
    void count(int packets, int bytes) {
        add(BYTES, bytes);
        add(PACKETS, packets);
    }

    /** Counts a call that failed: a send by the datagrams that it should have sent, a receive (0) as an error. */
    void fail(int refused) { add(refused > 0 ? REFUSED : ERRORS, 1); }

    /** Counts a response that came in time. */
    void answer(long rttNs) {
        int at = RTT_NS + (int) (u64(ANSWERED) % 65536) * 4;
        INT.setRelease(memory, at, (int) Math.min(rttNs, 0xffff_ffffL));
        add(ANSWERED, 1);
    }

    /**
     * Writes the n-th datagram to send: its number from byte 2 on, or during verification what udpbench wrote. Returns
     * false at the end.
     */
    boolean fill(long n, ByteBuffer datagram) {
        datagram.clear();
        while (is(VERIFY) && u64(SLOTS_READY) <= n) if (is(STOP)) return false;
        if (is(VERIFY)) datagram.put(0, memory, slot(n) + 4, datagram.capacity());
        else if (datagram.capacity() >= 8) datagram.order(ByteOrder.LITTLE_ENDIAN).putLong(0, n << 16);
        return true;
    }

    /** Hands a received datagram to udpbench during verification, before it is counted. */
    void check(long n, ByteBuffer datagram) {
        while (is(VERIFY) && n - u64(SLOTS_READY) >= u32(SLOTS)) Thread.onSpinWait();
        put(n, datagram);
    }

    /** Hands the n-th response (from 0: ANSWERED) to udpbench during verification, before it is counted. */
    void put(long n, ByteBuffer datagram) {
        if (!is(VERIFY)) return;
        INT.setRelease(memory, slot(n), datagram.remaining());
        memory.put(slot(n) + 4, datagram, 0, datagram.remaining());
    }

    private int slot(long n) { return u32(SLOTS_AT) + (int) (n % u32(SLOTS)) * u32(SLOT_BYTES); }
}
