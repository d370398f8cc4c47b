package ferro;

import ferro.CollectiveKind.DataShare;
import java.util.Optional;

/**
 * The checks that several kinds of call share. Every message contains the value found and the value needed.
 *
 * <p>Calls whose input and output overlap are rejected, except in the forms that work in place. A call with any other
 * overlap would read early results as input and give wrong numbers. The check for overlaps runs on every call and
 * allocates nothing. For most calls the first comparison is enough. A separate method creates the message of a rejected
 * call, so that the JIT compiler can inline the check. Two buffers are first compared by their addresses modulo 1 GiB,
 * which takes two loads. If the ranges overlap modulo 1 GiB, the full addresses are read, once for each tensor
 * ({@link BufferAddressFinder}). If the JVM does not give addresses, or if memory is mapped twice, an overlap of two buffers
 * is not detected and the call runs.
 */
final class CallChecks {
    /** The counts of a call whose parts have equal lengths. */
    static final long[] EQUAL_PARTS = {};
    /** The result of {@link #distance} if no overlap of the two tensors was detected. */
    private static final long APART = Long.MIN_VALUE;

    private CallChecks() {}

    private static boolean isGiven(long... counts) {
        return counts.length > 0;
    }

    static void present(CollectiveKind kind, String name, Tensor tensor, int root) {
        if (tensor == null) {
            throw new IllegalArgumentException(
                    kind + ": " + name + " is null on the root, rank " + root + ": only the other ranks may pass null");
        }
    }

    /** Throws a NullPointerException if an argument that every rank must have is null. */
    static void given(CollectiveKind kind, String name, Object argument) {
        if (argument == null) {
            throw new NullPointerException(kind + ": " + name + " is null: every rank must have one");
        }
    }

    /**
     * Checks that the owner of the memory of a rank's tensors has not freed the memory. Also checks that the rank may
     * write the tensor of its result.
     */
    static void usable(Collective call, int rank) {
        if (call.reads(rank) instanceof HostTensor read) {
            TensorMemory.checkUsable(read, call.kind().label(), "input", false);
        }
        if (call.writes(rank) instanceof HostTensor written) {
            TensorMemory.checkUsable(written, call.kind().label(), "output", true);
        }
    }

    static void given(CollectiveKind kind, Tensor in, Tensor out) {
        given(kind, "input", in);
        given(kind, "output", out);
    }

    static void sameType(CollectiveKind kind, Tensor in, Tensor out) {
        if (in.dataType() != out.dataType()) {
            throw new IllegalArgumentException(
                    kind + ": input is " + in.dataType().label() + ", output is "
                            + out.dataType().label() + ": both must have the same type");
        }
        if (!place(in).equals(place(out))) {
            throw new IllegalArgumentException(kind + ": input is " + place(in) + ", output is " + place(out)
                    + ": both must be in the same memory");
        }
    }

    /** Checks that the kind supports the op, and that the code of a user-defined op supports the element type. */
    static void op(CollectiveKind kind, ReduceOp op, Tensor operand) {
        if (kind.isScan() && op == ReduceOp.AVG) {
            throw new IllegalArgumentException(
                    kind + ": a scan has no avg, because the number of operands differs between the ranks: use sum, and"
                            + " divide the result");
        }
        Optional<String> reason = op.unsupportedBecause(operand.dataType());
        if (reason.isPresent()) {
            throw new IllegalArgumentException(kind + ": " + reason.get());
        }
        fullRecords(kind, op, "input", operand.elementCount());
    }

    /** Checks that no part splits a record of the op, for a call in which each rank gets a part of the result. */
    static void partsOfRecords(CollectiveKind kind, ReduceOp op, Tensor part, long... counts) {
        fullRecords(kind, op, partName(kind), part.elementCount());
        for (int rank = 0; rank < counts.length; rank++) {
            if (counts[rank] % op.recordElements() != 0) {
                fullRecords(kind, op, "counts[" + rank + "]", counts[rank]);
            }
        }
    }

    private static void fullRecords(CollectiveKind kind, ReduceOp op, String what, long bytes) {
        if (bytes % op.recordElements() != 0) {
            throw new IllegalArgumentException(kind + ": " + what + " has " + bytes + " bytes, not a multiple of the "
                    + op.recordElements() + " bytes of a record of reduction " + op.name());
        }
    }

    private static String place(Tensor tensor) {
        return tensor instanceof DeviceTensor on ? "on device " + on.device() : "in host memory";
    }

    static void length(CollectiveKind kind, String name, Tensor tensor, long need, String like) {
        if (tensor.elementCount() != need) {
            throw new IllegalArgumentException(
                    kind + ": " + name + " has " + tensor.elementCount() + " elements, need " + need + " as " + like);
        }
    }

    /**
     * Checks the length of a rank's own part against the tensor of all parts. Also checks that the part does not
     * overlap the tensor of all parts, except exactly at the part's own offset.
     */
    static void parts(Collective call, int rank, int worldSize) {
        CollectiveKind kind = call.kind();
        Tensor part = call.operand();
        Tensor whole = kind.in() == DataShare.PART ? call.out() : call.in();
        long[] counts = call.inCounts();
        if (kind.combines()) {
            partsOfRecords(kind, call.op(), part, counts);
        }
        long begin = rank * part.elementCount();
        if (isGiven(counts)) {
            total(kind, wholeName(kind), whole, counts, worldSize);
            ownLength(kind, part, counts, rank);
            begin = sum(counts, rank);
        } else if (whole.elementCount() != Math.multiplyExact(part.elementCount(), (long) worldSize)) {
            throw notAll(kind, part, whole, worldSize);
        }
        overlapButOwnPart(kind, part, whole, begin, rank);
    }

    private static void ownLength(CollectiveKind kind, Tensor part, long[] counts, int rank) {
        if (part.elementCount() != counts[rank]) {
            // the text is created only for a failed check, because a call with counts must not allocate
            length(kind, partName(kind), part, counts[rank], "counts[" + rank + "]");
        }
    }

    private static long sum(long[] counts, int upTo) {
        long sum = 0;
        for (int rank = 0; rank < upTo; rank++) {
            sum += counts[rank];
        }
        return sum;
    }

    /** Returns the parameter name of a rank's own part. */
    static String partName(CollectiveKind kind) {
        return kind.in() == DataShare.PART ? "input" : "output";
    }

    /** Returns the parameter name of the tensor of all parts. */
    static String wholeName(CollectiveKind kind) {
        return kind.in() == DataShare.PART ? "output" : "input";
    }

    private static IllegalArgumentException notAll(CollectiveKind kind, Tensor part, Tensor whole, int worldSize) {
        return new IllegalArgumentException(kind + ": " + wholeName(kind) + " has " + whole.elementCount()
                + " elements, need " + part.elementCount() * worldSize + " (world size " + worldSize + " x "
                + partName(kind) + " " + part.elementCount() + ")");
    }

    /** Checks the length of a rank's own part if only another rank has the tensor of all parts. */
    static void ownPart(Collective call, int rank, int worldSize) {
        long[] counts = call.inCounts();
        if (isGiven(counts)) {
            oneEach(call.kind(), counts, worldSize);
            ownLength(call.kind(), call.operand(), counts, rank);
        }
    }

    /** Checks the parts of an all-to-all, which never works in place. */
    static void allToAll(Collective call, int rank, int worldSize) {
        total(call.kind(), "input", call.in(), call.inCounts(), worldSize);
        total(call.kind(), "output", call.out(), call.outCounts(), worldSize);
        ownParts(call, rank, worldSize);
        overlap(call.kind(), call.in(), call.out());
    }

    /**
     * Checks that a rank sends as many elements to itself as it expects from itself. If neither the operand nor the
     * result has counts, operand and result must have the same length.
     */
    private static void ownParts(Collective call, int rank, int worldSize) {
        long inLength = call.in().elementCount();
        if (!call.hasCounts()) {
            length(call.kind(), "output", call.out(), inLength, "input");
            return;
        }
        long[] in = call.inCounts();
        long[] out = call.outCounts();
        long sent = isGiven(in) ? in[rank] : inLength / worldSize;
        long expected = isGiven(out) ? out[rank] : call.out().elementCount() / worldSize;
        if (sent != expected) {
            throw new IllegalArgumentException(
                    call.kind() + ": rank " + rank + " has " + sent + " elements for itself and expects " + expected
                            + ": both counts of a rank for itself must be equal");
        }
    }

    private static void oneEach(CollectiveKind kind, long[] counts, int worldSize) {
        if (counts.length != worldSize) {
            throw new IllegalArgumentException(
                    kind + ": " + counts.length + " counts for world size " + worldSize + ": need one per rank");
        }
    }

    /**
     * Checks that the counts add up to the length of a tensor. If the parts are equal, checks that the world size
     * divides the length.
     */
    static void total(CollectiveKind kind, String name, Tensor tensor, long[] counts, int worldSize) {
        if (!isGiven(counts)) {
            if (tensor.elementCount() % worldSize != 0) {
                throw new IllegalArgumentException(kind + ": " + name + " has " + tensor.elementCount()
                        + " elements, not a multiple of world size " + worldSize);
            }
            return;
        }
        oneEach(kind, counts, worldSize);
        long sum = 0;
        for (long count : counts) {
            if (count < 0) {
                throw new IllegalArgumentException(kind + ": a count is negative: " + count);
            }
            sum = Math.addExact(sum, count);
        }
        if (sum != tensor.elementCount()) {
            throw new IllegalArgumentException(
                    kind + ": counts add up to " + sum + ", " + name + " has " + tensor.elementCount() + " elements");
        }
    }

    /** Rejects an overlap of two tensors, unless the two tensors are the identical range. */
    static void overlapButIdentical(CollectiveKind kind, Tensor in, Tensor out) {
        long distance = distance(in, out);
        if (distance != 0 && distance != APART) {
            throw inOut(kind, in, out, distance, "need the identical range (in place) or separate memory");
        }
    }

    static void overlap(CollectiveKind kind, Tensor in, Tensor out) {
        long distance = distance(in, out);
        if (distance != APART) {
            throw inOut(kind, in, out, distance, "need separate memory: this call never works in place");
        }
    }

    /**
     * Rejects an overlap of a rank's own part with the tensor of all parts, unless the own part begins at the offset of
     * the rank's part. This offset is the element {@code begin} of the tensor of all parts.
     */
    static void overlapButOwnPart(CollectiveKind kind, Tensor part, Tensor whole, long begin, int rank) {
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
        String partName = partName(kind);
        String wholeName = wholeName(kind);
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
     * the tensors do not overlap.
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
        boolean mayMeet = one.isDirect() && other.isDirect() && mayMeet(one, other) && BufferAddressFinder.isKnown();
        return mayMeet ? other.address() - one.address() : APART;
    }

    private static boolean mayMeet(HostTensor one, HostTensor other) {
        int distance = other.addressInGib() - one.addressInGib();
        return (distance & HostTensor.GIB - 1) < one.byteCount()
                || (-distance & HostTensor.GIB - 1) < other.byteCount();
    }

    /**
     * Returns the distance of two device tensors. A template tensor of {@code GpuCollectives} has no memory and the
     * address 0, so it overlaps no tensor.
     */
    private static long onDevice(DeviceTensor one, DeviceTensor other) {
        boolean apart = one.device() != other.device() || one.address() == 0 || other.address() == 0;
        return apart ? APART : other.address() - one.address();
    }
}
