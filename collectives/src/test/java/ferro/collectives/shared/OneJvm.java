package ferro.collectives.shared;

import ferro.spi.SharedMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.Optional;
import java.util.function.BiConsumer;

/** Memory that the threads of one JVM share: what the ranks of a test are near one another by. */
final class OneJvm {
    private final ByteBuffer[] areas;
    private final BiConsumer<Long, Long> reserved;

    OneJvm(int worldSize, int bytes) {
        this(worldSize, bytes, (from, length) -> {});
    }

    /** Makes memory of which a test notes what is reserved: the first byte and how many. */
    OneJvm(int worldSize, int bytes, BiConsumer<Long, Long> reserved) {
        this.reserved = reserved;
        areas = new ByteBuffer[worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            areas[rank] = ByteBuffer.allocateDirect(bytes + ProgressCounters.LINE_BYTES)
                    .alignedSlice(ProgressCounters.LINE_BYTES / 2)
                    .order(ByteOrder.nativeOrder());
        }
    }

    /** Returns the layout of the segments of ranks of one host, which have slots only if these are longer than 0. */
    static SegmentLayout layout(int ranks, int slotBytes) {
        BitSet hosted = new BitSet();
        hosted.set(0, ranks);
        return new SegmentLayout(hosted, slotBytes, slotBytes > 0, slotBytes == 0);
    }

    SharedMemory of(int rank) {
        return new Share(areas, reserved, rank);
    }

    private record Share(ByteBuffer[] areas, BiConsumer<Long, Long> reserved, int me) implements SharedMemory {
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
            // there is no name
        }

        @Override
        public ByteBuffer area(int rank) {
            return areas[rank];
        }

        @Override
        public void reserve(long from, long bytes) {
            reserved.accept(from, bytes);
        }

        @Override
        public ByteBuffer lend() {
            return areas[me].duplicate().order(ByteOrder.nativeOrder());
        }

        @Override
        public void giveBack() {
            // nothing counts
        }

        @Override
        public String host() {
            return "jvm of rank " + me;
        }

        @Override
        public void close() {
            // the collector's
        }
    }
}
