package ferro.backend.simulated;

import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.SegmentSize;
import ferro.spi.SharedMemory;
import ferro.spi.SharedMemoryProvider;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** Shared memory of ranks in one JVM. The segments are direct buffers, which the first rank that opens them creates. */
final class SimulatedMemory implements SharedMemory {
    /** Largest number of ranks that share memory. With more ranks, the cost of the memory exceeds the saved time. */
    static final int RANKS_MOST = 16;

    private static final String HOST = "this JVM";

    private final ByteBuffer[] areas;
    private final int rank;

    private SimulatedMemory(ByteBuffer[] areas, int rank) {
        this.areas = areas;
        this.rank = rank;
    }

    /** Returns the provider of the segments for the ranks of a group. */
    static SharedMemoryProvider of(NetworkState network, SimulatedTransport.GroupKey ranks) {
        return new SharedMemoryProvider() {
            /** Number of segments that this rank has opened. All ranks open segments in the same order. */
            private final AtomicInteger opened = new AtomicInteger();

            @Override
            public Optional<String> unavailableBecause(RankContext context) {
                return Optional.empty();
            }

            @Override
            public String host(RankContext context) {
                return HOST;
            }

            @Override
            public SharedMemory open(GroupSpec group, RankContext context, SegmentSize size) {
                int number = opened.getAndIncrement();
                return new SimulatedMemory(network.areas(ranks, number, (int) size.bytes()), group.rank());
            }

            @Override
            public boolean isOneProcess() {
                return true;
            }
        };
    }

    @Override
    public byte[] offer() {
        return new byte[0];
    }

    @Override
    public Optional<String> reach(int rank, byte[] offer) {
        return Optional.empty();
    }

    @Override
    public void settle() {
        // no rank finds segments by name
    }

    @Override
    public ByteBuffer area(int rank) {
        return areas[rank];
    }

    @Override
    public void reserve(long from, long bytes) {
        // all memory is allocated already
    }

    @Override
    public ByteBuffer lend() {
        return areas[rank].duplicate().order(ByteOrder.nativeOrder());
    }

    @Override
    public void giveBack() {
        // memory of ranks in one process never counts against a limit
    }

    @Override
    public String host() {
        return HOST;
    }

    @Override
    public void close() {
        // the garbage collector frees the memory
    }
}
