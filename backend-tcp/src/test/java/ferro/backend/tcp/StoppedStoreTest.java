package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.TcpStoreClient.StoreAddress;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.Threads;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks close their groups while the process that serves the store is stopped. */
@Timeout(120)
class StoppedStoreTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    /** Above the promised 5 s, for a slow machine; below {@link #TIMEOUT}, for which a close waited. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(12);

    private static final int TRIES = 3;
    private static final Duration BOUND = Duration.ofSeconds(1);
    /** A close that waits for the store after its bound takes a second more. A slow machine is given {@link #TRIES} tries. */
    private static final long BEYOND_NANOS = TimeUnit.MILLISECONDS.toNanos(1900);

    private final TcpJob job = new TcpJob(2, TIMEOUT, Map.of("ferro.links", "tcp"));
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch resumed = new CountDownLatch(1);
    private final List<SystemContext> contexts = new ArrayList<>();

    @BeforeEach
    void makeContexts() {
        contexts.add(job.context());
        contexts.add(job.context());
    }

    @AfterEach
    void end() {
        resumed.countDown();
        job.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCloseDoesNotWaitForTheStore(boolean isAborted) throws InterruptedException {
        List<ProcessGroup> groups = job.joined("g", contexts);
        stopStore();

        if (isAborted) {
            groups.get(0).abort(new IllegalStateException("planned"));
        }

        assertClosedInTime(groups);
    }

    @Test
    void aCloseBesideAStoppedStoreEndsWithinItsBound() throws InterruptedException {
        List<ProcessGroup> groups = new ArrayList<>();
        for (int one = 0; one < TRIES; one++) {
            groups.add(job.joined("g" + one, contexts).get(0));
        }
        stopStore();

        long shortest = Long.MAX_VALUE;
        for (int one = 0; one < TRIES && shortest >= BEYOND_NANOS; one++) {
            groups.get(one).send(new float[] {7}, 1, 3); // rank 1 never receives it
            long begun = System.nanoTime();
            groups.get(one).close(BOUND);
            shortest = Math.min(shortest, System.nanoTime() - begun);
        }

        assertTrue(shortest < BEYOND_NANOS, "close took " + shortest / 1_000_000 + " ms, its bound is 1000");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ranksJoinAgainUnderTheSameNameWhenTheStoreResumes(boolean haveAnotherGroup) throws InterruptedException {
        List<ProcessGroup> open = haveAnotherGroup ? job.joined("open", contexts) : List.of();
        List<ProcessGroup> groups = job.joined("g", contexts);
        stopStore();
        assertClosedInTime(groups);
        List<CompletableFuture<ProcessGroup>> again = job.joining("g", contexts);

        resumed.countDown();

        TcpJob.onAll(again.stream().map(Ranks::result).toList(), group -> AbortBesideSiblingTest.sum(group, 3, 100));
        TcpJob.onAll(open, group -> AbortBesideSiblingTest.sum(group, 5, 100));
    }

    /** Holds the one thread of the store, as a stop of its process would. */
    private void stopStore() throws InterruptedException {
        job.store.onSet((key, value) -> {
            stopped.countDown();
            Threads.awaitQuietly(resumed);
        });
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), job.store.port());
        Threads.start(() -> {
            try (TcpStoreClient client =
                    TcpStoreClient.open(StoreAddress.of(address, "default", null, 7), Ranks.LONG)) {
                client.store().set("stop", new byte[] {1});
                Threads.awaitQuietly(resumed);
            }
            return null;
        });
        assertTrue(stopped.await(Ranks.LONG.toSeconds(), TimeUnit.SECONDS), "the store has not stopped");
    }

    private static void assertClosedInTime(List<ProcessGroup> groups) {
        List<Long> took = TcpJob.onAll(groups, group -> {
            long begun = System.nanoTime();
            group.close();
            return System.nanoTime() - begun;
        });
        for (long nanos : took) {
            assertTrue(nanos < CLOSE_NANOS, () -> "close took " + nanos / 1_000_000 + " ms, promised are 5000");
        }
    }
}
