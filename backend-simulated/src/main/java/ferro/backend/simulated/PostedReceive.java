package ferro.backend.simulated;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.spi.CallHeader;

/** One posted receive; reused, so that a call allocates none. */
final class PostedReceive {
    /** The expected call. */
    CallHeader call;
    /** Whether the header must come first and has not arrived. */
    boolean header;
    /** Memory of the receiver. */
    HostTensor into;
    /** First element of {@link #into}. */
    long from;
    /** Size of the elements in bytes. */
    long bytes;
    /** How many of {@link #bytes} have arrived. */
    long taken;
    /** Reduction; null to overwrite. */
    ReduceOp op;

    boolean finished() {
        return !header && taken == bytes;
    }
}
