package ferro.backend.tcp.link;

import ferro.backend.tcp.net.TlsSession;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLException;

/**
 * A data connection whose bytes travel in TLS records. Bytes are handed on only after their record was found to be the one
 * that the other side has sent; after a wrong record nothing more is.
 *
 * <p>Many records at once go between arrays and the kernel where it takes them, and everything else through memory that all
 * connections of a group share.
 */
public final class TlsWire extends WrappedSocket {
    private static final System.Logger LOG = System.getLogger("ferro.tcp");

    /** More than this is lent to the kernel: for less, lending costs more than a copy, and leaves objects behind. */
    private static final int LENT_BYTES = 64 << 10;

    private final TlsSession session;
    private final ByteBuffer shared;
    /** Bytes that this side seals by one key. */
    private final long most;

    /** Bytes of the caller in the records that wait. Those of a record count as taken once the kernel has all of it. */
    private int sealed;

    private IOException broken;

    /**
     * Makes a connection that encrypts.
     *
     * @param inner   socket
     * @param session session whose handshake is over
     * @param shared  direct memory of 256 KiB that nobody uses between two calls
     * @param most    how many bytes this side seals before another connection is to take the place of this one, unless the engine
     *     changes its keys by itself
     */
    public TlsWire(DataSocket inner, TlsSession session, ByteBuffer shared, long most) {
        super(inner);
        this.most = session.renewsKeys() ? Long.MAX_VALUE : most;
        this.session = session;
        this.shared = shared;
        session.left(); // bytes of the handshake, which are none of the caller's
    }

    /**
     * Writes bytes in records. The bytes of a record count as taken with its last byte: the other side hands on whole records
     * only. Until then the caller offers them again, and this side still holds them.
     */
    @Override
    public int write(ByteBuffer bytes, int from, int to) throws IOException {
        refuseIfBroken();
        int at = from;
        try {
            boolean all = flush();
            at += left();
            while (all && at < to && session.sealed() < most) {
                sealed = session.seal(bytes, at, to);
                all = flush();
                at += left();
            }
            return at - from;
        } catch (IOException failure) {
            at += left();
            if (failure instanceof SSLException refused) {
                broken = corrupted(refused);
            }
            if (at == from) {
                throw broken == null ? failure : broken;
            }
            // the next write meets it, too; what has left counts
            return at - from;
        }
    }

    /** Returns how many bytes of the caller have left since the last call. */
    private int left() {
        int bytes = session.left();
        sealed -= bytes;
        return bytes;
    }

    /** Writes the records that wait; returns whether the kernel has taken all. */
    private boolean flush() throws IOException {
        while (session.waiting() > 0) {
            int taken = flushOnce();
            if (taken == 0) {
                return false;
            }
            session.written(taken);
        }
        return true;
    }

    private int flushOnce() throws IOException {
        int count = Math.min(session.waiting(), ArrayCalls.MOST_BYTES);
        ByteBuffer records = session.outgoing();
        int at = session.outgoingAt();
        if (records.isDirect()) {
            return inner.write(records, at, at + count);
        }
        if (isLent(count)) {
            return inner.writeLent(records.array(), at, count);
        }
        shared.put(0, records, at, count);
        return inner.write(shared, 0, count);
    }

    @Override
    public int read(ByteBuffer bytes, int from, int to) throws IOException {
        refuseIfBroken();
        int at = from;
        try {
            at += session.open(bytes, at, to);
            boolean more = true;
            while (at < to && more) {
                int room = Math.min(session.room(), ArrayCalls.MOST_BYTES);
                int came = fill(room);
                if (came <= 0) {
                    answer();
                    return at > from ? at - from : came;
                }
                more = came == room;
                at += session.open(bytes, at, to);
            }
            answer();
            return at == from && session.isClosed() ? -1 : at - from;
        } catch (IOException failure) {
            broken = failure instanceof SSLException refused ? corrupted(refused) : failure;
            if (at > from) {
                return at - from;
            }
            throw broken;
        }
    }

    /**
     * Writes what the records that came have asked for, such as new keys, unless bytes of the caller wait in front of it. If it
     * cannot, the next write meets that too; what the other side sent before its end can still be read.
     */
    private void answer() {
        try {
            if (sealed == 0) {
                flush();
            }
        } catch (IOException unable) {
            LOG.log(System.Logger.Level.DEBUG, "an answer within TLS was not written", unable);
        }
    }

    private int fill(int room) throws IOException {
        int came;
        ByteBuffer records = session.incoming();
        int at = session.incomingAt();
        if (records.isDirect()) {
            came = inner.read(records, at, at + room);
        } else if (isLent(room)) {
            came = inner.readLent(records.array(), at, room);
        } else {
            came = inner.read(shared, 0, room);
            if (came > 0) {
                records.put(at, shared, 0, came);
            }
        }
        if (came > 0) {
            session.came(came);
        }
        return came;
    }

    private boolean isLent(int bytes) {
        return bytes > LENT_BYTES && inner.takesLent();
    }

    /** Closes the connection: nothing that follows a wrong record can be trusted. */
    private CheckedDataSocket.Corrupted corrupted(SSLException refused) {
        inner.close();
        String what = TlsSession.isAlert(refused)
                ? "the other side refused a TLS record of this side"
                : "TLS record " + session.records() + " was refused";
        return new CheckedDataSocket.Corrupted(what + " (" + refused.getMessage() + ")");
    }

    private void refuseIfBroken() throws IOException {
        if (broken != null) {
            throw broken;
        }
    }

    @Override
    public boolean isWorn() {
        return session.sealed() >= most && session.waiting() == 0;
    }

    @Override
    public void close() {
        super.close();
        session.close();
    }

    @Override
    public boolean readable() {
        return broken != null || session.ready() || super.readable();
    }
}
