package ferro.backend.nccl;

import ferro.backend.nccl.ffi.Cuda;

/** Owner of the stream that a group communicates on. */
public enum NcclStreamKind {
    /** A non-blocking one that the group made and destroys. */
    OWN,
    /** One that the caller made and destroys. */
    CALLER,
    /** The device's default stream. */
    DEFAULT;

    static NcclStreamKind of(CudaStream stream) {
        if (stream.owned()) {
            return OWN;
        }
        return stream.handle() == Cuda.DEFAULT_STREAM ? DEFAULT : CALLER;
    }
}
