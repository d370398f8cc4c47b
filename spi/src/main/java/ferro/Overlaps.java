package ferro;

/**
 * Rejects calls whose input and output overlap, except in the forms that work in place. With an overlap, a call would
 * read early results as input and give wrong numbers.
 *
 * <p>The check runs on every call and allocates nothing. For most calls the first comparison is enough. A separate
 * method creates the message of a rejected call, so that the JIT compiler can inline the rest. Two buffers are first
 * compared by their addresses modulo 1 GiB, which takes two loads. If the ranges overlap modulo 1 GiB, the full
 * addresses are read, once for each tensor ({@link BufferAddress}). If the JVM does not give addresses, or if memory is
 * mapped twice, an overlap of two buffers is not detected and the call runs.
 */
final class Overlaps {
    /** Value of a distance which means that no overlap was detected. */
    private static final long APART = Long.MIN_VALUE;

    private Overlaps() {}

    /** Rejects an overlap of two tensors, unless both are the identical range. */
    static void refuseButIdentical(CollectiveKind kind, Tensor in, Tensor out) {
        long distance = distance(in, out);
        if (distance != 0 && distance != APART) {
            throw inOut(kind, in, out, distance, "need the identical range (in place) or separate memory");
        }
    }

    /** Rejects any overlap of two tensors. */
    static void refuse(CollectiveKind kind, Tensor in, Tensor out) {
        long distance = distance(in, out);
        if (distance != APART) {
            throw inOut(kind, in, out, distance, "need separate memory: this call never works in place");
        }
    }

    /**
     * Rejects an overlap, unless a rank's own part begins at element {@code begin} of the tensor of all parts. Element
     * {@code begin} is the offset of the rank's part.
     */
    static void refuseButOwnPart(CollectiveKind kind, Tensor part, Tensor whole, long begin, int rank) {
        long distance = distance(whole, part);
        if (distance != APART && distance != begin * part.dataType().byteSize()) {
            throw partWhole(kind, part, whole, begin, rank);
        }
    }

    private static IllegalArgumentException inOut(
            CollectiveKind kind, Tensor in, Tensor out, long distance, String need) {
        return new IllegalArgumentException(kind + ": input " + in + " and output " + out + " overlap: output begins "
                + behind(distance) + " input, " + need);
    }

    private static IllegalArgumentException partWhole(
            CollectiveKind kind, Tensor part, Tensor whole, long begin, int rank) {
        String partName = CallChecks.partName(kind);
        String wholeName = CallChecks.wholeName(kind);
        return new IllegalArgumentException(kind + ": " + partName + " " + part + " and " + wholeName + " " + whole
                + " overlap: " + partName + " begins " + behind(distance(whole, part)) + " " + wholeName + ", need "
                + begin * part.dataType().byteSize() + " bytes behind it (rank " + rank
                + "'s own part, in place) or separate memory");
    }

    private static String behind(long distance) {
        return distance == 0
                ? "at the start of"
                : Math.abs(distance) + " bytes " + (distance > 0 ? "behind" : "before") + " the start of";
    }

    /**
     * Returns the distance in bytes from the start of {@code one} to the start of {@code other}, or {@link #APART} if
     * they do not overlap.
     */
    private static long distance(Tensor one, Tensor other) {
        if (one.elementCount() == 0 || other.elementCount() == 0) {
            return APART;
        }
        long distance = one instanceof HostTensor from && other instanceof HostTensor to
                ? onHost(from, to)
                : onDevice((DeviceTensor) one, (DeviceTensor) other);
        // compared by division, since the byte count of a device tensor may not fit into 64 bits
        boolean overlap = distance >= 0
                ? distance / one.dataType().byteSize() < one.elementCount()
                : distance != APART && -distance / other.dataType().byteSize() < other.elementCount();
        return overlap ? distance : APART;
    }

    private static long onHost(HostTensor one, HostTensor other) {
        if (TensorMemory.memoryKey(one) == TensorMemory.memoryKey(other)) {
            long unit = one.isDirect() ? 1 : one.dataType().byteSize();
            return (TensorMemory.memoryOffset(other) - TensorMemory.memoryOffset(one)) * unit;
        }
        boolean mayMeet = one.isDirect() && other.isDirect() && mayMeet(one, other) && BufferAddress.isKnown();
        return mayMeet ? other.address() - one.address() : APART;
    }

    private static boolean mayMeet(HostTensor one, HostTensor other) {
        int distance = other.addressInGib() - one.addressInGib();
        return (distance & ElementMemory.GIB - 1) < one.byteCount()
                || (-distance & ElementMemory.GIB - 1) < other.byteCount();
    }

    /**
     * Returns the distance of two device tensors. A template tensor of {@code GpuCollectives} has no memory and address
     * 0; it overlaps nothing.
     */
    private static long onDevice(DeviceTensor one, DeviceTensor other) {
        boolean apart = one.device() != other.device() || one.address() == 0 || other.address() == 0;
        return apart ? APART : other.address() - one.address();
    }
}
