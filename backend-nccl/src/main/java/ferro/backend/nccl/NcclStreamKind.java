package ferro.backend.nccl;

/** Owner of the stream that a group communicates on. */
public enum NcclStreamKind {
    /** A non-blocking one that the group made and destroys. */
    OWN,
    /** One that the caller made and destroys. */
    CALLER,
    /** The device's default stream. */
    DEFAULT
}
