package ferro.backend.tcp.link;

import io.netty.channel.Channel;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The bytes of one data connection. Moves the bytes that can be moved now and never waits. Made by
 * {@link PolledLoop#adopt}; only the thread that polls that loop may call.
 */
public interface DataSocket {
    /**
     * Writes bytes of a direct buffer, by absolute index.
     *
     * @return how many the kernel took, 0 if it has no room
     */
    int write(ByteBuffer bytes, int from, int to) throws IOException;

    /**
     * Reads into a direct buffer, by absolute index; {@code from} must be below {@code to}.
     *
     * @return how many came, 0 if there is nothing now, -1 at the end of the stream; the end is reported only after every
     *     byte before it was read
     */
    int read(ByteBuffer bytes, int from, int to) throws IOException;

    /** Returns whether {@link #writeLent} and {@link #readLent} may be called; the same for all sockets of a loop. */
    default boolean takesLent() {
        return false;
    }

    /**
     * As {@link #write}, for bytes of an array or of a direct buffer of {@link ferro.ForeignMemory}; only where
     * {@link #takesLent} returns true.
     *
     * @param array array of a {@link ferro.Carrier}, or direct buffer
     * @param from  first byte, counted from the first element of the array, or from index 0 of the buffer
     * @param bytes at most {@link ArrayCalls#MOST_BYTES}
     */
    default int writeLent(Object array, long from, int bytes) throws IOException {
        throw new UnsupportedOperationException("cannot write " + bytes + " bytes of an array");
    }

    /** As {@link #read}, for bytes of an array or of a direct buffer; the parameters are those of {@link #writeLent}. */
    default int readLent(Object array, long from, int bytes) throws IOException {
        throw new UnsupportedOperationException("cannot read " + bytes + " bytes into an array");
    }

    /**
     * Returns whether the other side, or something in between, has ended the connection. Bytes before the end may be unread.
     * Costs a system call.
     *
     * @throws IOException if it was reset
     */
    boolean ended() throws IOException;

    /** Returns whether a read may bring bytes: true since the loop saw the socket readable, until a read brought nothing. */
    boolean readable();

    /** Returns whether a write may move bytes: true since the loop saw the socket writable, until a write moved nothing. */
    boolean writable();

    /** Sets the events that end the next {@link PolledLoop#block}. */
    void want(boolean reading, boolean writing);

    /**
     * Returns whether this connection has carried as much as it should, so that another one is to take its place. All that was
     * written has left it then.
     */
    default boolean isWorn() {
        return false;
    }

    /** Tells the other side that nothing more comes, behind all that the kernel has taken; reading goes on. */
    void endOutput() throws IOException;

    /** Closes the connection at once; idempotent. Bytes that the kernel has taken still go out, unless bytes are unread. */
    void close();

    /** Returns the connection, which is no longer watched here; the bytes that the kernel has taken go out in any case. */
    Channel release();
}
