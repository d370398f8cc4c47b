package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.collectives.shared.SharedTensors.SharedAllocation;
import ferro.spi.SharedMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What two ranks know of the tensors that they share, and when they unmap them. */
class SharedTensorsTest {
    private static final int BYTES = 1024;
    private static final long PATIENCE_NANOS = 60_000_000_000L;

    private final OneJvm areas = new OneJvm(2, (int) SharedAllocation.segmentBytes(BYTES));
    private final BitSet unmapped = new BitSet();
    private final BitSet givenBack = new BitSet();
    private final SharedTensors[] tensors = {new SharedTensors(), new SharedTensors()};
    private final SharedAllocation[] allocations = new SharedAllocation[2];

    @Test
    void aSharedTensorHasANumberUntilItIsReleased() {
        HostTensor tensor = HostTensor.of(DataType.FLOAT32, lent(0));
        assertEquals(1, tensors[0].number(tensor));

        allocations[0].letGo();

        assertEquals(0, tensors[0].number(tensor));
        assertTrue(givenBack.get(0), "at once");
    }

    @Test
    void segmentsAreUnmappedOnceAllRanksReleasedThem() {
        ByteBuffer first = lent(0);
        ByteBuffer second = lent(1);

        allocations[0].letGo();
        sweep();
        assertEquals(new BitSet(), unmapped, "the other rank may still name them");
        assertSame(areas.of(1).area(1), tensors[0].area(1, 1));

        allocations[1].letGo();
        sweep();
        sweep();
        assertEquals(2, unmapped.cardinality());
        Reference.reachabilityFence(first);
        Reference.reachabilityFence(second);
    }

    @Test
    void unreachableSharedTensorsAreReleased() {
        HostTensor second = HostTensor.of(DataType.FLOAT32, lent(1));
        lent(0).put(0, (byte) 1);
        allocations[1].letGo();

        long begun = System.nanoTime();
        while (unmapped.cardinality() < 2) {
            assertTrue(System.nanoTime() - begun < PATIENCE_NANOS, "unmapped: " + unmapped);
            System.gc();
            sweep();
        }
        assertEquals(0, tensors[1].number(second));
    }

    @Test
    void otherSharedTensorsKeepTheirNumbers() {
        lent(0).put(0, (byte) 1);
        lent(1).put(0, (byte) 1);
        SharedAllocation[] before = allocations.clone();
        HostTensor tensor = HostTensor.of(DataType.FLOAT32, lent(0));
        ByteBuffer second = lent(1);
        before[0].letGo();
        before[1].letGo();

        sweep();
        sweep();

        assertEquals(2, unmapped.cardinality());
        assertEquals(2, tensors[0].number(tensor));
        assertSame(areas.of(1).area(1), tensors[0].area(2, 1));
        Reference.reachabilityFence(second);
    }

    private ByteBuffer lent(int rank) {
        ByteBuffer lent = areas.of(rank).lend();
        allocations[rank] = tensors[rank].add(new Counted(rank, areas.of(rank)), rank, 2, BYTES, lent);
        return lent;
    }

    private void sweep() {
        tensors[0].sweep();
        tensors[1].sweep();
    }

    private final class Counted implements SharedMemory {
        private final int rank;
        private final SharedMemory inner;

        Counted(int rank, SharedMemory inner) {
            this.rank = rank;
            this.inner = inner;
        }

        @Override
        public byte[] offer() {
            return inner.offer();
        }

        @Override
        public Optional<String> reach(int peer, byte[] offer) {
            return inner.reach(peer, offer);
        }

        @Override
        public void settle() {
            inner.settle();
        }

        @Override
        public ByteBuffer area(int peer) {
            return inner.area(peer);
        }

        @Override
        public void reserve(long from, long bytes) {
            inner.reserve(from, bytes);
        }

        @Override
        public ByteBuffer lend() {
            return inner.lend();
        }

        @Override
        public void giveBack() {
            givenBack.set(rank);
        }

        @Override
        public String host() {
            return inner.host();
        }

        @Override
        public void close() {
            unmapped.set(rank);
        }
    }
}
