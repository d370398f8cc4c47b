package ferro.backend.nccl.comm;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static ferro.backend.nccl.comm.NcclRanks.sum;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.Store;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.backend.nccl.queue.LocalStore;
import ferro.group.SystemContext;
import ferro.harness.OnThread;
import ferro.harness.Processes;
import ferro.spi.ExitTask;
import ferro.spi.ExitTask.JvmExit;
import ferro.spi.ExitTask.Stage;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What groups do when their JVM is said to end, and how long that may take. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class NcclExitTest {
    private static final long SHORT_MILLIS = 500;
    private static final long LATE_MILLIS = 3_000;

    /** A rank whose JVM ends when the test says so. */
    private static final class Rank extends ForwardingContext {
        private final Map<Stage, ExitTask> tasks = new ConcurrentHashMap<>();
        private final SystemContext own;
        private JnaNcclBackend end;

        private Rank(SystemContext own) {
            super(own);
            this.own = own;
        }

        static List<Rank> two(Store store) {
            List<Rank> ranks = List.of(
                    new Rank(NcclRanks.context(0, store, Map.of())), new Rank(NcclRanks.context(1, store, Map.of())));
            List<CompletableFuture<JnaNcclBackend>> joining =
                    List.of(ranks.get(0).joining(0), ranks.get(1).joining(1));
            ranks.get(0).end = joining.get(0).join();
            ranks.get(1).end = joining.get(1).join();
            return ranks;
        }

        private CompletableFuture<JnaNcclBackend> joining(int rank) {
            return OnThread.start(() -> NcclWorld.join(GroupSpec.of("exits", rank, 2, SOON), this));
        }

        @Override
        public ExitTask.Handle atExit(Stage stage, ExitTask task) {
            assertNull(tasks.put(stage, task), "two tasks of one stage");
            return () -> tasks.remove(stage, task);
        }

        /** Returns how many milliseconds it has taken. */
        long exit(String signal, long boundMillis) {
            long begun = nanoTime();
            JvmExit exit = new JvmExit(signal, begun + TimeUnit.MILLISECONDS.toNanos(boundMillis));
            ExitTask second = tasks.get(Stage.GROUPS);
            tasks.get(Stage.DEVICES).run(exit);
            second.run(exit);
            return TimeUnit.NANOSECONDS.toMillis(nanoTime() - begun);
        }

        /** What goes on behind the bound ends on threads of its own. */
        void awaitOver() {
            Processes.await(tasks::isEmpty, NcclRanks.LIMIT, "tasks are still there");
            own.close();
        }

        void sums() {
            end.submit(sum(4, 7), SOON);
        }
    }

    private static String failure(Rank rank) {
        FerroException failure = rank.end.failure().orElse(null);
        assertNotNull(failure, "works");
        assertEquals(Set.of(1), failure.where().culprits(), failure.toString());
        return failure.getMessage();
    }

    @Test
    @DisplayName("groups that are idle at the end of their JVMs leave well, and nothing is left to do")
    void idleGroupsAreClosedNormallyAtTheEndOfTheJvm() {
        List<Rank> ranks = Rank.two(new LocalStore());
        List<CompletableFuture<Long>> exits = ranks.stream()
                .map(rank -> OnThread.start(() -> rank.exit("", NcclRanks.LIMIT.toMillis())))
                .toList();
        for (int rank = 0; rank < 2; rank++) {
            assertTrue(exits.get(rank).join() < LATE_MILLIS, "until the bound");
            assertTrue(ranks.get(rank).end.failure().isEmpty());
            ranks.get(rank).awaitOver();
        }
    }

    @Test
    @DisplayName("the tasks for the end of the JVM are taken back by the last close of a family")
    void theLastCloseRemovesTheShutdownTasks() {
        List<Rank> ranks = Rank.two(new LocalStore());
        List<CompletableFuture<CollectiveBackend>> making = ranks.stream()
                .map(rank -> OnThread.start(() -> rank.end.newGroup(new int[] {0, 1}, "/sub", SOON)))
                .toList();
        List<CompletableFuture<Void>> closing = ranks.stream()
                .map(rank -> OnThread.run(() -> {
                    CollectiveBackend sub = making.get(rank.end.rank()).get();
                    rank.end.close();
                    assertEquals(2, rank.tasks.size(), "the subgroup is open");
                    sub.close();
                    assertTrue(rank.tasks.isEmpty());
                }))
                .toList();
        closing.forEach(one -> assertNull(OnThread.outcome(one)));
        ranks.forEach(Rank::awaitOver);
    }

    @Test
    @DisplayName("the end of a JVM waits for a rank that stays no longer than its bound")
    void aRemainingRankDelaysTheEndOfTheJvmOnlyUpToABound() {
        List<Rank> ranks = Rank.two(new LocalStore());
        long millis = ranks.get(1).exit("", SHORT_MILLIS);
        assertTrue(millis < LATE_MILLIS, millis + " ms");
        assertTrue(ranks.get(1).end.failure().isEmpty());
        ranks.get(0).end.close();
        ranks.forEach(Rank::awaitOver);
    }

    @Test
    @DisplayName("a native abort that hangs holds up the end of a JVM that is in a call no longer than its bound")
    void aHangingAbortDelaysTheEndOfTheJvmOnlyUpToABound() {
        List<Rank> ranks = Rank.two(new LocalStore());
        Rank exits = ranks.get(1);
        exits.sums();
        StandInHooks.standInAbortHangs(1);
        try {
            long millis = exits.exit("", SHORT_MILLIS);
            assertTrue(millis < LATE_MILLIS, millis + " ms");
            assertTrue(failure(exits).contains("the JVM exits while rank 1 is in allReduce seq 1: its main"));
        } finally {
            StandInHooks.standInAbortHangs(0);
        }
        ranks.get(0).end.close(Duration.ZERO);
        ranks.forEach(Rank::awaitOver);
    }

    @Test
    @DisplayName("the end of a JVM in newGroup fails the group")
    void theEndOfTheJvmInNewGroupFailsTheGroup() {
        List<Rank> ranks = Rank.two(new LocalStore());
        CompletableFuture<?> making = OnThread.start(() -> ranks.get(1).end.newGroup(new int[] {0, 1}, "/sub", SOON));
        Processes.await(ranks.get(1).end.control().agreement()::isInProgress, SOON, "no agreement");
        ranks.get(1).exit("SIGTERM", SHORT_MILLIS);
        assertTrue(failure(ranks.get(1)).contains("rank 1 was ended by shutdown (SIGTERM) in newGroup"));
        assertFalse(OnThread.outcome(making) instanceof AssertionError);
        ranks.get(0).end.close(Duration.ZERO);
        ranks.forEach(Rank::awaitOver);
    }
}
