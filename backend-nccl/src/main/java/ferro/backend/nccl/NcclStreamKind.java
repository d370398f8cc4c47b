package ferro.backend.nccl;

/** Owner of the stream on which a group communicates. */
public enum NcclStreamKind {
    /** A non-blocking stream that the group creates and destroys. */
    OWN,
    /** A stream that the caller creates and destroys. */
    CALLER,
    /** The device's default stream. */
    DEFAULT
}
