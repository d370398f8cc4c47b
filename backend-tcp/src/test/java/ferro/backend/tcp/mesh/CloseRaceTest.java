package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.net.Threads;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A rank that closes in good order while another makes its first call, for which their connection is just being made. */
@Tag("long")
@Timeout(120)
class CloseRaceTest {
    private static final int ROUNDS = 60;
    /** A close that waits for the other rank in vain takes 5 s; on a busy machine a right one took 1.1 s. */
    private static final long BOUND_MILLIS = 3_000;

    private static final long STEP_NANOS = 20_000;

    @ParameterizedTest
    @CsvSource({"1, false", "0, false", "1, true", "0, true"})
    void theFirstCallOfAGroupEndsSoonWhenTheOtherRankCloses(int closing, boolean isSubgroup) {
        UnaryOperator<ProcessGroup> used = group -> isSubgroup ? group.newGroup(0, 1) : group;
        try (TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 2, null)) {
            Map<String, String> settings = new HashMap<>();
            settings.put("ferro.backend", "tcp");
            settings.put("ferro.rendezvous", "tcp://127.0.0.1:" + server.port());
            settings.put("FERRO_STORE_SERVED", "1");
            for (int round = 0; round < ROUNDS; round++) {
                Round one = new Round("round" + round, round * STEP_NANOS / 4, settings, used);
                CompletableFuture<FerroException> calling = Threads.start(() -> one.call(1 - closing));
                CompletableFuture<Void> leaving = Threads.start(() -> one.close(closing));
                FerroException failure = Ranks.result(calling);
                Ranks.result(leaving);
                assertEquals(Code.PEER_LOST, failure.code(), "round " + round + ": " + failure.getMessage());
                assertEquals(Set.of(closing), failure.where().culprits(), failure.getMessage());
                assertTrue(
                        one.millis < BOUND_MILLIS,
                        "round " + round + ": " + one.millis + " ms, " + one.callMillis + " of them in the call, until "
                                + failure.getMessage());
            }
        }
    }

    /** One group of two ranks. */
    private static final class Round {
        private final String name;
        private final long pauseNanos;
        private final Map<String, String> settings;
        private final UnaryOperator<ProcessGroup> used;
        private final CyclicBarrier together = new CyclicBarrier(2);
        private final CyclicBarrier over = new CyclicBarrier(2);
        /** Time of the call and of the close that follows it. */
        private volatile long millis;

        /** Time of the call alone, so that a red test tells which of the two was late. */
        private volatile long callMillis;

        Round(String name, long pauseNanos, Map<String, String> settings, UnaryOperator<ProcessGroup> used) {
            this.name = name;
            this.pauseNanos = pauseNanos;
            this.settings = settings;
            this.used = used;
        }

        FerroException call(int rank) {
            try (SystemContext context = SystemContext.of(settings);
                    ProcessGroup whole = Groups.join(GroupSpec.of(name, rank, 2, Ranks.LONG), context)) {
                ProcessGroup group = used.apply(whole);
                meet(together);
                long start = System.nanoTime();
                try (group) {
                    try {
                        group.allReduce(new int[] {3 + rank, 5}, ReduceOp.SUM);
                    } finally {
                        callMillis = millisSince(start);
                    }
                    throw new AssertionError("the call of rank " + rank + " ended well, alone");
                } catch (FerroException failure) {
                    // the group was closed before
                    millis = millisSince(start);
                    return failure;
                } finally {
                    meet(over);
                }
            }
        }

        Void close(int rank) {
            try (SystemContext context = SystemContext.of(settings);
                    ProcessGroup whole = Groups.join(GroupSpec.of(name, rank, 2, Ranks.LONG), context)) {
                ProcessGroup group = used.apply(whole);
                meet(together);
                long until = System.nanoTime() + pauseNanos;
                while (System.nanoTime() - until < 0) {
                    Thread.onSpinWait();
                }
                group.close();
                meet(over);
                return null;
            }
        }

        private static long millisSince(long nanos) {
            return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
        }

        private static void meet(CyclicBarrier barrier) {
            try {
                barrier.await(20, TimeUnit.SECONDS);
            } catch (Exception late) {
                throw new AssertionError("the other rank did not come within 20 s", late);
            }
        }
    }
}
