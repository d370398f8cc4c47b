package ferro.tck.cells;

import ferro.Collective;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Small calls in a random order on a small memory. Many calls read or write elements that other calls have written. */
public final class RandomCalls {
    private static final int LONGS = 64;
    private static final int MAX_PART = 4;
    private static final ReduceOp TRIPLED = ReduceOp.preMultipliedSum(3);

    private final int worldSize;
    private final HostTensor array;
    private final HostTensor buffer = HostTensor.allocate(DataType.INT64, LONGS);

    /** Creates the memory of one rank. All objects for one rank begin with the same elements. */
    public RandomCalls(int rank, int worldSize) {
        this.worldSize = worldSize;
        long[] longs = new Random(rank + 3).longs(LONGS).toArray();
        this.array = HostTensor.of(longs.clone());
        buffer.copyFrom(0, longs, 0, LONGS);
    }

    /** Returns random calls, which are the same on all ranks for the same seed. */
    public List<Collective> make(long seed, int count) {
        Random random = new Random(seed);
        List<Collective> calls = new ArrayList<>();
        while (calls.size() < count) {
            calls.add(make(random));
        }
        return calls;
    }

    /** Returns a random call. Sums wrap around, so that large sums lose no bits. Few calls leave memory unchanged. */
    private Collective make(Random random) {
        int part = 1 + random.nextInt(MAX_PART);
        int total = part * worldSize;
        int half = LONGS / 2;
        HostTensor low = some(random, 0, half, part);
        HostTensor high = some(random, half, half, total);
        return switch (random.nextInt(8)) {
            case 0 -> Collective.allReduce(low, ReduceOp.SUM);
            case 1 -> Collective.allReduce(low, some(random, half, half, part), ReduceOp.SUM);
            case 2 -> Collective.broadcast(high, random.nextInt(worldSize));
            case 3 -> Collective.allGather(low, high);
            case 4 -> Collective.reduceScatter(high, low, ReduceOp.SUM);
            case 5 -> Collective.allToAll(some(random, 0, half, total), high);
            case 6 -> Collective.allReduce(some(random, 0, half, part), some(random, half, half, part), TRIPLED);
            default -> random.nextInt(4) == 0 ? Collective.barrier() : Collective.allReduce(high, ReduceOp.MAX);
        };
    }

    /** Returns a random slice of one half of the array or the buffer. Each buffer slice has its own buffer object. */
    private HostTensor some(Random random, int from, int length, int count) {
        int first = from + random.nextInt(length - count + 1);
        return random.nextBoolean()
                ? array.slice(first, count)
                : HostTensor.of(DataType.INT64, buffer.slice(first, count).buffer());
    }

    /** Returns the elements of the whole memory after the calls. */
    public long[] left() {
        long[] all = new long[2 * LONGS];
        array.copyTo(0, all, 0, LONGS);
        buffer.copyTo(0, all, LONGS, LONGS);
        return all;
    }
}
