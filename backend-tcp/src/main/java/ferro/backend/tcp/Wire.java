package ferro.backend.tcp;

import io.netty.channel.Channel;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The bytes of one data connection: moves what goes now and never waits. Made by {@link DrivenLoop#adopt}; only the
 * driver of that loop may call.
 */
interface Wire {
    /**
     * Writes bytes of a direct buffer, by absolute index.
     *
     * @return how many the kernel took, 0 if it has no room
     */
    int write(ByteBuffer bytes, int from, int to) throws IOException;

    /**
     * Reads into a direct buffer, by absolute index; {@code from} must be below {@code to}.
     *
     * @return how many came, 0 if there is nothing now, -1 at the end of the stream; an end is told only after every
     *     byte before it was read
     */
    int read(ByteBuffer bytes, int from, int to) throws IOException;

    /**
     * Looks whether the other side, or something between, has ended the connection, though bytes before the end may be unread; costs a
     * system call.
     *
     * @throws IOException if it was reset
     */
    boolean ended() throws IOException;

    /** Returns whether a read may bring something: so since the loop saw it, until a read brought nothing. */
    boolean readable();

    /** Returns whether a write may move something: so since the loop saw it, until a write moved nothing. */
    boolean writable();

    /** Says what the next {@link DrivenLoop#block} shall end for. */
    void want(boolean reading, boolean writing);

    /** Closes the connection at once; idempotent. What the kernel has taken still goes out, unless something is unread. */
    void close();

    /** Gives the connection back, which is watched here no more: what the kernel has taken goes out, whatever is unread. */
    Channel release();
}
