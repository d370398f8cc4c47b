package ferro.group;

import static ferro.HostTensor.of;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The headers that all ranks exchange before objects move. A header has the call, the limit, and the number of bytes of
 * its rank. Every rank reads the same headers. So either all ranks refuse a call or no rank refuses the call, and the
 * group continues.
 */
final class ObjectHeaders {
    private static final int FIELDS = 3;
    private static final int CALL = 0;
    private static final int LIMIT = 1;
    private static final int LENGTH = 2;

    /** Maximum total size of the parts of a call in bytes. One array holds all parts. */
    private static final long MOST_BYTES = Integer.MAX_VALUE - 8;

    private final String prefix;
    private final long[] all;

    /** The calls that move objects. Ranks compare the ordinals of the calls, so the constants' order matters. */
    enum ObjectCall {
        BROADCAST("broadcast of an object from rank "),
        GATHER("gather of objects to rank "),
        ALL_GATHER("allGather of objects"),
        SCATTER("scatter of objects from rank "),
        ALL_TO_ALL("allToAll of objects"),
        REDUCE("reduce of objects to rank "),
        ALL_REDUCE("allReduce of objects");

        private final String text;

        ObjectCall(String text) {
            this.text = text;
        }

        /** Returns the name of the call. */
        String label() {
            return text.substring(0, text.indexOf(' ')) + " of objects";
        }

        /** Returns this call and the root as one number. */
        long with(int root) {
            return (long) ordinal() << Integer.SIZE | root;
        }

        static String textOf(long callAndRoot) {
            long ordinal = callAndRoot >>> Integer.SIZE;
            if (ordinal >= values().length) {
                return "unknown call " + callAndRoot + " of another version of ferro";
            }
            ObjectCall call = values()[(int) ordinal];
            return call.text.endsWith(" ") ? call.text + (int) callAndRoot : call.text;
        }
    }

    private ObjectHeaders(String prefix, long[] all) {
        this.prefix = prefix;
        this.all = all;
    }

    /** Exchanges headers. Refuses the call on all ranks if one rank makes another call or has another limit. */
    static ObjectHeaders exchange(ProcessGroup group, long callAndRoot, long limit, long length) {
        long[] all = new long[FIELDS * group.worldSize()];
        group.allGather(of(new long[] {callAndRoot, limit, length}), of(all));
        String prefix = ObjectCall.textOf(callAndRoot) + ", rank " + group.rank() + " of " + group.worldSize();
        ObjectHeaders headers = new ObjectHeaders(prefix, all);
        if (headers.ranks(CALL, call -> call >>> Integer.SIZE != callAndRoot >>> Integer.SIZE)
                .isEmpty()) {
            headers.requireSame(CALL, "roots of ranks differ", call -> "root " + (int) call);
        }
        headers.requireSame(CALL, "ranks make different calls", ObjectCall::textOf);
        headers.requireSame(LIMIT, "limits of ranks differ", bytes -> bytes + " bytes");
        headers.requireWithinLimit(limit);
        return headers;
    }

    /** Returns the call and this rank, for messages. */
    String prefix() {
        return prefix;
    }

    private void requireSame(int field, String what, LongFunction<String> text) {
        long first = all[field];
        if (!ranks(field, value -> value != first).isEmpty()) {
            List<String> found = new ArrayList<>();
            for (int rank = 0; rank < worldSize(); rank++) {
                found.add("rank " + rank + " " + text.apply(field(rank, field)));
            }
            throw new IllegalArgumentException(prefix + ": " + what + ": " + String.join(", ", found)
                    + ": all ranks must make the same call with the same root and limit");
        }
    }

    private void requireWithinLimit(long limit) {
        List<Integer> above = ranks(LENGTH, length -> length > limit);
        if (!above.isEmpty()) {
            int rank = above.get(0);
            throw new IllegalArgumentException(prefix + ": the object of rank " + rank + " has " + length(rank)
                    + " bytes, the limit is " + limit + " bytes"
                    + (above.size() > 1 ? " (ranks above it: " + above + ")" : "")
                    + ": raise the limit by withLimit on all ranks, or send a tensor");
        }
    }

    private List<Integer> ranks(int field, LongPredicate chosen) {
        return IntStream.range(0, worldSize())
                .filter(rank -> chosen.test(field(rank, field)))
                .boxed()
                .toList();
    }

    private int worldSize() {
        return all.length / FIELDS;
    }

    private long field(int rank, int field) {
        return all[FIELDS * rank + field];
    }

    /** Returns the length field in the header of a rank, see {@link EncodedObject#headerLength}. */
    long length(int rank) {
        return field(rank, LENGTH);
    }

    /** Returns for each rank the number of bytes that the rank sends for an object or a text. */
    long[] byteCounts() {
        return IntStream.range(0, worldSize())
                .mapToLong(rank -> EncodedObject.byteCount(length(rank)))
                .toArray();
    }

    /** Returns for each rank the number of bytes of the text that the rank sends; 0 for a rank that has objects. */
    long[] textByteCounts() {
        return IntStream.range(0, worldSize())
                .mapToLong(rank -> length(rank) < 0 ? EncodedObject.byteCount(length(rank)) : 0)
                .toArray();
    }

    /**
     * Returns whether one object per rank might not fit into one array, if each object is as large as the largest
     * object.
     */
    boolean mayNeedSeveralArrays() {
        return !ranks(LENGTH, length -> worldSize() * length > MOST_BYTES).isEmpty();
    }

    /**
     * Returns how many bytes all parts have together. Refuses the call on all ranks if the parts do not fit into one
     * array.
     */
    int requireOneArray(long[] counts) {
        long sum = LongStream.of(counts).sum();
        if (sum > MOST_BYTES) {
            throw new IllegalArgumentException(prefix + ": one rank sends or receives " + sum
                    + " bytes of objects, need at most " + MOST_BYTES + ": send them in several calls");
        }
        return (int) sum;
    }

    /** Throws an exception if a rank has sent a text in place of an object. */
    void requireEncoded(int rank, byte[] content) {
        if (length(rank) < 0) {
            throw new IllegalArgumentException(prefix + ": rank " + rank + " " + EncodedObject.text(content));
        }
    }

    /** Throws an exception with the first of the texts that ranks of {@link #textByteCounts} have sent. */
    void requireEncoded(byte[] texts, long[] counts) {
        int from = 0;
        for (int rank = 0; rank < counts.length; rank++) {
            int to = from + (int) counts[rank];
            requireEncoded(rank, Arrays.copyOfRange(texts, from, to));
            from = to;
        }
    }
}
