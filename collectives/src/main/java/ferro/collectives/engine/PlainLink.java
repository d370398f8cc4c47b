package ferro.collectives.engine;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.WireHeader;
import ferro.collectives.reduce.Kernels;
import ferro.control.failure.CallsThatDiffer;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Posts to one peer of a plain back end: a message for the header of each call, then one per post. All have a tag of
 * the engine, so that they never match messages of users.
 */
final class PlainLink implements Link {
    /** Below 0: users cannot send with it. */
    static final int TAG = -1;

    /** Longer posts are sent in pieces that fit in a byte buffer. */
    private static final long PIECE_ELEMENTS = 1L << 23;
    /** No limit for the back end: the engine has the deadline, and closes the back end when it passes. */
    private static final Duration NO_LIMIT = Duration.ofDays(1);

    /** The text of a call follows its header: length, and UTF-8. Both ranks have the same byte order. */
    private static final int TEXT_LENGTH_AT = WireHeader.BYTES;

    private static final int TEXT_AT = TEXT_LENGTH_AT + Integer.BYTES;
    private static final int TEXT_BYTES = 512;
    /** What stays of both ends of a text that is too long: at most three bytes each. */
    private static final int PART_CHARACTERS = 80;

    /** The time for each peer whose header is looked for; a back end may wait longer. */
    private static final Duration FIND_LIMIT = Duration.ofMillis(200);

    private static final long POLL_NANOS = 1_000_000L;

    private final PlainTransport transport;
    private final int peer;
    private long sendSequence;
    /** The sends so far. Belongs to the thread that makes progress. */
    private long posted;

    /** The call of the last send. */
    private volatile CallHeader sending;
    /** The last call whose header the peer has received. */
    private volatile long taken;

    /** The beginning of a record at the end of the last piece. */
    private ByteBuffer beginning;

    private long receiveSequence;
    private volatile long sent;
    private volatile long received;
    private volatile long bytesMoved;

    PlainLink(PlainTransport transport, int peer) {
        this.transport = transport;
        this.peer = peer;
    }

    @Override
    public void send(CallHeader call, HostTensor data, long from, long count) {
        if (transport.isAbandoned()) {
            return;
        }
        boolean first = call.sequence() != sendSequence;
        sendSequence = call.sequence();
        sending = call;
        posted++;
        HostTensor part = data.slice(from, count);
        transport.send(peer, () -> {
            if (first) {
                transport.plain().send(headerOf(call), peer, TAG, NO_LIMIT);
                taken = call.sequence();
            }
            for (long at = 0; at < count; at += PIECE_ELEMENTS) {
                HostTensor piece = part.slice(at, Math.min(PIECE_ELEMENTS, count - at));
                transport.plain().send(transport.bytesOf(piece), peer, TAG, NO_LIMIT);
            }
            moved(part.byteCount());
            transport.finishOne(() -> sent++);
        });
    }

    @Override
    public void receive(CallHeader call, HostTensor into, long from, long count) {
        receive(call, into.slice(from, count), null);
    }

    @Override
    public void receiveCombine(CallHeader call, HostTensor into, long from, long count, ReduceOp op) {
        receive(call, into.slice(from, count), op);
    }

    @Override
    public long sent() {
        return sent;
    }

    @Override
    public long bytesMoved() {
        return bytesMoved;
    }

    @Override
    public long received() {
        return received;
    }

    private void receive(CallHeader call, HostTensor into, ReduceOp op) {
        if (transport.isAbandoned()) {
            return;
        }
        boolean first = call.sequence() != receiveSequence;
        receiveSequence = call.sequence();
        transport.receive(peer, () -> {
            if (transport.isSearching()) {
                return;
            }
            if (first) {
                expect(call);
            }
            long left = 0;
            for (long at = 0; at < into.elementCount(); at += PIECE_ELEMENTS) {
                long end = Math.min(at + PIECE_ELEMENTS, into.elementCount());
                left = take(into.slice(at - left, end - at + left), op, left);
            }
            moved(into.byteCount());
            transport.finishOne(() -> received++);
        });
    }

    private void expect(CallHeader call) {
        FerroException differs = compared(call, NO_LIMIT, false);
        if (differs != null) {
            throw differs;
        }
    }

    int peer() {
        return peer;
    }

    boolean isSending() {
        return sent < posted;
    }

    CallHeader sending() {
        return sending;
    }

    /**
     * Receives a header that the peer may send, and returns the failure if the peer makes another call with this
     * number; else null. A peer that is in an earlier or later call says nothing about this one.
     */
    FerroException find(CallHeader call) {
        return compared(call, FIND_LIMIT, true);
    }

    /** Waits until the peer has received the header of a call, so that it can compare too; not beyond a time. */
    void awaitTaken(CallHeader call, long untilNanos) {
        while (taken < call.sequence()
                && System.nanoTime() - untilNanos < 0
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    private FerroException compared(CallHeader call, Duration limit, boolean isOneNumber) {
        ByteBuffer header = newHeader();
        transport.plain().recv(header, peer, TAG, limit);
        CallHeader other = WireHeader.other(call, header, 0);
        if (other == null || isOneNumber && other.sequence() != call.sequence()) {
            return null;
        }
        int rank = transport.rank();
        String name = transport.plain().getClass().getSimpleName();
        byte[] text = new byte[Math.min(TEXT_BYTES, Math.max(0, header.getInt(TEXT_LENGTH_AT)))];
        header.get(TEXT_AT, text);
        String theirs = new String(text, StandardCharsets.UTF_8);
        List<String> calls = List.of(shortened(call.text()), theirs);
        return new FerroException(
                Code.MISMATCH,
                Where.of(name, rank).blaming(rank, peer),
                CallsThatDiffer.problem(calls) + ": rank " + rank + " seq " + call.sequence() + " " + calls.get(0)
                        + ", rank " + peer + " seq " + other.sequence() + " " + theirs + ": "
                        + CallsThatDiffer.remedy(calls));
    }

    /** Returns a text that fits behind a header; a long label loses its middle, so that root and length stay. */
    static String shortened(String text) {
        boolean fits = text.getBytes(StandardCharsets.UTF_8).length <= TEXT_BYTES;
        return fits
                ? text
                : text.substring(0, PART_CHARACTERS) + " ... " + text.substring(text.length() - PART_CHARACTERS);
    }

    /**
     * Takes a piece, and combines its records together with the beginning of a record from the piece before.
     *
     * @param left elements of that beginning, which are the first of {@code into}
     * @return elements at the end of the piece that are only the beginning of a record
     */
    private long take(HostTensor into, ReduceOp op, long left) {
        ByteBuffer bytes = direct(into.byteCount());
        HostTensor came = HostTensor.of(into.dataType(), bytes);
        if (left > 0) {
            came.copyFrom(0, HostTensor.of(into.dataType(), beginning), 0, left);
        }
        transport.plain().recv(bytes.position((int) left * into.dataType().byteSize()), peer, TAG, NO_LIMIT);
        if (op == null) {
            into.copyFrom(0, came, 0, into.elementCount());
            return 0;
        }
        long rest = into.elementCount() % op.recordElements();
        long full = into.elementCount() - rest;
        Kernels.of(into.dataType(), op, transport.worldSize()).combine(into, 0, came, 0, full);
        if (rest > 0) {
            // records are of bytes
            beginning = bytes.clear().position((int) full).slice().order(ByteOrder.nativeOrder());
        }
        return rest;
    }

    private void moved(long bytes) {
        synchronized (transport) {
            bytesMoved += bytes;
        }
    }

    private static ByteBuffer headerOf(CallHeader call) {
        ByteBuffer header = newHeader();
        WireHeader.put(call, header, 0);
        byte[] text = shortened(call.text()).getBytes(StandardCharsets.UTF_8);
        header.putInt(TEXT_LENGTH_AT, text.length).put(TEXT_AT, text);
        return header;
    }

    private static ByteBuffer newHeader() {
        return direct(TEXT_AT + TEXT_BYTES);
    }

    static ByteBuffer direct(long bytes) {
        return ByteBuffer.allocateDirect(Math.toIntExact(bytes)).order(ByteOrder.nativeOrder());
    }
}
