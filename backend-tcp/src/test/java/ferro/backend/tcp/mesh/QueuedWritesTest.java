package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.ReduceOp;
import ferro.backend.tcp.net.Threads;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How often the kernel is called for small operations that are queued one behind the other. */
@Timeout(60)
class QueuedWritesTest {
    private static final int CALLS = 64;
    /** 32 are under way at once, and the barrier before may still have something to say. */
    private static final int MOST_WRITES = 4;
    /** What the calling thread has done by itself. */
    private static final Path COUNTS = Path.of("/proc/thread-self/io");

    @Test
    void queuedSmallOperationsShareSystemCalls() {
        assumeTrue(Files.isReadable(COUNTS), "this kernel counts no writes");
        try (Ranks ranks = Ranks.onLoopback()) {
            List<CompletableFuture<Long>> writes = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                GroupSpec spec = GroupSpec.of("world", rank, 2, Ranks.LONG);
                Map<String, String> settings = new HashMap<>(ranks.common);
                settings.put("ferro.backend", "tcp");
                settings.put("ferro.links", "tcp");
                writes.add(Threads.start(() -> writes(spec, settings)));
            }
            for (CompletableFuture<Long> each : writes) {
                long count = Ranks.result(each);
                assertTrue(count > 0 && count <= MOST_WRITES, count + " writes for " + CALLS + " operations");
            }
        }
    }

    private static long writes(GroupSpec spec, Map<String, String> settings) {
        try (SystemContext context = SystemContext.of(settings);
                ProcessGroup group = Groups.join(spec, context)) {
            int[][] ints = new int[CALLS / 2][];
            double[][] doubles = new double[CALLS / 2][];
            for (int call = 0; call < CALLS / 2; call++) {
                ints[call] = new int[] {call, spec.rank() + 4};
                doubles[call] = new double[] {call, spec.rank() + 7};
            }
            group.barrier();
            long before = writes();
            // of types in turn, which no block joins into one
            group.coalesced(() -> {
                for (int call = 0; call < CALLS / 2; call++) {
                    group.allReduce(ints[call], ReduceOp.SUM);
                    group.allReduce(doubles[call], ReduceOp.MAX);
                }
            });
            long count = writes() - before;
            for (int call = 0; call < CALLS / 2; call++) {
                assertEquals(2 * call, ints[call][0]);
                assertEquals(9, ints[call][1]);
                assertEquals(8, doubles[call][1]);
            }
            return count;
        }
    }

    private static long writes() {
        try {
            return Files.readAllLines(COUNTS).stream()
                    .filter(line -> line.startsWith("syscw: "))
                    .mapToLong(line -> Long.parseLong(line.substring("syscw: ".length())))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }
}
