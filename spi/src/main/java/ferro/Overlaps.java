package ferro;

import java.nio.ByteBuffer;

/**
 * Refuses calls whose input and output overlap for certain, but for the forms that work in place: what is written early would be
 * read as input, and give wrong numbers.
 *
 * <p>Made on every call: nothing is allocated (what is said of a wrong call stands apart, so that the compiler sees the rest at
 * once), and most calls end at the first comparison. Two buffers are compared by their
 * addresses modulo 1 GiB, which are two loads; only where these meet are whole ones asked for, once for each tensor ({@link BufferAddress}).
 * Where the JVM does not tell them, and of memory that is mapped twice, it is not known whether they overlap: the call runs.
 */
final class Overlaps {
    /** In place of a distance: two tensors that have no memory in common, as far as is known. */
    private static final long APART = Long.MIN_VALUE;

    private Overlaps() {}

    /** Refuses an overlap, but for the identical range. */
    static void refuseButIdentical(CollectiveKind kind, Tensor in, Tensor out) {
        long distance = distance(in, out);
        if (distance != 0 && distance != APART) {
            throw inOut(kind, in, out, distance, "need the identical range (in place) or memory of its own");
        }
    }

    /** Refuses any overlap. */
    static void refuse(CollectiveKind kind, Tensor in, Tensor out) {
        long distance = distance(in, out);
        if (distance != APART) {
            throw inOut(kind, in, out, distance, "need memory of its own: this call never works in place");
        }
    }

    /** Refuses an overlap, but for a rank's own part where it begins in the tensor of all parts, in elements. */
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
                + "'s own part, in place) or memory of its own");
    }

    private static String behind(long distance) {
        return distance == 0
                ? "at the start of"
                : Math.abs(distance) + " bytes " + (distance > 0 ? "behind" : "before") + " the start of";
    }

    /** Returns how many bytes behind the start of one the other begins, if they overlap. */
    private static long distance(Tensor one, Tensor other) {
        if (one.elementCount() == 0 || other.elementCount() == 0) {
            return APART;
        }
        long distance = one instanceof HostTensor from && other instanceof HostTensor to
                ? onHost(from, to)
                : onDevice((DeviceTensor) one, (DeviceTensor) other);
        // by division, since the bytes of a device tensor may be more than 64 bits hold
        boolean overlap = distance >= 0
                ? distance / one.dataType().byteSize() < one.elementCount()
                : distance != APART && -distance / other.dataType().byteSize() < other.elementCount();
        return overlap ? distance : APART;
    }

    private static long onHost(HostTensor one, HostTensor other) {
        Object memory = one.memory();
        if (memory == other.memory()) {
            long unit = memory instanceof ByteBuffer ? 1 : one.dataType().byteSize();
            return (other.offset() - one.offset()) * unit;
        }
        boolean mayMeet = memory instanceof ByteBuffer
                && other.memory() instanceof ByteBuffer
                && mayMeet(one, other)
                && BufferAddress.isKnown();
        return mayMeet ? other.address() - one.address() : APART;
    }

    private static boolean mayMeet(HostTensor one, HostTensor other) {
        int distance = other.addressInGib() - one.addressInGib();
        return (distance & HostTensor.GIB - 1) < one.byteCount()
                || (-distance & HostTensor.GIB - 1) < other.byteCount();
    }

    /** A template of {@code GpuCollectives} has no memory yet, and address 0. */
    private static long onDevice(DeviceTensor one, DeviceTensor other) {
        boolean apart = one.device() != other.device() || one.address() == 0 || other.address() == 0;
        return apart ? APART : other.address() - one.address();
    }
}
