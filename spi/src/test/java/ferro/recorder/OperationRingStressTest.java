package ferro.recorder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.spi.GroupSpec;
import ferro.spi.TestContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many write a ring that is much too short, one ends what others have begun, and a reader never sees half an entry. */
@Timeout(60)
class OperationRingStressTest {
    private static final int WRITERS = 2;
    private static final long MILLIS = 2000;
    private static final long READS = 50_000;

    private final FlightRecorder recorder =
            FlightRecorder.of(TestContext.of(Map.of()), GroupSpec.of("g", 0, 1, Duration.ofSeconds(3)));
    private final OperationRing ring = new OperationRing(4);
    private final GroupRecorder group = new GroupRecorder(recorder, ring, "g", 0, new int[] {0});
    private final AtomicBoolean over = new AtomicBoolean();

    @Test
    void aReaderNeverSeesAPartlyWrittenEntry() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        List<Future<Long>> writers = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            long first = i;
            writers.add(threads.submit(() -> write(first)));
        }
        long read = 0;
        long tries = 0;
        long until = System.nanoTime() + MILLIS * 1_000_000;
        try {
            while (read < READS && System.nanoTime() - until < 0) {
                OperationRing.RingEntry entry = ring.read(ring.last());
                tries++;
                if (entry != null) {
                    check(entry);
                    read++;
                }
            }
        } finally {
            over.set(true);
        }
        long written = 0;
        for (Future<Long> writer : writers) {
            written += writer.get();
        }
        threads.shutdown();
        System.out.println("read " + read + " of " + tries + " entries while " + written + " were written");
        assertTrue(read > 0, read + " read of " + written);
    }

    /** All fields of an entry come from its sequence number, so that half of another's shows. */
    private long write(long first) {
        long sequence = first;
        int before = 0;
        while (!over.get()) {
            int entry = group.submitted(sequence, "send " + sequence, 3 * sequence, 5 * sequence);
            group.running(entry);
            // most have lost their place by then, and must not touch whoever has it
            group.failed(before, -1, Code.ABORTED, new GroupRecorder.Progress(-1, -1, Set.of(77)));
            if ((sequence / WRITERS) % 2 == 0) {
                group.done(entry, 7 * sequence, (int) (sequence & 0xffff), 11 * sequence);
            } else {
                before = entry;
            }
            sequence += WRITERS;
        }
        return sequence / WRITERS;
    }

    private static void check(OperationRing.RingEntry entry) {
        long sequence = entry.sequence;
        assertEquals("send " + sequence, entry.text);
        assertEquals(3 * sequence, entry.bytes, "" + sequence);
        assertEquals(5 * sequence, entry.begun, "" + sequence);
        switch (entry.state) {
            case OperationRing.DONE -> {
                assertEquals(7 * sequence, entry.ended, "" + sequence);
                assertEquals((int) (sequence & 0xffff), entry.step, "" + sequence);
                assertEquals(11 * sequence, entry.moved, "" + sequence);
                assertEquals(null, entry.code, "" + sequence);
            }
            case OperationRing.FAILED -> {
                assertEquals(-1, entry.ended, "" + sequence);
                assertEquals(Set.of(77), entry.failedAt.waitingFor(), "" + sequence);
                assertEquals(Code.ABORTED, entry.code, "" + sequence);
            }
            default -> {
                assertEquals(0, entry.ended, "" + sequence);
                assertEquals(Set.of(), entry.failedAt.waitingFor(), "" + sequence);
                assertEquals(-1, entry.step, "" + sequence);
            }
        }
    }
}
