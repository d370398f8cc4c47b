package ferro.backend.tcp;

import ferro.FerroException;
import ferro.spi.CallHeader;
import java.io.IOException;

/** What a link tells its group, and how a failure of it reads. */
interface LinkEvents {
    /**
     * Makes the failure of a connection that ended.
     *
     * @param sequence of the oldest receive, 0 if there is none
     * @param progress how far the posts had come
     * @param cause    what the kernel said, or null
     */
    FerroException ended(long sequence, String progress, IOException cause);

    /**
     * Asks for a connection in the place of one that ended.
     *
     * @return false if there can be none
     */
    boolean redial(int epoch);

    /** The link goes on by a connection in the place of the last one; nothing is lost. */
    void resumed(int epoch);

    /** Makes the failure of a connection that ended and has no successor. */
    FerroException notAgain(FerroException ended, FerroException cause);

    /** Makes the failure of a connection that ended with bytes under way; -1 where it is not known how many. */
    FerroException underWay(FerroException ended, long bytesThere, long bytesHere);

    /** The link ended while something was posted on it; told once. */
    void broken(FerroException cause);

    /** Another header came than the oldest receive's; told once. */
    void mismatched(CallHeader expected, CallHeader found);
}
