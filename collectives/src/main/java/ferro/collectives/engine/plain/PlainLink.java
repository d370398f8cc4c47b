package ferro.collectives.engine.plain;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.WireHeader;
import ferro.collectives.reduce.Kernels;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;

/**
 * Posts to one peer of a plain back end: a message for the header of each call, then one per post. All have a tag of the
 * engine, so that they never match messages of users.
 */
final class PlainLink implements Link {
    /** Below 0: users cannot send with it. */
    static final int TAG = -1;

    /** Longer posts are sent in pieces that fit in a byte buffer. */
    private static final long PIECE_ELEMENTS = 1L << 23;
    /** No limit for the back end: the engine has the deadline, and closes the back end when it passes. */
    private static final Duration NO_LIMIT = Duration.ofDays(1);

    private final PlainTransport transport;
    private final int peer;
    private long sendSequence;
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
        HostTensor part = data.slice(from, count);
        transport.send(peer, () -> {
            if (first) {
                transport.plain().send(headerOf(call), peer, TAG, NO_LIMIT);
            }
            for (long at = 0; at < count; at += PIECE_ELEMENTS) {
                HostTensor piece = part.slice(at, Math.min(PIECE_ELEMENTS, count - at));
                transport.plain().send(transport.bytesOf(piece), peer, TAG, NO_LIMIT);
            }
            moved(part.byteCount());
            sent++;
            transport.finishedOne();
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
            if (first) {
                expect(call);
            }
            long left = 0;
            for (long at = 0; at < into.elementCount(); at += PIECE_ELEMENTS) {
                long end = Math.min(at + PIECE_ELEMENTS, into.elementCount());
                left = take(into.slice(at - left, end - at + left), op, left);
            }
            moved(into.byteCount());
            received++;
            transport.finishedOne();
        });
    }

    private void expect(CallHeader call) {
        ByteBuffer header = newHeader();
        transport.plain().recv(header, peer, TAG, NO_LIMIT);
        CallHeader other = WireHeader.other(call, header, 0);
        if (other != null) {
            int rank = transport.rank();
            String name = transport.plain().getClass().getSimpleName();
            Where where = Where.of(name, rank).blaming(rank, peer);
            throw new FerroException(
                    Code.MISMATCH,
                    where,
                    "ranks made different calls: rank " + rank + " seq " + call.sequence() + " " + call.text()
                            + ", rank "
                            + peer + " seq " + other.sequence() + " with fingerprint "
                            + Long.toHexString(other.fingerprint())
                            + ", need " + Long.toHexString(call.fingerprint()));
        }
    }

    /**
     * Takes a piece, and combines its records together with the beginning of a record from the piece before.
     *
     * @param left elements of that beginning, which are the first of {@code into}
     * @return elements at the end of the piece that are only the beginning of a record
     */
    private long take(HostTensor into, ReduceOp op, long left) {
        ByteBuffer bytes =
                ByteBuffer.allocateDirect(Math.toIntExact(into.byteCount())).order(ByteOrder.nativeOrder());
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
        return header;
    }

    private static ByteBuffer newHeader() {
        return ByteBuffer.allocateDirect(WireHeader.BYTES).order(ByteOrder.nativeOrder());
    }
}
