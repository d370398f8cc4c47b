package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.Sockets;
import ferro.backend.tcp.net.Threads;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** For whom the close of a rank's last group waits, and how long. */
@Timeout(60)
class LastCloseTest {
    /** Below what is sent without asking, so that sends return before anybody receives. */
    private static final int FLOATS = 10_000;

    private static final int MESSAGES = 5;
    private static final long WAITS_MILLIS = 300;

    private final TcpJob job = new TcpJob(2, Ranks.LONG, Map.of("ferro.links", "tcp"));

    @AfterEach
    void end() {
        job.close();
    }

    @Test
    void aCloseWaitsUntilALateReceiverHasItsMessages() throws InterruptedException {
        List<ProcessGroup> groups = job.joinAll("world");
        CompletableFuture<Long> leaving = Threads.start(() -> leave(groups.get(0), Duration.ofSeconds(20)));
        Threads.awaitInside(ProcessGroup.class, "close", 1);
        assertThrows(TimeoutException.class, () -> leaving.get(WAITS_MILLIS, TimeUnit.MILLISECONDS));

        float[] data = new float[FLOATS];
        for (int message = 0; message < MESSAGES; message++) {
            groups.get(1).recv(data, 0, 3);
            assertEquals(message + 7, data[FLOATS - 1]);
        }
        long millis = Ranks.result(leaving);
        assertTrue(millis < 10_000, "close took " + millis + " ms, it waited for its bound");
    }

    /** Half of a short bound is waited for at least; 5000 ms are the usual bound. */
    @ParameterizedTest
    @CsvSource({"0, 0, 4000", "300, 150, 3300"})
    void aCloseWaitsForAnUnreceivedMessageOnlyUpToTheBound(long bound, long min, long max) {
        List<ProcessGroup> groups = job.joinAll("world");
        groups.get(0).send(new float[] {7}, 1, 3);

        long begun = System.nanoTime();
        groups.get(0).close(Duration.ofMillis(bound));

        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
        assertTrue(millis >= min && millis < max, "close of " + bound + " ms took " + millis + " ms");
    }

    @Test
    void theStoreOfRankZeroAnswersUntilAllHaveLeft() throws IOException, InterruptedException {
        Map<String, String> settings = Map.of(
                "ferro.backend", "tcp",
                "ferro.links", "tcp",
                "MASTER_ADDR", "127.0.0.1",
                "MASTER_PORT", Integer.toString(Sockets.freePort()),
                "FERRO_STORE_SERVED", "0");
        try (SystemContext zero = SystemContext.of(settings);
                SystemContext one = SystemContext.of(settings)) {
            CompletableFuture<ProcessGroup> serving = Threads.start(() -> join("world", 0, zero));
            ProcessGroup other = join("world", 1, one);
            ProcessGroup server = Ranks.result(serving);
            CompletableFuture<Void> leaving = Threads.start(() -> {
                server.barrier();
                server.close(Duration.ofSeconds(20));
                return null;
            });
            other.barrier();
            Threads.awaitInside(ProcessGroup.class, "close", 1);
            assertThrows(TimeoutException.class, () -> leaving.get(WAITS_MILLIS, TimeUnit.MILLISECONDS));
            assertEquals(
                    1,
                    Sockets.listening(Integer.parseInt(settings.get("MASTER_PORT")))
                            .size(),
                    "the store");

            other.close();

            Ranks.result(leaving);
        }
    }

    @Test
    void aSubgroupIsClosedWithoutWaiting() {
        List<ProcessGroup> groups = job.joinAll("world");
        List<ProcessGroup> parts = TcpJob.onAll(groups, group -> group.newGroup(0, 1));
        parts.get(0).send(new float[] {7}, 1, 3);

        long begun = System.nanoTime();
        parts.get(0).close();

        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
        assertTrue(millis < 4000, "closing a subgroup took " + millis + " ms, 5000 are the bound of a last close");
        float[] data = new float[1];
        parts.get(1).recv(data, 0, 3);
        assertArrayEquals(new float[] {7}, data);
        parts.get(1).close();
    }

    private static ProcessGroup join(String name, int rank, SystemContext context) {
        return Groups.join(GroupSpec.of(name, rank, 2, Ranks.LONG), context);
    }

    /** Sends what is on its way when the sends have returned; returns how long the close took. */
    private static long leave(ProcessGroup group, Duration bound) {
        float[] data = new float[FLOATS];
        for (int message = 0; message < MESSAGES; message++) {
            data[FLOATS - 1] = message + 7;
            group.send(data, 1, 3);
        }
        long begun = System.nanoTime();
        group.close(bound);
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    }
}
