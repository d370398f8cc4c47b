package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.tcp.TcpStoreServer;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.OnThread;
import ferro.spi.PortRange;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs of one JVM that close no group leave nothing behind, because they close their contexts. */
@Timeout(180)
@Tag("long")
class OpenContextsTest {
    private static final int RANKS = 3;
    private static final int JOBS = 12;
    /** Until pools and caches are as large as they get. */
    private static final int WARM_UP = 4;

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void unclosedGroupsLeaveNothingOnceTheirContextsAreClosed(String links) throws Exception {
        for (int job = 0; job < WARM_UP; job++) {
            run(links, job);
        }
        Left first = Left.settled(null);
        for (int job = WARM_UP; job < WARM_UP + JOBS; job++) {
            run(links, job);
        }
        Left last = Left.settled(first);
        assertTrue(last.fits(first), "after " + JOBS + " jobs: " + last + ", before: " + first);
    }

    private static void run(String links, int number) throws Exception {
        try (TcpStoreServer store = TcpStoreServer.start(
                InetAddress.getLoopbackAddress(), PortRange.of("0"), JoinOptions.jobId("job", number), RANKS, null)) {
            List<Future<Float>> ranks = new ArrayList<>();
            for (int rank = 0; rank < RANKS; rank++) {
                JoinOptions options = JoinOptions.of(rank, RANKS)
                        .local(rank, RANKS)
                        .job("job", number)
                        .storeAt(store.endpoint())
                        .timeout(PATIENCE)
                        .setting("ferro.backend", "tcp")
                        .setting("ferro.links", links);
                ranks.add(OnThread.start(() -> sum(options, links)));
            }
            for (Future<Float> rank : ranks) {
                float sum = OnThread.result(rank);
                assertEquals(6, sum);
            }
        }
    }

    /** Sums and goes, without a close of anything but the context. */
    private static float sum(JoinOptions options, String links) {
        try (SystemContext context = SystemContext.of(options)) {
            ProcessGroup group = context.join();
            assertEquals(
                    links.equals("shm") ? "shared memory" : "TCP (loopback)",
                    group.medium().text());
            ProcessGroup subgroup = group.newGroup(0, 1, 2);
            float[] data = {group.rank() + 1};
            subgroup.allReduce(data, ReduceOp.SUM);
            group.allReduce(new float[100_000], ReduceOp.SUM);
            subgroup.recvAsync(HostTensor.of(new float[1]), (group.rank() + 1) % RANKS, 7);
            group.barrier();
            return data[0];
        }
    }

    /** Threads of ferro, descriptors, mappings of segments of shared memory, and files of segments that this process has. */
    private record Left(long threads, long descriptors, long mappings, long segments) {
        boolean fits(Left first) {
            return threads <= first.threads
                    && descriptors <= first.descriptors
                    && mappings <= first.mappings
                    && segments <= first.segments;
        }

        /** Looks until it fits: threads end a little later than their owner, mappings at the next collection. */
        static Left settled(Left first) throws IOException, InterruptedException {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            Left last = null;
            while (true) {
                System.gc();
                TimeUnit.MILLISECONDS.sleep(100);
                Left now = now();
                boolean settled = first == null ? now.equals(last) : now.fits(first);
                if (settled || System.nanoTime() - deadline > 0) {
                    return now;
                }
                last = now;
            }
        }

        private static Left now() throws IOException {
            long threads = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("ferro-"))
                    .count();
            long mappings = Files.readAllLines(Path.of("/proc/self/maps")).stream()
                    .filter(line -> line.contains("/dev/shm/"))
                    .count();
            return new Left(threads, count(Path.of("/proc/self/fd")), mappings, count(Path.of("/dev/shm")));
        }

        private static long count(Path folder) throws IOException {
            try (Stream<Path> files = Files.list(folder)) {
                return files.count();
            }
        }
    }
}
