package ferro.backend.nccl;

/** The kind of stream on which a group communicates, by its owner. */
public enum NcclStreamKind {
    /** A non-blocking stream that the group creates and destroys. */
    OWN,
    /** A stream that the caller creates and destroys. */
    CALLER,
    /** The device's default stream. */
    DEFAULT
}
