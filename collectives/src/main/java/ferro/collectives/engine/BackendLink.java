package ferro.collectives.engine;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.WireHeader;
import ferro.collectives.reduce.KernelFactory;
import ferro.control.failure.CallComparison;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A link to one peer of a plain back end. The link sends one message for the header of each call, then one message per
 * post. All messages have a tag of the engine, so that they never match messages of users.
 */
final class BackendLink implements Link {
    /** A tag below 0, so that no user can send a message with this tag. */
    static final int TAG = -1;

    /** Longest piece of a post. A longer post is sent in pieces that fit in a byte buffer. */
    private static final long PIECE_ELEMENTS = 1L << 23;
    /** No timeout for the back end. The engine has the deadline, and closes the back end when the deadline passes. */
    private static final Duration NO_LIMIT = Duration.ofDays(1);

    /** Offset of a call's description behind the header. The text has a length in native byte order, then UTF-8. */
    private static final int TEXT_LENGTH_AT = WireHeader.BYTES;

    private static final int TEXT_AT = TEXT_LENGTH_AT + Integer.BYTES;
    private static final int TEXT_BYTES = 512;
    /** Number of characters that are kept at each end of a text that is too long, with at most three bytes each. */
    private static final int PART_CHARACTERS = 80;

    /** Time that the search for a different call waits for the header of each peer; a back end may wait longer. */
    private static final Duration FIND_LIMIT = Duration.ofMillis(200);

    private static final long POLL_NANOS = 1_000_000L;

    private final BackendTransport transport;
    private final int peer;
    private long sendSequence;
    /** Number of posted sends. Only the thread that makes progress uses this field. */
    private long posted;

    /** The call of the last send. */
    private volatile CallHeader sending;
    /** Sequence of the last call whose header the peer has received. */
    private volatile long taken;

    /** The incomplete record at the end of the last piece. */
    private ByteBuffer beginning;

    private long receiveSequence;
    private volatile long sent;
    private volatile long received;
    private volatile long bytesMoved;

    BackendLink(BackendTransport transport, int peer) {
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
     * Receives a header that the peer may send. Returns a failure if the peer makes another call with the same
     * sequence, else null. A header of an earlier or later call does not count as a difference.
     */
    FerroException find(CallHeader call) {
        return compared(call, FIND_LIMIT, true);
    }

    /**
     * Waits until the peer has received the header of a call and can compare the calls too, at most until
     * {@code untilNanos}.
     */
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
                CallComparison.problem(calls) + ": rank " + rank + " seq " + call.sequence() + " " + calls.get(0)
                        + ", rank " + peer + " seq " + other.sequence() + " " + theirs + ": "
                        + CallComparison.remedy(calls));
    }

    /**
     * Returns a text that fits behind a header. The middle of a text that is too long is cut, so that root and length
     * stay.
     */
    static String shortened(String text) {
        boolean fits = text.getBytes(StandardCharsets.UTF_8).length <= TEXT_BYTES;
        return fits
                ? text
                : text.substring(0, PART_CHARACTERS) + " ... " + text.substring(text.length() - PART_CHARACTERS);
    }

    /**
     * Receives a piece and combines its complete records. The first record may have begun in the previous piece.
     *
     * @param left number of elements of the incomplete record from the previous piece, at the start of {@code into}
     * @return number of elements of an incomplete record at the end of this piece
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
        KernelFactory.of(into.dataType(), op, transport.worldSize()).combine(into, 0, came, 0, full);
        if (rest > 0) {
            // the elements of a record are bytes, so an element index is a byte index
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
