package ferro.backend.tcp.link;

import io.netty.channel.Channel;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The byte stream of one data connection. A call moves the bytes that can move now, and never waits. {@link
 * PolledLoop#adopt} creates a socket. Only the thread that polls the loop may call the sockets of the loop.
 */
public interface DataSocket {
    /**
     * Writes bytes of a direct buffer, by absolute index.
     *
     * @return how many bytes the kernel accepted; 0 if the buffer of the kernel is full
     */
    int write(ByteBuffer bytes, int from, int to) throws IOException;

    /**
     * Reads into a direct buffer, by absolute index; {@code from} must be below {@code to}.
     *
     * @return how many bytes were read; 0 if no byte has arrived, -1 at the end of the stream. The end is reported only
     *     after all bytes before the end were read
     */
    int read(ByteBuffer bytes, int from, int to) throws IOException;

    /**
     * Returns whether {@link #writeLent} and {@link #readLent} may be called. All sockets of a loop return the same.
     */
    default boolean takesLent() {
        return false;
    }

    /**
     * Writes like {@link #write}, but from an array or a direct buffer of {@link ferro.ForeignMemory}. May be called
     * only if {@link #takesLent} returns true.
     *
     * @param array array of a {@link ferro.Carrier}, or direct buffer
     * @param from  first byte, counted from the first element of the array, or from index 0 of the buffer
     * @param bytes at most {@link ArraySocketCalls#MOST_BYTES}
     */
    default int writeLent(Object array, long from, int bytes) throws IOException {
        throw new UnsupportedOperationException("cannot write " + bytes + " bytes of an array");
    }

    /** Reads like {@link #read}, but into an array or direct buffer. The parameters are those of {@link #writeLent}. */
    default int readLent(Object array, long from, int bytes) throws IOException {
        throw new UnsupportedOperationException("cannot read " + bytes + " bytes into an array");
    }

    /**
     * Returns whether the peer, or a device in between, has ended the connection. Bytes before the end may be unread.
     * The method costs a system call.
     *
     * @throws IOException if the connection was reset
     */
    boolean ended() throws IOException;

    /** Returns whether a read may return bytes: true from the loop's readable event until a read finds no bytes. */
    boolean readable();

    /** Returns whether a write may move bytes: true from the loop's writable event until a write moves no byte. */
    boolean writable();

    /** Sets the events that end the next {@link PolledLoop#block}. */
    void want(boolean reading, boolean writing);

    /**
     * Returns whether this connection has reached its byte limit and must be replaced. At this limit, the kernel has
     * accepted all written bytes.
     */
    default boolean isAtByteLimit() {
        return false;
    }

    /** Sends the end of the stream after all bytes that the kernel has accepted. Reads are still possible. */
    void endOutput() throws IOException;

    /**
     * Closes the connection at once; idempotent. The kernel still sends the bytes that it has accepted, unless received
     * bytes are unread.
     */
    void close();

    /**
     * Removes the connection from its loop and returns its channel. The kernel still sends the bytes that it has
     * accepted.
     */
    Channel release();
}
