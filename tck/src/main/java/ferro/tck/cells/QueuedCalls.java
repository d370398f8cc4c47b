package ferro.tck.cells;

import ferro.Collective;
import ferro.Collective.AllGather;
import ferro.Collective.AllReduce;
import ferro.Collective.AllToAll;
import ferro.Collective.Barrier;
import ferro.Collective.Broadcast;
import ferro.Collective.ReduceScatter;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Small calls in a random order over little memory, so that many of them read or write what others write. */
public final class QueuedCalls {
    private static final int LONGS = 64;
    private static final int PART_MOST = 4;
    private static final ReduceOp TRIPLED = ReduceOp.preMultipliedSum(3);

    private final int worldSize;
    private final HostTensor array;
    private final ByteBuffer buffer;

    /** Makes the memory of one rank, the same for each object of a rank. */
    public QueuedCalls(int rank, int worldSize) {
        this.worldSize = worldSize;
        long[] longs = new Random(rank + 3).longs(LONGS).toArray();
        this.array = HostTensor.of(longs.clone());
        this.buffer = ByteBuffer.allocateDirect(LONGS * Long.BYTES).order(ByteOrder.nativeOrder());
        buffer.asLongBuffer().put(longs);
    }

    /** Makes the calls, the same on all ranks for a seed. */
    public List<Collective> make(long seed, int count) {
        Random random = new Random(seed);
        List<Collective> calls = new ArrayList<>();
        while (calls.size() < count) {
            calls.add(make(random));
        }
        return calls;
    }

    /** Makes a random call. Sums wrap around, so that nothing is lost when they grow; few calls leave memory unchanged. */
    private Collective make(Random random) {
        int part = 1 + random.nextInt(PART_MOST);
        int whole = part * worldSize;
        int half = LONGS / 2;
        HostTensor low = some(random, 0, half, part);
        HostTensor high = some(random, half, half, whole);
        return switch (random.nextInt(8)) {
            case 0 -> new AllReduce(low, low, ReduceOp.SUM);
            case 1 -> new AllReduce(low, some(random, half, half, part), ReduceOp.SUM);
            case 2 -> new Broadcast(high, random.nextInt(worldSize));
            case 3 -> new AllGather(low, high, null);
            case 4 -> new ReduceScatter(high, low, ReduceOp.SUM, null);
            case 5 -> new AllToAll(some(random, 0, half, whole), high, null, null);
            case 6 -> new AllReduce(some(random, 0, half, part), some(random, half, half, part), TRIPLED);
            default -> random.nextInt(4) == 0 ? new Barrier() : new AllReduce(high, high, ReduceOp.MAX);
        };
    }

    /** Returns some longs of a half, of the array or of a separate buffer object over the same memory. */
    private HostTensor some(Random random, int from, int length, int count) {
        int first = from + random.nextInt(length - count + 1);
        if (random.nextBoolean()) {
            return array.slice(first, count);
        }
        ByteBuffer own = buffer.duplicate().order(ByteOrder.nativeOrder());
        return HostTensor.of(DataType.INT64, own.position(first * Long.BYTES).limit((first + count) * Long.BYTES));
    }

    /** Returns all elements after the calls. */
    public long[] left() {
        long[] all = new long[2 * LONGS];
        System.arraycopy((long[]) array.memory(), 0, all, 0, LONGS);
        buffer.asLongBuffer().get(all, LONGS, LONGS);
        return all;
    }
}
