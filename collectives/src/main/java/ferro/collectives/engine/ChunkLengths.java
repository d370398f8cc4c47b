package ferro.collectives.engine;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.Tensor;
import ferro.collectives.plan.Region;
import java.util.Arrays;

/**
 * The lengths of the chunks into which a plan cuts the elements of an operation. Without counts, chunks are equal, but
 * the first chunks are one element longer if the length does not divide evenly. In the v-forms of calls, the caller
 * gives the length of each chunk as a count. Immutable.
 *
 * <p>Counts are equal on all ranks, except for an all-to-all. In an all-to-all, a rank has only the counts of what it
 * sends and of what it receives. So in an all-to-all, the chunks of the operand and of the result have different
 * lengths. The sender and the receiver of a message still have the same length for the message.
 */
public final class ChunkLengths {
    private final long elements;
    private final int recordElements;

    private final long[] inCounts;
    private final long[] outCounts;
    private final long[] inStarts;
    private final long[] outStarts;

    private ChunkLengths(long elements, long[] inCounts, long[] outCounts, int recordElements) {
        this.elements = elements;
        this.recordElements = recordElements;
        this.inCounts = inCounts;
        this.outCounts = outCounts;
        this.inStarts = inCounts == null ? null : starts(inCounts);
        this.outStarts = outCounts == null ? null : starts(outCounts);
    }

    /** Returns equal chunks of {@code elements} elements in total. */
    public static ChunkLengths equal(long elements) {
        return new ChunkLengths(elements, null, null, 1);
    }

    /** Returns chunks with the given lengths, which are equal on all ranks. */
    static ChunkLengths of(long... counts) {
        return of(counts, counts);
    }

    static ChunkLengths of(long[] inCounts, long[] outCounts) {
        return new ChunkLengths(Arrays.stream(inCounts).sum(), inCounts.clone(), outCounts.clone(), 1);
    }

    static ChunkLengths of(Collective call, int worldSize) {
        if (!needsCounts(call)) {
            return equal(elements(call, worldSize));
        }
        long[] in = call.inCounts();
        long[] out = call.outCounts();
        return of(in.length == 0 ? even(call, worldSize) : in, out.length == 0 ? even(call, worldSize) : out);
    }

    /** Returns equal counts for the side of an all-to-all that has no counts. */
    private static long[] even(Collective call, int worldSize) {
        long[] counts = new long[worldSize];
        Arrays.fill(counts, partOf(call.inCounts().length == 0 ? call.in() : call.out(), worldSize));
        return counts;
    }

    private static long partOf(Tensor tensor, int worldSize) {
        return tensor.elementCount() / worldSize;
    }

    /**
     * Returns whether the plan of a call depends on its counts. A call with equal counts has the same plan as a call
     * without counts. The plan of an all-to-all with counts always depends on the counts, because other ranks may have
     * unequal counts and all ranks need the same plan.
     */
    static boolean needsCounts(Collective call) {
        return call.hasCounts()
                && (call.kind() == CollectiveKind.ALL_TO_ALL || !areAll(call.inCounts()[0], call.inCounts()));
    }

    private static boolean areAll(long count, long... counts) {
        for (long each : counts) {
            if (each != count) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the number of elements of the whole operation, which is the length of the longer tensor. In a gather or
     * scatter, only the root has the longer tensor.
     */
    static long elements(Collective call, int worldSize) {
        CollectiveKind kind = call.kind();
        if (kind == CollectiveKind.GATHER || kind == CollectiveKind.SCATTER) {
            return call.hasCounts()
                    ? sum(call.inCounts())
                    : worldSize * call.operand().elementCount();
        }
        if (kind == CollectiveKind.ALL_GATHER) {
            return call.out().elementCount();
        }
        return call.in() == null ? 0 : call.in().elementCount();
    }

    private static long sum(long... counts) {
        long sum = 0;
        for (long count : counts) {
            sum += count;
        }
        return sum;
    }

    /** Returns a copy of these parts with each length multiplied by {@code others}. */
    ChunkLengths times(int others) {
        if (others == 1) {
            return this;
        }
        return areEqual() ? equal(elements * others) : of(times(inCounts, others), times(outCounts, others));
    }

    /**
     * Returns the same parts counted in records of {@code elementsOfRecord} elements, so that no part and no piece of a
     * part splits a record. The length of each part must be a multiple of {@code elementsOfRecord}.
     */
    public ChunkLengths inRecords(int elementsOfRecord) {
        if (elementsOfRecord == 1) {
            return this;
        }
        long[] in = inCounts == null ? null : divided(inCounts, elementsOfRecord);
        long[] out = outCounts == null ? null : divided(outCounts, elementsOfRecord);
        return new ChunkLengths(elements / elementsOfRecord, in, out, elementsOfRecord);
    }

    private static long[] divided(long[] counts, int by) {
        return Arrays.stream(counts).map(count -> count / by).toArray();
    }

    /** Returns how many elements of the call a count stands for: 1, or the number of elements of a record. */
    int recordElements() {
        return recordElements;
    }

    private static long[] times(long[] counts, int others) {
        return Arrays.stream(counts).map(count -> count * others).toArray();
    }

    /**
     * Returns whether a call is cut into chunks of these lengths. The check runs on every call, so it allocates
     * nothing.
     */
    boolean fit(Collective call, int worldSize) {
        if (inCounts == null) {
            return elements(call, worldSize) == elements && !needsCounts(call);
        }
        return needsCounts(call)
                && areLike(inCounts, call.inCounts(), call.in(), worldSize)
                && areLike(outCounts, call.outCounts(), call.out(), worldSize);
    }

    /** Compares counts with the counts of a call. A call without counts has equal parts. */
    private static boolean areLike(long[] counts, long[] ofCall, Tensor tensor, int worldSize) {
        return ofCall.length == 0 ? areAll(partOf(tensor, worldSize), counts) : Arrays.equals(counts, ofCall);
    }

    /** Returns whether all chunks have the same length, up to a difference of one element. */
    public boolean areEqual() {
        return inCounts == null;
    }

    long elements() {
        return elements;
    }

    /** Returns the counts of the operand; null if parts are equal. */
    long[] inCounts() {
        return inCounts;
    }

    /** Returns the counts of the result; null if parts are equal. */
    long[] outCounts() {
        return outCounts;
    }

    long longest(int chunks) {
        if (chunks == 0) {
            return 0;
        }
        return inCounts == null
                ? (elements + chunks - 1) / chunks
                : Arrays.stream(inCounts).max().orElse(0);
    }

    /** Returns the index of the first element of a chunk, counted from the first element of chunk 0. */
    public long start(Region region, int chunk, int chunks) {
        if (chunks == 0) {
            return 0;
        }
        if (inStarts == null) {
            return even(elements, chunk, chunks);
        }
        return (region == Region.OUT ? outStarts : inStarts)[chunk];
    }

    /**
     * Returns the index of the first element of part {@code index} of {@code parts} parts. The first parts are one
     * element longer if the length does not divide evenly.
     */
    static long even(long length, int index, int parts) {
        return index * (length / parts) + Math.min(index, length % parts);
    }

    private static long[] starts(long[] counts) {
        long[] starts = new long[counts.length + 1];
        for (int i = 0; i < counts.length; i++) {
            starts[i + 1] = Math.addExact(starts[i], counts[i]);
        }
        return starts;
    }
}
