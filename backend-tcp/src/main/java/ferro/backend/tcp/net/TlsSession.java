package ferro.backend.tcp.net;

import ferro.backend.tcp.net.TlsProvider.TlsEngines;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;

/**
 * One side of a TLS connection, between bytes of the program and records, without a socket. The caller moves the records:
 * {@link #outgoing} have to be written, {@link #incoming} is where those that come are put. One thread at a time.
 *
 * <p>Allocates nothing of its own once its memory has grown to the size of its batches; what the engine of the JDK allocates
 * is its own.
 */
public final class TlsSession {
    /** Most bytes of the program in one record (RFC 8446, 5.1). */
    public static final int RECORD_BYTES = 16 << 10;
    /**
     * Bytes of the program that are sealed in one record. The engine of the JDK counts the kind of a record and its tag among the 16
     * KiB; of a whole 16 KiB it would put the last 17 bytes into a record of their own, at nine tenths of the speed.
     */
    public static final int SEALED_BYTES = RECORD_BYTES - 17;
    /** Most bytes of the program that are sealed at once: one write of 240 KiB. */
    public static final int BATCH_BYTES = 15 * SEALED_BYTES;

    /** Head of a record: kind, version and length (RFC 8446, 5.1). */
    private static final int HEAD_BYTES = 5;
    /** Most that encryption may add to a record (RFC 8446, 5.2). */
    private static final int EXPANSION_BYTES = 256;
    /** First and last kind of a record that exists: change of cipher, and bytes of the program. */
    private static final int FIRST_KIND = 20;

    private static final int LAST_KIND = 23;
    private static final int VERSION_MAJOR = 3;

    private static final int FIRST_MEMORY = 2 * (HEAD_BYTES + RECORD_BYTES + EXPANSION_BYTES);
    private static final int MOST_INCOMING = 256 << 10;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final AtomicInteger UNFREED = new AtomicInteger();

    private final SSLEngine engine;
    private final PinnedTrust trust;
    private final TlsEngines engines;
    /** One record for the engine, which wants room for the largest. */
    private final ByteBuffer aside;
    /** Bytes of the program before they are sealed. */
    private final ByteBuffer clear;
    /** Opened bytes that were not handed on yet, from the position to the limit. */
    private final ByteBuffer opened;

    private ByteBuffer out;
    private int outAt;
    private int outEnd;
    /** Where the records end that {@link #seal} has made since all were written, and how many bytes of the program each holds. */
    private final int[] ends = new int[2 * BATCH_BYTES / SEALED_BYTES];

    private final int[] contents = new int[ends.length];
    private int firstEnd;
    private int lastEnd;
    private ByteBuffer in;
    private int inAt;
    private int inEnd;
    private long records;
    private long sealed;
    private final AtomicBoolean freed = new AtomicBoolean();
    /** Whether the engine has asked for a {@link #wrapAside} since the last one. */
    private boolean wantsToWrite;

    private boolean over;
    private boolean closed;
    /** Why nothing more is handed on; thrown once the bytes before it were handed on. */
    private IOException refused;

    TlsSession(SSLEngine engine, PinnedTrust trust, TlsEngines engines) {
        this.engine = engine;
        this.trust = trust;
        this.engines = engines;
        int packet = engine.getSession().getPacketBufferSize();
        aside = engines.memory(packet);
        clear = engines.memory(RECORD_BYTES);
        opened = engines.memory(Math.max(RECORD_BYTES, engine.getSession().getApplicationBufferSize()))
                .limit(0);
        out = engines.memory(Math.max(packet, FIRST_MEMORY));
        in = engines.memory(Math.max(packet, FIRST_MEMORY));
        UNFREED.incrementAndGet();
    }

    /** Returns how many sessions of this process were not {@link #close closed}: what their engines hold, no collector frees. */
    public static int unfreed() {
        return UNFREED.get();
    }

    /** Returns whether the handshake is over, so that bytes of the program may be moved. */
    boolean isOver() {
        return over;
    }

    /** Returns whether this side has connected, and so spoke first. */
    boolean isConnecting() {
        return engine.getUseClientMode();
    }

    /** Returns whether the other side has said that it sends nothing more. */
    public boolean isClosed() {
        return closed;
    }

    /** Returns whether this side has refused the key or the certificates of the other one. */
    boolean hasRefusedKey() {
        return trust.refused() != null;
    }

    /**
     * Returns whether the other side has ended the connection by an alert: it has refused what this side sent. JDK and OpenSSL both
     * say so in their texts only.
     */
    public static boolean isAlert(IOException failure) {
        return String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT).contains("alert");
    }

    /** Returns whether an alert tells that the other side has refused this side's certificate; it is the same with all providers. */
    static boolean isOfACertificate(IOException alert) {
        return alert.getMessage().toLowerCase(Locale.ROOT).contains("certificate");
    }

    /** Returns how often the key of the other side was checked: once within the handshake, and once after it. */
    int checks() {
        return trust.asked();
    }

    /**
     * Goes on with the handshake as far as the records that have come allow. Records to be written may be there even if this
     * fails.
     *
     * @return whether the handshake is over
     * @throws IOException if the other side has another key than the one expected, or speaks something else
     */
    boolean shake() throws IOException {
        try {
            while (!over) {
                switch (engine.getHandshakeStatus()) {
                    case NEED_TASK -> runTasks();
                    case NEED_WRAP -> wrapAside();
                    case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                        if (!unwrap() && !isDoneWithAll()) {
                            return false;
                        }
                    }
                    case FINISHED, NOT_HANDSHAKING -> finish();
                }
            }
            return true;
        } catch (SSLException wrong) {
            sayWhy();
            // an engine may put it in words of its own
            throw trust.refused() == null ? wrong : new SSLHandshakeException(trust.refused());
        }
    }

    /** Returns whether the engine wants no further record: that of OpenSSL looks only when it is called once more. */
    private boolean isDoneWithAll() throws SSLException {
        nudge();
        return engine.getHandshakeStatus() != SSLEngineResult.HandshakeStatus.NEED_UNWRAP;
    }

    /** Calls the engine without a record. */
    private void nudge() throws SSLException {
        if (!opened.hasRemaining()) {
            engine.unwrap(NOTHING, opened.clear());
            opened.limit(0);
        }
    }

    /** Checks key and certificates once more: an engine that resumed a session would have asked nobody. */
    private void finish() throws IOException {
        try {
            trust.check(Arrays.stream(engine.getSession().getPeerCertificates())
                    .map(X509Certificate.class::cast)
                    .toArray(X509Certificate[]::new));
        } catch (CertificateException wrong) {
            throw new SSLHandshakeException(wrong.getMessage());
        }
        over = true;
    }

    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    /** Leaves the engine's alert, if it has one, among the records to be written. */
    private void sayWhy() {
        try {
            if (engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP) {
                wrapAside();
            }
        } catch (IOException none) {
            closed = true;
        }
    }

    /** Writes a record of the engine's own behind those that wait. */
    private void wrapAside() throws IOException {
        SSLEngineResult result = engine.wrap(NOTHING, aside.clear());
        if (result.getStatus() == Status.CLOSED && result.bytesProduced() == 0) {
            throw new SSLException("the engine is closed, after record " + records);
        }
        wantsToWrite = false;
        makeRoom(result.bytesProduced());
        out.limit(out.capacity()).put(outEnd, aside, 0, result.bytesProduced());
        outEnd += result.bytesProduced();
    }

    private void makeRoom(int bytes) {
        if (outAt == outEnd) {
            outAt = 0;
            outEnd = 0;
            firstEnd = 0;
            lastEnd = 0;
        }
        if (out.capacity() - outEnd < bytes) {
            int most = HEAD_BYTES + RECORD_BYTES + EXPANSION_BYTES;
            int size = Math.max(outEnd + bytes, Math.min(2 * out.capacity(), BATCH_BYTES / SEALED_BYTES * most));
            out = engines.memory(size).put(0, out.limit(out.capacity()), 0, outEnd);
        }
    }

    /**
     * Seals bytes of the program behind the records that wait.
     *
     * @param bytes buffer, read by absolute index
     * @param from  first byte
     * @param to    index after the last one; at most {@link #BATCH_BYTES} are taken
     * @return how many were sealed
     */
    public int seal(ByteBuffer bytes, int from, int to) throws IOException {
        int end = Math.min(to, from + BATCH_BYTES);
        int at = from;
        while (at < end) {
            int count = Math.min(SEALED_BYTES, end - at);
            clear.clear().put(0, bytes, at, count).limit(count);
            while (clear.hasRemaining()) {
                makeRoom(aside.capacity());
                SSLEngineResult result =
                        engine.wrap(clear, out.limit(out.capacity()).position(outEnd));
                if (result.getStatus() != Status.OK) {
                    throw new SSLException("no more data can be encrypted: " + result.getStatus());
                }
                outEnd += result.bytesProduced();
                note(result.bytesConsumed());
            }
            at += count;
        }
        sealed += at - from;
        return at - from;
    }

    /** Notes a record that ends where the records end now; what is beyond the notes' room counts with the last of them. */
    private void note(int content) {
        boolean hasRoom = lastEnd < ends.length;
        int slot = hasRoom ? lastEnd++ : ends.length - 1;
        ends[slot] = outEnd;
        contents[slot] = hasRoom ? content : contents[slot] + content;
    }

    /** Returns how many bytes of the program are in records that were written whole since the last call of this method. */
    public int left() {
        int bytes = 0;
        for (; firstEnd < lastEnd && ends[firstEnd] <= outAt; firstEnd++) {
            bytes += contents[firstEnd];
        }
        return bytes;
    }

    /** Returns how many bytes of records wait to be written. */
    public int waiting() {
        return outEnd - outAt;
    }

    /** Returns the memory whose bytes from index {@link #outgoingAt} on are to be written: an array, or memory outside the heap. */
    public ByteBuffer outgoing() {
        return out.clear();
    }

    /** Returns the index of the next byte to write. */
    public int outgoingAt() {
        return outAt;
    }

    /** Records that so many bytes of records were written. */
    public void written(int bytes) {
        outAt += bytes;
    }

    /** Returns the memory into which records are to be read, from index {@link #incomingAt} on, at most {@link #room} bytes. */
    public ByteBuffer incoming() {
        return in.clear();
    }

    /** Returns the index at which the next byte that comes is to be put. */
    public int incomingAt() {
        return inEnd;
    }

    /** Makes room for at least one more record, and returns how many bytes fit. */
    public int room() {
        if (inAt > 0) {
            in.clear().put(0, in, inAt, inEnd - inAt);
            inEnd -= inAt;
            inAt = 0;
        }
        return in.capacity() - inEnd;
    }

    /** Records that so many bytes have come; a read that filled all room makes the next one larger. */
    public void came(int bytes) {
        in.clear();
        inEnd += bytes;
        if (inEnd == in.capacity() && inEnd < MOST_INCOMING) {
            in = engines.memory(Math.min(MOST_INCOMING, 4 * inEnd)).put(0, in.clear(), 0, inEnd);
        }
    }

    /** Returns how many bytes the next record lacks, or its head if that has not come; 0 if a whole one is there. */
    int lacking() throws IOException {
        int there = inEnd - inAt;
        return there < HEAD_BYTES ? HEAD_BYTES - there : Math.max(0, HEAD_BYTES + length() - there);
    }

    /** Returns whether {@link #open} has something to hand on, or to refuse, without another byte. */
    public boolean ready() {
        return opened.hasRemaining()
                || refused != null
                || inEnd - inAt >= HEAD_BYTES && inEnd - inAt >= HEAD_BYTES + claimed();
    }

    private int claimed() {
        return (in.get(inAt + 3) & 0xFF) << 8 | in.get(inAt + 4) & 0xFF;
    }

    /** Returns the length of the next record behind its head; a head that cannot be one must not make anybody wait. */
    private int length() throws IOException {
        int kind = in.get(inAt);
        int length = claimed();
        if (kind < FIRST_KIND
                || kind > LAST_KIND
                || in.get(inAt + 1) != VERSION_MAJOR
                || length > RECORD_BYTES + EXPANSION_BYTES) {
            throw new SSLException("record " + records + " is of kind " + kind + " with " + length
                    + " bytes, need kind " + FIRST_KIND + " to " + LAST_KIND + " with at most "
                    + (RECORD_BYTES + EXPANSION_BYTES));
        }
        return length;
    }

    /**
     * Hands on bytes of the program from the records that have come. Records to be written may be there afterwards: the other
     * side may ask for new keys.
     *
     * @param into buffer, written by absolute index
     * @param from index of the first byte
     * @param to   index after the last one
     * @return how many were handed on; fewer than asked for if more has to come first
     * @throws IOException if a record is not the one that the other side has sent, or it has ended with an alert
     */
    public int open(ByteBuffer into, int from, int to) throws IOException {
        int at = from;
        try {
            while (at < to && (opened.hasRemaining() || openNext())) {
                int count = Math.min(opened.remaining(), to - at);
                into.put(at, opened, opened.position(), count);
                opened.position(opened.position() + count);
                at += count;
            }
        } catch (IOException failure) {
            refused = failure;
            if (at == from) {
                throw failure;
            }
        }
        return at - from;
    }

    private boolean openNext() throws IOException {
        if (refused != null) {
            throw refused;
        }
        try {
            while (!opened.hasRemaining()) {
                int before = inAt;
                if (closed || !unwrap()) {
                    return false;
                }
                settle();
                if (inAt == before && !opened.hasRemaining() && !closed) {
                    throw new SSLException("the engine accepts no more records after record " + records);
                }
            }
            return true;
        } catch (SSLException wrong) {
            sayWhy();
            throw wrong;
        }
    }

    /** Does what the engine wants after a record, such as answering new keys with its own. */
    private void settle() throws IOException {
        while (true) {
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK -> runTasks();
                case NEED_WRAP -> wrapAside();
                default -> {
                    // that of OpenSSL wants its alert to be written, by its result alone, and throws when it is asked
                    // once more
                    if (wantsToWrite) {
                        wrapAside();
                        wrapAside();
                    }
                    return;
                }
            }
        }
    }

    /** Opens the next record; returns false if it has not come whole. */
    private boolean unwrap() throws IOException {
        if (lacking() > 0) {
            return false;
        }
        opened.clear();
        try {
            SSLEngineResult result =
                    engine.unwrap(in.limit(inAt + HEAD_BYTES + claimed()).position(inAt), opened);
            inAt = in.position();
            records++;
            wantsToWrite = result.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP;
            closed |= result.getStatus() == Status.CLOSED;
        } finally {
            in.clear();
            opened.flip();
        }
        return true;
    }

    /** Frees what the engine holds outside the heap. Nothing can be sealed or opened afterwards; a second call does nothing. */
    public void close() {
        if (freed.compareAndSet(false, true)) {
            UNFREED.decrementAndGet();
            engines.free(engine);
        }
    }

    /** Returns how many bytes of the program were sealed. */
    public long sealed() {
        return sealed;
    }

    /** Returns whether this side changes its keys by itself. */
    public boolean renewsKeys() {
        return engines.renewKeys();
    }

    /** Returns how many records have been opened, for messages. */
    public long records() {
        return records;
    }
}
