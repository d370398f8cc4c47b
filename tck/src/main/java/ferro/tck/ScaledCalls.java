package ferro.tck;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.group.ProcessGroup;
import ferro.tck.cells.Calls;
import ferro.tck.cells.Numbers;
import ferro.tck.cells.Operand;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.LongUnaryOperator;

/** The scaled reductions of one rank on one element type. All ops combine the same elements. */
final class ScaledCalls {
    /** A factor that f32 represents exactly. Types with fewer bits do not represent this factor exactly. */
    static final double FACTOR = 0.3f;

    private static final List<CollectiveKind> KINDS = Calls.kinds(kind -> kind.combines() && !kind.isScan());

    private final Subject subject;
    private final ProcessGroup group;
    private final DataType type;
    /** Generated elements, by rank and length. */
    private final Map<Long, long[]> made = new HashMap<>();

    ScaledCalls(Subject subject, ProcessGroup group, DataType type) {
        this.subject = subject;
        this.group = group;
        this.type = type;
    }

    /**
     * Compares the result of {@code op} with the changed result of {@code other}. The function {@code before} changes
     * the operands of {@code other}. The function {@code after} changes the result of {@code other}.
     */
    void compare(ReduceOp op, ReduceOp other, LongUnaryOperator before, LongUnaryOperator after) {
        for (int length : lengths()) {
            for (CollectiveKind kind : KINDS) {
                for (boolean inPlace : new boolean[] {false, true}) {
                    long[] found = result(kind, length, inPlace, op, own -> own);
                    long[] need = result(kind, length, inPlace, other, before);
                    same(kind + (inPlace ? " in place" : ""), op, found, need, after);
                }
            }
        }
    }

    /** Compares an average of two ranks with the mean of their elements, which this method computes. */
    void compareMean() {
        for (int length : lengths()) {
            long[] found = result(CollectiveKind.ALL_REDUCE, length, false, ReduceOp.AVG, own -> own);
            long[] first = elements(0, length);
            long[] second = elements(1, length);
            long[] need = new long[length];
            for (int i = 0; i < length; i++) {
                double sum = Numbers.toDouble(type, first[i]) + Numbers.toDouble(type, second[i]);
                need[i] = Numbers.ofDouble(type, sum / 2);
            }
            same("allReduce", ReduceOp.AVG, found, need, mean -> mean);
        }
    }

    private void same(String kind, ReduceOp op, long[] found, long[] need, LongUnaryOperator after) {
        for (int i = 0; i < found.length; i++) {
            long right = after.applyAsLong(need[i]);
            if (found[i] != right) {
                throw new AssertionError(op + " of " + found.length + " " + type.label() + " by " + kind + " on rank "
                        + group.rank() + " of " + group.worldSize() + ": element " + i + " has bits "
                        + Long.toHexString(found[i]) + ", need " + Long.toHexString(right));
            }
        }
    }

    /** Returns the lengths to check. For f32 on three ranks, one length has parts that are longer than a segment. */
    private int[] lengths() {
        boolean isLong = type == DataType.FLOAT32 && group.worldSize() == 3;
        return isLong ? new int[] {1, 6, 840, 3 * subject.aboveASegment()} : new int[] {1, 6, 840};
    }

    /** Returns the elements of a rank, the same for every call. */
    private long[] elements(int rank, int length) {
        return made.computeIfAbsent((long) rank << 32 | length, key -> random(rank, length));
    }

    private long[] random(int rank, int length) {
        Random random = new Random(31L * rank + type.ordinal());
        long[] elements = new long[length];
        for (int i = 0; i < length; i++) {
            elements[i] = Numbers.isFloating(type)
                    ? Numbers.ofDouble(type, random.nextGaussian())
                    : Numbers.narrow(type, random.nextLong());
        }
        return elements;
    }

    private long[] result(CollectiveKind kind, int length, boolean inPlace, ReduceOp op, LongUnaryOperator before) {
        int rank = group.rank();
        boolean scatters = kind.hasParts();
        int used = scatters ? length / group.worldSize() * group.worldSize() : length;
        int part = scatters ? used / group.worldSize() : used;
        long[] elements = elements(rank, used);
        Operand in = Operand.unwritten(type, used, Operand.OperandMemory.of(rank + length));
        in.fill(index -> before.applyAsLong(elements[index]));
        Operand fresh = Operand.unwritten(type, part, Operand.OperandMemory.of(rank + 1));
        try (OnDevice device = OnDevice.of(subject, rank)) {
            Tensor operand = device.tensor(in.tensor());
            Tensor result = !inPlace
                    ? device.tensor(fresh.tensor())
                    : scatters ? device.tensor(in.tensor().slice((long) rank * part, part)) : operand;
            Calls.run(group, Calls.of(kind, operand, result, op, 0));
            device.readBack();
        }
        if (kind == CollectiveKind.REDUCE && rank != 0) {
            return new long[0];
        }
        long[] bits = (inPlace ? in : fresh).bits();
        return inPlace && scatters ? Arrays.copyOfRange(bits, rank * part, (rank + 1) * part) : bits;
    }
}
