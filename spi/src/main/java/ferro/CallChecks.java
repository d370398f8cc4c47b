package ferro;

import ferro.CollectiveKind.Held;
import java.util.Optional;

/** The checks that several kinds of call share. Every message contains the value found and the value needed. */
final class CallChecks {
    /** The counts of a call whose parts have equal lengths. */
    static final long[] EQUAL_PARTS = {};

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
     * Checks that the owner of the tensors of a rank has not freed their memory, and that the rank may write what it
     * has to write.
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

    /** Checks that the kind has the op, and that the code of a user-defined op supports the element type. */
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

    /** Checks that the records of an op are in one part each, where each rank gets a part of the result. */
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
        Tensor whole = kind.in() == Held.PART ? call.out() : call.in();
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
        Overlaps.refuseButOwnPart(kind, part, whole, begin, rank);
    }

    private static void ownLength(CollectiveKind kind, Tensor part, long[] counts, int rank) {
        if (part.elementCount() != counts[rank]) {
            // the text is made only here, because a call with counts must not allocate for them
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
        return kind.in() == Held.PART ? "input" : "output";
    }

    /** Returns the parameter name of the tensor of all parts. */
    static String wholeName(CollectiveKind kind) {
        return kind.in() == Held.PART ? "output" : "input";
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
        Overlaps.refuse(call.kind(), call.in(), call.out());
    }

    /**
     * Checks that a rank sends as many elements to itself as it expects from itself. If neither side has
     * counts, input and output must have the same length.
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
}
