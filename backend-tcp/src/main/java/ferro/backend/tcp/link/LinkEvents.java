package ferro.backend.tcp.link;

import ferro.FerroException;
import ferro.spi.CallHeader;
import java.io.IOException;

/** Receives the events of a link for its group, and makes its failures. */
public interface LinkEvents {
    /**
     * Makes the failure of a connection that ended.
     *
     * @param sequence sequence of the oldest receive, 0 if there is none
     * @param progress how far the posts had come
     * @param cause    failure from the kernel, or null
     */
    FerroException ended(long sequence, String progress, IOException cause);

    /**
     * Requests a connection that replaces one that ended.
     *
     * @return false if there can be none
     */
    boolean redial(int epoch);

    /**
     * Reports that the link goes on over a connection that replaces the last one; nothing is lost.
     *
     * @param epoch of the new connection
     * @param ended how this side saw the last connection end; null if the other side replaced it before
     */
    void resumed(int epoch, FerroException ended);

    /** Makes the failure of a connection that ended and has no successor. */
    FerroException redialFailed(FerroException ended, FerroException cause);

    /** Makes the failure of a connection that ended with bytes in flight; -1 if the number is not known. */
    FerroException underWay(FerroException ended, long bytesThere, long bytesHere);

    /** Reports that the link ended with pending posts; called once. */
    void broken(FerroException cause);

    /** Reports that another header came than that of the oldest receive; called once. */
    void mismatched(CallHeader expected, CallHeader found);
}
