package ferro.lightgbm;

import com.sun.jna.Function;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import ferro.lightgbm.ffi.AllGatherCallback;
import ferro.lightgbm.ffi.LightGbmLibrary;
import ferro.lightgbm.ffi.ReduceScatterCallback;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/**
 * The two functions that LightGBM calls to communicate. A callback cannot throw. The first failure is therefore kept, and
 * this and every later callback writes zeros: LightGBM then ends its call soon and reads no random sizes. {@link
 * LightGbmNetwork} checks {@link #failure} after every call of the library.
 *
 * <p>LightGBM calls the functions on the thread that called the library. The class belongs to that thread.
 */
final class NetworkCallbacks {
    private final ProcessGroup group;
    private final int rank;
    private final int worldSize;
    private final NativeViews views = new NativeViews();
    private final Map<Long, Function> reducers = new HashMap<>();
    private final BlockExchange exchange;
    private final long[] counts;
    private Throwable failure;

    /** LightGBM has the address of this object for as long as the network is connected. */
    final ReduceScatterCallback reduceScatter = new ReduceScatterCallback() {
        @Override
        public void call(
                long input,
                int inputSize,
                int typeSize,
                long starts,
                long lengths,
                int blocks,
                long output,
                int outputSize,
                long reducer) {
            int own = 0;
            try {
                ByteBuffer bytes = views.buffer(lengths, blocks * Integer.BYTES);
                own = bytes.getInt(rank * Integer.BYTES);
                requireRanks(blocks);
                reduceScatter(
                        views.tensor(input, inputSize), counts(bytes), new Reduction(reducer, typeSize, output, own));
            } catch (Throwable caught) {
                fail(caught, output, own);
            }
        }
    };

    /** LightGBM has the address of this object for as long as the network is connected. */
    final AllGatherCallback allGather = new AllGatherCallback() {
        @Override
        public void call(
                long input, int inputSize, long starts, long lengths, int blocks, long output, int outputSize) {
            try {
                requireRanks(blocks);
                long ownOutput =
                        output + views.buffer(starts, blocks * Integer.BYTES).getInt(rank * Integer.BYTES);
                if (input != ownOutput) {
                    // an all-reduce passes its output as the input, with this rank's block at offset 0
                    move(input, ownOutput, inputSize);
                }
                allGather(
                        views.tensor(ownOutput, inputSize),
                        views.tensor(output, outputSize),
                        views.buffer(lengths, blocks * Integer.BYTES));
            } catch (Throwable caught) {
                fail(caught, output, outputSize);
            }
        }
    };

    NetworkCallbacks(ProcessGroup group) {
        this.group = group;
        this.rank = group.rank();
        this.worldSize = group.worldSize();
        this.counts = new long[worldSize];
        this.exchange = new BlockExchange(group);
    }

    /** How to combine the blocks of all ranks, and where the result goes. */
    private record Reduction(long reducer, int typeSize, long output, int bytes) {}

    /** Returns the first failure; null if there is none. */
    Throwable failure() {
        return failure;
    }

    /**
     * Gets this rank's block from all ranks, then combines the blocks with LightGBM's function in the order of the ranks.
     * So the bits of a sum depend on no algorithm.
     */
    private void reduceScatter(HostTensor input, long[] counts, Reduction reduction) {
        requireNoFailure();
        exchange.run(input, counts);
        if (reduction.bytes > 0) {
            combine(reduction);
        }
    }

    private void combine(Reduction reduction) {
        int own = reduction.bytes;
        // the reference is on LightGBM's stack, so its address says nothing about the function
        long function = LightGbmLibrary.functionAt(reduction.reducer);
        Function reducer = reducers.computeIfAbsent(function, LightGbmLibrary::reducer);
        views.buffer(reduction.output, own).put(0, exchange.received(), 0, own);
        Object[] arguments = {0L, reduction.output, reduction.typeSize, own};
        for (int from = 1; from < worldSize; from++) {
            arguments[0] = exchange.address(from);
            reducer.invokeVoid(arguments);
        }
    }

    private void allGather(HostTensor own, HostTensor all, ByteBuffer lengths) {
        requireNoFailure();
        group.allGather(own, all, counts(lengths));
    }

    /** Returns the lengths in an array that the next call of this method overwrites. */
    private long[] counts(ByteBuffer lengths) {
        for (int block = 0; block < worldSize; block++) {
            counts[block] = lengths.getInt(block * Integer.BYTES);
        }
        return counts;
    }

    /** Moves bytes between two ranges that may overlap. */
    private void move(long from, long to, int bytes) {
        if (bytes > 0) {
            ByteBuffer source = views.buffer(from, bytes);
            views.buffer(to, bytes).put(0, source, 0, bytes);
        }
    }

    private void requireRanks(int blocks) {
        if (blocks != worldSize) {
            throw new IllegalStateException("LightGBM passes " + blocks + " blocks to " + worldSize + " ranks");
        }
    }

    private void requireNoFailure() {
        if (failure != null) {
            throw new IllegalStateException("the network has failed", failure);
        }
    }

    /** Keeps the first failure, tells the other ranks about a failure that only this rank has, and writes zeros. */
    private void fail(Throwable caught, long output, int bytes) {
        if (failure == null) {
            failure = caught;
            if (!(caught instanceof FerroException)) {
                group.abort(caught);
            }
        }
        LightGbmLibrary.clear(output, bytes);
    }
}
