package ferro.backend.nccl.memory;

import ferro.backend.nccl.ffi.Cuda;

/** A copy between addresses; {@code kind} is a {@code cudaMemcpyKind}. */
record RawCopy(long to, long from, long bytes, int kind) {
    /** Returns the direction of the copy as text for messages. */
    String direction() {
        return switch (kind) {
            case Cuda.HOST_TO_DEVICE -> "H2D";
            case Cuda.DEVICE_TO_HOST -> "D2H";
            default -> "D2D";
        };
    }
}
