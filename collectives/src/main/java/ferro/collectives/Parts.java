package ferro.collectives;

import ferro.Collective;
import ferro.collectives.plan.Region;
import java.util.Arrays;

/**
 * How the elements of an operation are cut into the chunks of its plan: alike, the first ones one longer where they do not come
 * out even, or as the caller's counts say (v-forms). Immutable.
 *
 * <p>Counts are equal on all ranks, but for all-to-all: there a rank knows what it sends and what it receives, so the chunks of its
 * operand and those of its result have lengths of their own, and both ends of a message know that message's.
 */
final class Parts {
    private final long elements;
    private final long[] inCounts;
    private final long[] outCounts;
    private final long[] inStarts;
    private final long[] outStarts;

    private Parts(long elements, long[] inCounts, long[] outCounts) {
        this.elements = elements;
        this.inCounts = inCounts;
        this.outCounts = outCounts;
        this.inStarts = inCounts == null ? null : starts(inCounts);
        this.outStarts = outCounts == null ? null : starts(outCounts);
    }

    /** Cuts evenly. */
    static Parts equal(long elements) {
        return new Parts(elements, null, null);
    }

    /** Cuts as counts say, which are equal on all ranks. */
    static Parts of(long... counts) {
        return of(counts, counts);
    }

    /** Cuts operand and result as their own counts say. */
    static Parts of(long[] inCounts, long[] outCounts) {
        return new Parts(Arrays.stream(inCounts).sum(), inCounts.clone(), outCounts.clone());
    }

    /** Cuts as a call says. */
    static Parts of(Collective call, int worldSize) {
        long elements = elements(call, worldSize);
        if (!call.hasCounts()) {
            return equal(elements);
        }
        long[] in = call.inCounts();
        long[] out = call.outCounts();
        return of(in == null ? even(call, worldSize) : in, out == null ? even(call, worldSize) : out);
    }

    /** One of the two sides of an all-to-all may be even. */
    private static long[] even(Collective call, int worldSize) {
        long[] counts = new long[worldSize];
        Arrays.fill(counts, (call.inCounts() == null ? call.in() : call.out()).elementCount() / worldSize);
        return counts;
    }

    /** Returns the elements of the whole operation: of the longer tensor, which off the root of a gather or scatter is not there. */
    static long elements(Collective call, int worldSize) {
        if (call instanceof Collective.Gather || call instanceof Collective.Scatter) {
            return call.hasCounts()
                    ? Arrays.stream(call.inCounts()).sum()
                    : worldSize * call.operand().elementCount();
        }
        if (call instanceof Collective.AllGather) {
            return call.out().elementCount();
        }
        return call.in() == null ? 0 : call.in().elementCount();
    }

    /** Returns the same parts of elements that so many others stand for, each. */
    Parts times(int others) {
        if (others == 1) {
            return this;
        }
        return areEqual() ? equal(elements * others) : of(times(inCounts, others), times(outCounts, others));
    }

    private static long[] times(long[] counts, int others) {
        return Arrays.stream(counts).map(count -> count * others).toArray();
    }

    /** Returns whether a call is cut like this; asked on every call. */
    boolean fit(Collective call, int worldSize) {
        if (inCounts == null) {
            return !call.hasCounts() && elements(call, worldSize) == elements;
        }
        return call.hasCounts() && of(call, worldSize).isLike(this);
    }

    private boolean isLike(Parts other) {
        return Arrays.equals(inCounts, other.inCounts) && Arrays.equals(outCounts, other.outCounts);
    }

    boolean areEqual() {
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

    /** Returns how long the longest of so many chunks is. */
    long longest(int chunks) {
        if (chunks == 0) {
            return 0;
        }
        return inCounts == null
                ? (elements + chunks - 1) / chunks
                : Arrays.stream(inCounts).max().orElse(0);
    }

    /** Returns where a chunk of so many begins, counted from the first element of chunk 0. */
    long start(Region region, int chunk, int chunks) {
        if (chunks == 0) {
            return 0;
        }
        if (inStarts == null) {
            return even(elements, chunk, chunks);
        }
        return (region == Region.OUT ? outStarts : inStarts)[chunk];
    }

    /** Returns where part {@code index} of {@code parts} begins, the first ones one longer if it does not come out even. */
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
