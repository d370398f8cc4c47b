package ferro.backend.tcp.net;

import io.netty.channel.socket.ChannelOutputShutdownException;
import java.io.IOException;
import javax.net.ssl.SSLException;

/**
 * The reasons of failed writes. A channel with Netty's auto-close off stays open after a failed write. The owner of the
 * channel can then read the bytes that arrived before the end of the connection.
 */
public final class WriteErrorClassifier {
    private WriteErrorClassifier() {}

    /**
     * Returns the reason why a write has failed. After a failure Netty shuts down the output, and wraps the reason in
     * another exception.
     */
    public static Throwable reason(Throwable failure) {
        boolean wrapped = failure instanceof ChannelOutputShutdownException && failure.getCause() != null;
        return wrapped ? failure.getCause() : failure;
    }

    /**
     * Returns whether a write has failed because the connection has ended, so that the peer sends nothing more. Any
     * other failure means that this rank lacks a resource, such as memory, or cannot encrypt.
     */
    public static boolean isOfConnection(Throwable failure) {
        Throwable reason = reason(failure);
        return reason instanceof IOException && !(reason instanceof SSLException);
    }
}
