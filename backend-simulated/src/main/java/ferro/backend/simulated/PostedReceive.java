package ferro.backend.simulated;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.spi.CallHeader;

/** One posted receive; reused, so that a call allocates none. */
final class PostedReceive {
    /** The expected call. */
    CallHeader call;
    /** Whether the header must come first and has not come. */
    boolean header;
    /** Memory of the receiver. */
    HostTensor into;
    /** First element of {@link #into}. */
    long from;
    /** Length of the elements. */
    long bytes;
    /** How many of {@link #bytes} are there. */
    long taken;
    /** Reduction, or null to overwrite. */
    ReduceOp op;
    /** The next receive of the circle. */
    PostedReceive next = this;

    boolean finished() {
        return !header && taken == bytes;
    }
}
