package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.harness.Ranks;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory that operations over links need beside the caller's, by the JVM's own count of direct buffers. */
@Timeout(60)
class ScratchMemoryTest {
    private static final long GROWN_MOST = 4 << 20;

    private final AtomicLong afterFirst = new AtomicLong();
    private final AtomicLong afterAll = new AtomicLong();

    @Test
    void scratchMemoryIsKeptForOneLargeOperationAtMost() {
        try (Ranks ranks = Ranks.onHosts("a", "b", "c", "d")) {
            ranks.each(this::largeAndSmallOnes);
        }
        long grown = afterAll.get() - afterFirst.get();
        assertTrue(grown < GROWN_MOST, grown + " bytes of direct memory more after the first large operation");
    }

    /** Large ones need scratch memory, and each comes after small ones that were under way together. */
    private void largeAndSmallOnes(ProcessGroup group) {
        float[] large = new float[1 << 20];
        for (int turn = 0; turn < 12; turn++) {
            HostTensor tensor = HostTensor.of(large);
            group.submit(Collective.reduce(tensor, ReduceOp.MAX, 0)).await();
            group.barrier();
            (turn == 0 ? afterFirst : afterAll).set(directBytes());
            List<Work> queued = new ArrayList<>();
            for (int small = 0; small < 12; small++) {
                queued.add(group.allReduceAsync(HostTensor.of(new float[] {small, 2}), ReduceOp.SUM));
            }
            queued.forEach(Work::await);
        }
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .findFirst()
                .orElseThrow();
    }
}
