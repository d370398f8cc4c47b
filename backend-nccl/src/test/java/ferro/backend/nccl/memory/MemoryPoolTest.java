package ferro.backend.nccl.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MemoryPoolTest {
    private final MemoryPool pool = new MemoryPool(4096);

    @ParameterizedTest
    @DisplayName("T17: a block is at most an eighth larger than what it serves")
    @CsvSource({
        "1, 512",
        "512, 512",
        "513, 1024",
        "4096, 4096",
        "4097, 4608",
        "1000000, 1048576",
        "1048577, 1179648",
        "3221225472, 3221225472",
        "3221225473, 3489660928"
    })
    void aBlockIsAtMostAnEighthLargerThanRequested(long bytes, long classBytes) {
        assertEquals(classBytes, MemoryPool.classOf(bytes));
        assertEquals(classBytes, MemoryPool.classOf(classBytes));
    }

    @Test
    @DisplayName("T17: what comes back is taken again, the youngest first, and only by its own class")
    void aReturnedBlockIsReusedYoungestFirst() {
        MemoryBlock first = new MemoryBlock(16, 512, null);
        MemoryBlock second = new MemoryBlock(32, 512, null);
        assertEquals(List.of(), pool.giveBack(first));
        assertEquals(List.of(), pool.giveBack(second));

        assertNull(pool.take(1024));
        assertSame(second, pool.take(512));
        assertSame(first, pool.take(512));
        assertNull(pool.take(512));
        assertEquals(0, pool.idleBytes());
    }

    @Test
    @DisplayName("T17: above the limit old blocks are given up, but a single one is always kept")
    void oldBlocksAboveTheLimitAreFreed() {
        MemoryBlock large = new MemoryBlock(16, 8192, null);
        MemoryBlock small = new MemoryBlock(32, 512, null);
        assertEquals(List.of(), pool.giveBack(large));

        assertEquals(List.of(small), pool.giveBack(small));
        assertSame(large, pool.take(8192));

        MemoryBlock old = new MemoryBlock(48, 4096, null);
        MemoryBlock young = new MemoryBlock(64, 4096, null);
        assertEquals(List.of(), pool.giveBack(old));
        assertEquals(List.of(old), pool.giveBack(young));
        assertEquals(4096, pool.idleBytes());
    }

    @Test
    @DisplayName("T17: a new block is there for whoever asked, over the limit too")
    void aNewBlockIsSuppliedAboveTheLimit() {
        pool.giveBack(new MemoryBlock(16, 4096, null));
        MemoryBlock wanted = new MemoryBlock(32, 512, null);

        assertTrue(pool.supply(wanted));

        assertSame(wanted, pool.take(512));
    }

    @Test
    @DisplayName("3-21: a closed pool keeps nothing")
    void aClosedPoolKeepsNoBlocks() {
        MemoryBlock kept = new MemoryBlock(16, 512, null);
        MemoryBlock late = new MemoryBlock(32, 512, null);
        pool.giveBack(kept);

        assertEquals(List.of(kept), pool.close());

        assertEquals(List.of(late), pool.giveBack(late));
        assertFalse(pool.supply(late));
        assertNull(pool.take(512));
    }
}
