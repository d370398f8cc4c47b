package ferro.backend.tcp.link;

import ferro.backend.tcp.net.TlsSession;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLException;

/**
 * A data connection whose bytes are sent in TLS records. The caller receives bytes only after their record has been
 * authenticated. After a record that cannot be authenticated, the caller receives no more bytes.
 *
 * <p>Large batches of records move directly between arrays and the kernel if the socket allows this. All other data
 * goes through memory that all connections of a group share.
 */
public final class TlsDataSocket extends LayeredSocket {
    private static final System.Logger LOG = System.getLogger("ferro.tcp");

    /**
     * Size above which a batch is passed to the kernel as an array. Below this size a copy is cheaper and makes no
     * garbage.
     */
    private static final int LENT_BYTES = 64 << 10;

    private final TlsSession session;
    private final ByteBuffer shared;
    /** Maximum number of bytes that this side encrypts with one key. */
    private final long most;

    /**
     * Number of the caller's bytes in encrypted records that the kernel has not accepted yet. {@link #write} has not
     * returned these bytes as written.
     */
    private int sealed;

    private IOException broken;

    /**
     * Creates a connection that encrypts.
     *
     * @param inner   socket
     * @param session session whose handshake is complete
     * @param shared  direct memory of 256 KiB, which other connections may use between two calls
     * @param most    number of bytes that this side may encrypt before the connection must be replaced; ignored if the
     *     engine renews its keys
     */
    public TlsDataSocket(DataSocket inner, TlsSession session, ByteBuffer shared, long most) {
        super(inner);
        this.most = session.renewsKeys() ? Long.MAX_VALUE : most;
        this.session = session;
        this.shared = shared;
        session.left(); // drops the count of handshake bytes, which are not bytes of the caller
    }

    /**
     * Writes bytes in records. The return value includes the bytes of a record only after the last byte of the record
     * is written, because the peer accepts only complete records. Until then, the caller passes the same bytes again,
     * although this object already has the record.
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
            // the next write fails in the same way; this write returns the bytes that were written before the failure
            return at - from;
        }
    }

    /** Returns how many of the caller's bytes were sent in complete records since the last call of this method. */
    private int left() {
        int bytes = session.left();
        sealed -= bytes;
        return bytes;
    }

    /** Writes the records that wait for the kernel. Returns whether the kernel has accepted all records. */
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
        int count = Math.min(session.waiting(), ArraySocketCalls.MOST_BYTES);
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
                int room = Math.min(session.room(), ArraySocketCalls.MOST_BYTES);
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
     * Writes the records with which the TLS engine answers received records, for example to change keys. Writes nothing
     * while bytes of the caller wait to be written. A failure is not reported: the next write fails as well, and
     * received bytes can still be read.
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

    /** Closes the connection, because no bytes after a record that cannot be authenticated can be trusted. */
    private CheckedDataSocket.CorruptDataException corrupted(SSLException refused) {
        inner.close();
        String what = TlsSession.isAlert(refused)
                ? "the other side refused a TLS record of this side"
                : "TLS record " + session.records() + " was refused";
        return new CheckedDataSocket.CorruptDataException(what + " (" + refused.getMessage() + ")");
    }

    private void refuseIfBroken() throws IOException {
        if (broken != null) {
            throw broken;
        }
    }

    @Override
    public boolean isAtByteLimit() {
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
