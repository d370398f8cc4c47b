package ferro.backend.tcp.net;

import ferro.backend.tcp.net.TlsProvider.TlsEngineFactory;
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
 * One side of a TLS connection, without a socket. A session turns program bytes into TLS records and back. The caller
 * writes the bytes of {@link #outgoing} to the connection and puts received bytes into {@link #incoming}. Not
 * thread-safe.
 *
 * <p>The memory of a session grows to the size of its batches. After that, a session allocates nothing, but the JDK's
 * engine still allocates.
 */
public final class TlsSession {
    /** Maximum number of program bytes in one record (RFC 8446, 5.1). */
    public static final int RECORD_BYTES = 16 << 10;
    /**
     * Number of program bytes that are encrypted (sealed) in one record. The JDK's engine counts the record's type and
     * tag as part of the 16 KiB. With 16 KiB of program bytes, the engine would put the last 17 bytes into a second
     * record, which is a tenth slower.
     */
    public static final int SEALED_BYTES = RECORD_BYTES - 17;
    /** Maximum number of program bytes that are encrypted at once, which is one write of 240 KiB. */
    public static final int BATCH_BYTES = 15 * SEALED_BYTES;

    /** Length of the head of a record: type, version and length (RFC 8446, 5.1). */
    private static final int HEAD_BYTES = 5;
    /** Maximum number of bytes that encryption may add to a record (RFC 8446, 5.2). */
    private static final int EXPANSION_BYTES = 256;
    /** The lowest record type, which is a change of cipher. The highest record type is application data. */
    private static final int FIRST_KIND = 20;

    private static final int LAST_KIND = 23;
    private static final int VERSION_MAJOR = 3;

    private static final int FIRST_MEMORY = 2 * (HEAD_BYTES + RECORD_BYTES + EXPANSION_BYTES);
    private static final int MOST_INCOMING = 256 << 10;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final AtomicInteger UNFREED = new AtomicInteger();

    private final SSLEngine engine;
    private final PinnedTrustManager trust;
    private final TlsEngineFactory engines;
    /** Buffer for one record of the engine. The engine requires space for the largest record. */
    private final ByteBuffer aside;
    /** Program bytes before their encryption. */
    private final ByteBuffer clear;
    /** Decrypted bytes that the caller has not received yet, from the position to the limit of the buffer. */
    private final ByteBuffer opened;

    private ByteBuffer out;
    private int outAt;
    private int outEnd;
    /** The ends of the records that {@link #seal} has made and that are not written completely. */
    private final int[] ends = new int[2 * BATCH_BYTES / SEALED_BYTES];

    /** For each record in {@link #ends}, the number of program bytes in the record. */
    private final int[] contents = new int[ends.length];

    private int firstEnd;
    private int lastEnd;
    private ByteBuffer in;
    private int inAt;
    private int inEnd;
    private long records;
    private long sealed;
    private final AtomicBoolean freed = new AtomicBoolean();
    /** Whether the engine has asked to write a record of its own since the last call of {@link #wrapAside}. */
    private boolean wantsToWrite;

    private boolean over;
    private boolean closed;
    /** The reason why the caller receives no more bytes; thrown after the caller has received all earlier bytes. */
    private IOException refused;

    TlsSession(SSLEngine engine, PinnedTrustManager trust, TlsEngineFactory engines) {
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

    /**
     * Returns how many sessions were not {@link #close closed}. The garbage collector does not free the engine of a
     * session.
     */
    public static int unfreed() {
        return UNFREED.get();
    }

    /** Returns whether the handshake is complete, so that program bytes may be sent and received. */
    boolean isOver() {
        return over;
    }

    /** Returns whether this side is the connecting side, which has sent first. */
    boolean isConnecting() {
        return engine.getUseClientMode();
    }

    /** Returns whether the peer has announced that it sends nothing more. */
    public boolean isClosed() {
        return closed;
    }

    /** Returns whether this side has refused the key or the certificates of the peer. */
    boolean hasRefusedKey() {
        return trust.refused() != null;
    }

    /**
     * Returns whether the peer has ended the connection by an alert, because the peer refused data of this side. The
     * JDK and OpenSSL show an alert only in the text of the exception.
     */
    public static boolean isAlert(IOException failure) {
        return String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT).contains("alert");
    }

    /** Returns whether an alert refuses this side's certificate. All providers write "certificate" into such alerts. */
    static boolean isOfACertificate(IOException alert) {
        return alert.getMessage().toLowerCase(Locale.ROOT).contains("certificate");
    }

    /** Returns how often the key of the peer was checked: once in the handshake, and once after the handshake. */
    int checks() {
        return trust.asked();
    }

    /**
     * Continues the handshake as far as the received records allow. Records may wait to be written even if this method
     * fails.
     *
     * @return whether the handshake is complete
     * @throws IOException if the peer has another key than the expected one, or does not speak TLS
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
            // the engine may have replaced the text of the trust manager's exception
            throw trust.refused() == null ? wrong : new SSLHandshakeException(trust.refused());
        }
    }

    /**
     * Returns whether the engine needs no further record of the handshake. OpenSSL's engine may report this only after
     * one more call of the engine.
     */
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

    /** Checks key and certificates again, because an engine that resumes a session does not check them. */
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

    /** If the engine has an alert to send, adds the alert to the records that wait to be written. */
    private void sayWhy() {
        try {
            if (engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP) {
                wrapAside();
            }
        } catch (IOException none) {
            closed = true;
        }
    }

    /** Adds a record that the engine itself produces to the waiting records. */
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
     * Encrypts (seals) program bytes, and adds the records to the waiting records.
     *
     * @param bytes buffer, read by absolute index
     * @param from  index of the first byte
     * @param to    index after the last byte; at most {@link #BATCH_BYTES} are encrypted
     * @return how many bytes were encrypted
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

    /**
     * Stores the end and the content length of the last record. If no entry is free, extends the last entry to this
     * record.
     */
    private void note(int content) {
        boolean hasRoom = lastEnd < ends.length;
        int slot = hasRoom ? lastEnd++ : ends.length - 1;
        ends[slot] = outEnd;
        contents[slot] = hasRoom ? content : contents[slot] + content;
    }

    /** Returns how many program bytes are in records that were completely written since the last call. */
    public int left() {
        int bytes = 0;
        for (; firstEnd < lastEnd && ends[firstEnd] <= outAt; firstEnd++) {
            bytes += contents[firstEnd];
        }
        return bytes;
    }

    /** Returns how many record bytes wait to be written. */
    public int waiting() {
        return outEnd - outAt;
    }

    /** Returns the memory with records to write, from {@link #outgoingAt} on: an array, or memory outside the heap. */
    public ByteBuffer outgoing() {
        return out.clear();
    }

    /** Returns the index of the next byte to write. */
    public int outgoingAt() {
        return outAt;
    }

    /** Records that {@code bytes} bytes of records were written. */
    public void written(int bytes) {
        outAt += bytes;
    }

    /** Returns the memory for received records, from index {@link #incomingAt} on, for at most {@link #room} bytes. */
    public ByteBuffer incoming() {
        return in.clear();
    }

    /** Returns the index for the next received byte. */
    public int incomingAt() {
        return inEnd;
    }

    /** Frees space for at least one more record, and returns how many bytes fit. */
    public int room() {
        if (inAt > 0) {
            in.clear().put(0, in, inAt, inEnd - inAt);
            inEnd -= inAt;
            inAt = 0;
        }
        return in.capacity() - inEnd;
    }

    /** Records that {@code bytes} bytes were received. After a read that has filled all space, the memory grows. */
    public void came(int bytes) {
        in.clear();
        inEnd += bytes;
        if (inEnd == in.capacity() && inEnd < MOST_INCOMING) {
            in = engines.memory(Math.min(MOST_INCOMING, 4 * inEnd)).put(0, in.clear(), 0, inEnd);
        }
    }

    /** Returns how many bytes of the next record or its head are missing; 0 if a complete record has arrived. */
    int lacking() throws IOException {
        int there = inEnd - inAt;
        return there < HEAD_BYTES ? HEAD_BYTES - there : Math.max(0, HEAD_BYTES + length() - there);
    }

    /** Returns whether {@link #open} can return bytes, or fail, without further received bytes. */
    public boolean ready() {
        return opened.hasRemaining()
                || refused != null
                || inEnd - inAt >= HEAD_BYTES && inEnd - inAt >= HEAD_BYTES + claimed();
    }

    private int claimed() {
        return (in.get(inAt + 3) & 0xFF) << 8 | in.get(inAt + 4) & 0xFF;
    }

    /**
     * Returns the length of the next record without its head. Throws if the head is invalid, instead of waiting for
     * more bytes.
     */
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
     * Decrypts program bytes from the received records into a buffer. After the call, records may wait to be written,
     * because the peer may ask for new keys.
     *
     * @param into buffer, written by absolute index
     * @param from index of the first byte
     * @param to   index after the last byte
     * @return how many bytes were decrypted; fewer than requested if more records must arrive first
     * @throws IOException if a record was changed in transit, or the peer has ended the connection by an alert
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

    /** Does what the engine requires after a record, such as answering a change of keys. */
    private void settle() throws IOException {
        while (true) {
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK -> runTasks();
                case NEED_WRAP -> wrapAside();
                default -> {
                    // OpenSSL's engine asks for the write of its alert only by the result of unwrap, and the second
                    // wrap throws the reason
                    if (wantsToWrite) {
                        wrapAside();
                        wrapAside();
                    }
                    return;
                }
            }
        }
    }

    /** Decrypts the next record. Returns false if the record has not arrived completely. */
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

    /** Frees the engine's memory outside the heap. The session is then unusable. A second call does nothing. */
    public void close() {
        if (freed.compareAndSet(false, true)) {
            UNFREED.decrementAndGet();
            engines.free(engine);
        }
    }

    /** Returns how many program bytes were encrypted in total. */
    public long sealed() {
        return sealed;
    }

    /** Returns whether the engine of this side renews its keys itself. */
    public boolean renewsKeys() {
        return engines.renewKeys();
    }

    /** Returns how many records have been decrypted, for messages. */
    public long records() {
        return records;
    }
}
