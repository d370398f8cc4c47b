package ferro.tck.cells;

import ferro.Collective;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.util.Arrays;

/**
 * The call of one rank in a group whose last rank makes a different call. The class also checks the memory of the rank
 * after the call.
 *
 * <p>The elements of rank r are the elements of rank 0 times 2 to the power of r. A sum of elements therefore shows
 * which ranks are in the sum. When the call fails, the ranks that made equal calls may have combined some of their own
 * elements. The ranks that made equal calls must not have combined an element of the last rank, whose call differs.
 */
public final class DifferingCall {
    private static final int LENGTH = 64;
    /** Number of elements of an all-gather's input. */
    private static final int PART = 16;

    private final String field;
    private final int rank;
    private final int worldSize;
    private final Operand data;
    private final Operand joined;
    /** Lengths of the parts of an all-gather. */
    private final long[] counts;

    /** Creates the call of one rank. On the last rank the call differs in one field. */
    public DifferingCall(String field, int rank, int worldSize) {
        this.field = field;
        this.rank = rank;
        this.worldSize = worldSize;
        boolean gathers = field.equals("part") || field.equals("counts");
        // in the counts of the last rank, the last rank's own part is the shortest
        counts = counts(worldSize, isOdd() && field.equals("counts"));
        int length = gathers ? (int) counts[rank] : LENGTH + (isOdd() && field.equals("count") ? 1 : 0);
        DataType type = !isOdd() ? DataType.FLOAT32 : typeOfTheOddRank(field);
        // guard elements surround the parts of arrays and of buffers
        Operand.OperandMemory placement =
                rank % 2 == 0 ? Operand.OperandMemory.PART_OF_ARRAY : Operand.OperandMemory.DIRECT_BUFFER;
        data = Operand.unwritten(type, length, placement).fill(index -> bits(index, rank));
        joined = gathers ? Operand.unwritten(type, worldSize * PART, placement) : null;
    }

    /**
     * Returns the lengths of parts. If {@code unequal}, the first part is one element longer, and the last part is one
     * element shorter.
     */
    private static long[] counts(int worldSize, boolean unequal) {
        long[] counts = new long[worldSize];
        Arrays.fill(counts, PART);
        if (unequal) {
            counts[0]++;
            counts[worldSize - 1]--;
        }
        return counts;
    }

    /** Returns a call with parts of unequal length, as the first rank of a group makes it. */
    public static Collective ofUnequalParts(int worldSize) {
        long[] counts = counts(worldSize, true);
        HostTensor own = HostTensor.of(new float[PART + 1]);
        return Collective.allGather(own, HostTensor.of(new float[worldSize * PART]), counts);
    }

    private static DataType typeOfTheOddRank(String field) {
        return switch (field) {
            case "type" -> DataType.INT32;
            case "part" -> DataType.INT64;
            default -> DataType.FLOAT32;
        };
    }

    /** Returns the texts that the message of the failure must contain. Each of the texts describes one call. */
    public static String[] texts(String field) {
        return switch (field) {
            case "kind" -> new String[] {"allReduce", "broadcast"};
            case "count" -> new String[] {"64", "65"};
            case "type" -> new String[] {"f32", "i32"};
            case "op", "reduced" -> new String[] {"sum", "max"};
            case "root" -> new String[] {"root 0", "root 1"};
            case "part" -> new String[] {"f32", "i64"};
            case "counts" -> new String[] {"allGather f32", "in parts of [17,"};
            case "label" -> new String[] {"allReduce \"dense2.weight\" f32", "allReduce \"dense2.bias\" f32"};
            case "no label" -> new String[] {"allReduce \"dense2.weight\" f32", "allReduce f32"};
            case "algorithm" -> new String[] {"ring", "recursiveDoubling"};
            default -> new String[] {"allReduce", "barrier"};
        };
    }

    /** Makes the call. */
    public void make(ProcessGroup group) {
        HostTensor tensor = data.tensor();
        switch (field) {
            case "kind" -> {
                if (isOdd()) {
                    group.broadcast(tensor, 0);
                } else {
                    group.allReduce(tensor, ReduceOp.SUM);
                }
            }
            case "count", "type", "algorithm" -> group.allReduce(tensor, ReduceOp.SUM);
            case "label" ->
                group.labelled(isOdd() ? "dense2.bias" : "dense2.weight").allReduce(tensor, ReduceOp.SUM);
            case "no label" -> (isOdd() ? group : group.labelled("dense2.weight")).allReduce(tensor, ReduceOp.SUM);
            case "op" -> group.allReduce(tensor, isOdd() ? ReduceOp.MAX : ReduceOp.SUM);
            case "root" -> group.broadcast(tensor, isOdd() ? 1 : 0);
            case "reduced" -> group.reduce(tensor, isOdd() ? ReduceOp.MAX : ReduceOp.SUM, 0);
            case "part" -> group.allGather(tensor, joined.tensor());
            case "counts" -> group.allGather(tensor, joined.tensor(), counts);
            case "order" -> {
                if (isOdd()) {
                    group.barrier();
                }
                group.allReduce(tensor, ReduceOp.SUM);
            }
            default -> throw new IllegalArgumentException("no call differs in " + field);
        }
    }

    /** Returns a description of a forbidden change of this rank's memory, or null if no such change has happened. */
    public String wrong() {
        boolean receives = joined == null && !isOdd() && (rank == 0 || !field.equals("reduced"));
        long[] all = data.bits();
        for (int index = 0; index < all.length; index++) {
            long found = all[index];
            boolean right = receives ? isSumOfOthers(index, found) : found == bits(index, rank);
            if (!right) {
                return "element " + index + " of rank " + rank + " of " + worldSize + " has bits "
                        + Long.toHexString(found) + ", had " + Long.toHexString(bits(index, rank));
            }
        }
        if (!data.guardsHold() || joined != null && !joined.guardsHold()) {
            return "elements around the memory of rank " + rank + " of " + worldSize + " were written";
        }
        return joined == null ? null : wrongInParts();
    }

    /**
     * Checks that each gathered part is unwritten or has the elements of its rank. Only the last rank may have the part
     * of the last rank.
     */
    private String wrongInParts() {
        long[] all = joined.bits();
        int index = 0;
        for (int owner = 0; owner < worldSize; owner++) {
            boolean mayHaveArrived = isOdd() ? owner == rank : owner != worldSize - 1;
            for (int at = 0; at < counts[owner]; at++) {
                long found = all[index++];
                if (found != joined.unwrittenBits() && !(mayHaveArrived && found == bits(at, owner))) {
                    return "element " + at + " of part " + owner + " on rank " + rank + " of " + worldSize
                            + " has bits " + Long.toHexString(found);
                }
            }
        }
        return null;
    }

    private boolean isOdd() {
        return rank == worldSize - 1;
    }

    private boolean isSumOfOthers(int index, long found) {
        float ranks = Float.intBitsToFloat((int) found) / base(index);
        int odd = 1 << worldSize - 1;
        return ranks == (int) ranks && ranks > 0 && ranks < 2 * odd && ((int) ranks & odd) == 0;
    }

    private static float base(int index) {
        return index % 97 + 1.5f;
    }

    /** Returns the bits of an element, which are the same for every type. */
    private static long bits(int index, int rank) {
        return Float.floatToRawIntBits(base(index) * (1 << rank));
    }
}
