package ferro.collectives.shared;

import ferro.spi.SharedMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/** Memory that the threads of one JVM share: what the ranks of a test are near one another by. */
final class OneJvm {
    private final ByteBuffer[] areas;

    OneJvm(int worldSize, int bytes) {
        areas = new ByteBuffer[worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            areas[rank] = ByteBuffer.allocateDirect(bytes + ProgressWords.LINE_BYTES)
                    .alignedSlice(ProgressWords.LINE_BYTES / 2)
                    .order(ByteOrder.nativeOrder());
        }
    }

    SharedMemory of(int rank) {
        return new Share(areas, rank);
    }

    private record Share(ByteBuffer[] areas, int me) implements SharedMemory {
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
            // all memory is there
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
