package ferro.backend.tcp.net;

import io.netty.channel.socket.ChannelOutputShutdownException;
import java.io.IOException;
import javax.net.ssl.SSLException;

/**
 * The reasons of failed writes. Without Netty's auto-close, a channel stays open after a failed write. The owner of the
 * channel can then read the bytes that arrived before the end of the connection.
 */
public final class WriteErrorClassifier {
    private WriteErrorClassifier() {}

    /** Returns the reason why a write has failed. Netty shuts down the output after a failure, and wraps the reason. */
    public static Throwable reason(Throwable failure) {
        boolean wrapped = failure instanceof ChannelOutputShutdownException && failure.getCause() != null;
        return wrapped ? failure.getCause() : failure;
    }

    /**
     * Returns whether a write has failed because the connection has ended, so that the peer sends nothing more. Any
     * other failure shows that this rank lacks a resource, such as memory, or cannot encrypt.
     */
    public static boolean isOfConnection(Throwable failure) {
        Throwable reason = reason(failure);
        return reason instanceof IOException && !(reason instanceof SSLException);
    }
}
