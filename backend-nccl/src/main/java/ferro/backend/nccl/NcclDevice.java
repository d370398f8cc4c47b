package ferro.backend.nccl;

/**
 * A device that a caller names to create communicators.
 *
 * @param kind    {@code CUDA} for a GPU, the only kind that NCCL accepts
 * @param ordinal number among the devices of its kind, from 0
 */
public record NcclDevice(DeviceKind kind, int ordinal) {
    /** Kind of device. */
    public enum DeviceKind {
        /** A GPU, of NVIDIA or, under ROCm, of AMD. */
        CUDA,
        /** Host memory. */
        CPU
    }

    /**
     * Checks that the number is not negative.
     *
     * @param kind    GPU or host memory
     * @param ordinal from 0
     * @throws IllegalArgumentException if {@code ordinal} is negative
     */
    public NcclDevice {
        if (ordinal < 0) {
            throw new IllegalArgumentException("device ordinal " + ordinal + " is negative: the first device is 0");
        }
    }

    /**
     * Names a GPU.
     *
     * @param ordinal number of the GPU in the CUDA runtime
     * @return device
     */
    public static NcclDevice cuda(int ordinal) {
        return new NcclDevice(DeviceKind.CUDA, ordinal);
    }

    /** {@return host memory, a device that NCCL refuses} */
    public static NcclDevice cpu() {
        return new NcclDevice(DeviceKind.CPU, 0);
    }

    @Override
    public String toString() {
        return kind == DeviceKind.CPU ? "CPU" : "CUDA device " + ordinal;
    }
}
