package ferro.backend.tcp.link;

import ferro.FerroException;
import ferro.spi.CallHeader;
import java.io.IOException;

/** The receiver of the events of a link. The receiver also creates the failures of the link for its group. */
public interface LinkListener {
    /**
     * Creates the failure of a data connection that ended.
     *
     * @param sequence sequence of the oldest receive, 0 if no receive is posted
     * @param progress text for messages about how far the posts are
     * @param cause    failure from the kernel, or null
     */
    FerroException ended(long sequence, String progress, IOException cause);

    /**
     * Requests a connection with the given epoch, in place of a connection that ended.
     *
     * @return false if no connection can be made
     */
    boolean redial(int epoch);

    /**
     * Reports that the link continues over a new connection in place of the last connection. No bytes are lost.
     *
     * @param epoch number of the new connection
     * @param ended failure that ended the last connection on this side; null if the peer replaced the connection before
     *     its end
     */
    void resumed(int epoch, FerroException ended);

    /** Creates the failure of a connection that ended and cannot be replaced. */
    FerroException redialFailed(FerroException ended, FerroException cause);

    /**
     * Creates the failure of a connection that ended with bytes in flight. A number of bytes is -1 if it is unknown.
     */
    FerroException underWay(FerroException ended, long bytesThere, long bytesHere);

    /** Reports that the link has failed while posts are pending; called once. */
    void broken(FerroException cause);

    /** Reports that the received header differs from the header of the oldest receive; called once. */
    void mismatched(CallHeader expected, CallHeader found);
}
