package ferro.backend.gloofallback;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.dispatch.DeviceMemory.Staging;
import ferro.tck.HeapDeviceMemory;
import ferro.tck.HeapDeviceMemory.Direction;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Staging goes from call to call, but never to two users at once. */
class StagingPoolTest {
    private final HeapDeviceMemory heap = new HeapDeviceMemory(1);
    private final StagingPool pool = new StagingPool(heap);

    @Test
    @DisplayName("T17: what is given back is handed out again")
    void returnedStagingMemoryIsReused() {
        Staging first = pool.take(5000);
        assertEquals(8192, first.buffer().capacity());
        first.buffer().limit(17).position(3);
        pool.give(first);
        assertSame(first, pool.take(8000));
        assertEquals(8192, first.buffer().remaining(), "limits are as new");
        assertNotSame(first, pool.take(8000));
        assertEquals(4096, pool.take(0).buffer().capacity(), "least");
        assertEquals(3, heap.liveStagings());
    }

    @Test
    void stagingMemoryIsReusedOnlyAfterItsCopyHasEnded() {
        DeviceTensor tensor = heap.allocate(DataType.INT8, new long[] {4096}, 0);
        heap.stallCopy(Direction.TO_HOST, 1);
        Staging used = pool.take(4096);
        pool.give(used, List.of(heap.toHost(tensor, used.buffer())));
        assertNotSame(used, pool.take(4096));
        heap.endStalledCopies();
        assertSame(used, pool.take(4096));
    }

    @Test
    void closeFreesUnusedStagingMemory() {
        Staging[] many = new Staging[5];
        for (int number = 0; number < many.length; number++) {
            many[number] = pool.take(8 << 20);
        }
        for (Staging each : many) {
            pool.give(each);
        }
        assertEquals(4, heap.liveStagings(), "32 MiB are kept");
        Staging out = pool.take(8 << 20);
        pool.close();
        assertEquals(1, heap.liveStagings(), "one is in use");
        pool.give(out);
        assertEquals(0, heap.liveStagings());
    }
}
