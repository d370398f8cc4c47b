package ferro.backend.simulated;

import static ferro.backend.simulated.SimulatedRun.userFrame;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Code that runs on all ranks of a simulated group. */
@Timeout(60)
class SimulatedRunTest {
    private static final Map<String, String> SHORT = Map.of("ferro.timeout", "700ms");
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private static AssertionError failureOf(Executable run) {
        return assertThrows(AssertionError.class, run);
    }

    @Test
    void resultsAreInRankOrder() {
        List<String> results = SimulatedBackend.runAll(4, group -> {
            int[] sum = {group.rank() + 3};
            group.allReduce(sum, ReduceOp.SUM);
            return group.rank() + " has " + sum[0];
        });
        assertEquals(List.of("0 has 18", "1 has 18", "2 has 18", "3 has 18"), results);
    }

    @Test
    void inADebuggerCallsAndClosesHaveNoTimeout() {
        Map<String, String> debug = Map.of("ferro.debug", "true", "ferro.timeout", "30ms");
        CountDownLatch overdue = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        SimulatedBackend.run(2, debug, group -> {
            int[] sum = {group.rank() + 3};
            if (group.rank() == 1) {
                overdue.await();
                group.allReduce(sum, ReduceOp.SUM);
                assertFalse(never.await(300, TimeUnit.MILLISECONDS)); // rank 0 closes meanwhile
                group.allReduce(sum, ReduceOp.SUM);
                return;
            }
            Work late = group.within(Duration.ofMillis(20)).allReduceAsync(sum, ReduceOp.SUM);
            assertFalse(late.await(Duration.ofMillis(300)));
            overdue.countDown();
            late.await();
            assertEquals(7, sum[0]);
            Work last = group.allReduceAsync(sum, ReduceOp.SUM);
            group.close(Duration.ofMillis(20));
            last.await();
            assertEquals(14, sum[0]);
        });
    }

    @Test
    void settingsApplyToAllRanksAndAResultMayBeNull() {
        Map<String, String> settings = Map.of("ferro.timeout", "1500ms");
        assertEquals(
                Arrays.asList(null, Duration.ofMillis(1500)),
                SimulatedBackend.runAll(
                        2,
                        settings,
                        group -> group.rank() == 0 ? null : group.backend().timeout()));
        SimulatedBackend.run(
                2,
                settings,
                group -> assertEquals(Duration.ofMillis(1500), group.backend().timeout()));
    }

    @Test
    void theFirstFailureIsThrownAndTheOthersAreItsConsequences() {
        IOException full = new IOException("the disk is full");

        AssertionError failure = failureOf(() -> SimulatedBackend.run(3, group -> {
            group.barrier();
            if (group.rank() == 1) {
                throw full;
            }
            group.allReduce(new float[] {2, 3}, ReduceOp.SUM);
        }));

        assertSame(full, failure.getCause());
        assertEquals("rank 1 of 3 failed first: java.io.IOException: the disk is full", failure.getMessage());
        assertEquals(2, failure.getSuppressed().length, () -> Arrays.toString(failure.getSuppressed()));
        for (Throwable other : failure.getSuppressed()) {
            assertEquals(
                    Code.ABORTED, assertInstanceOf(FerroException.class, other).code(), other.getMessage());
            assertTrue(other.getMessage().contains("the disk is full"), other.getMessage());
        }
    }

    @Test
    void theCulpritIsNamedAlthoughAnotherRankFailsFirst() {
        CountDownLatch others = new CountDownLatch(2);
        IllegalStateException bad = new IllegalStateException("bad batch");

        AssertionError failure = failureOf(() -> SimulatedBackend.run(3, group -> {
            if (group.rank() == 2) {
                group.abort(bad);
                others.await();
                throw bad;
            }
            try {
                group.barrier();
            } finally {
                others.countDown();
            }
        }));

        assertSame(bad, failure.getCause());
        assertTrue(
                failure.getMessage().matches("(?s)rank 2 of 3 is to blame: .*: bad batch; rank [01] failed first: .*"),
                failure.getMessage());
    }

    @Test
    void aFailedCloseIsAFailureOfTheRank() {
        AssertionError failure = failureOf(() -> SimulatedBackend.run(2, group -> {
            if (group.rank() == 0) {
                group.send(new int[] {3}, 1, 4); // returns before rank 1 refuses the type
                assertTrue(becomes(() -> group.failure().isPresent()), "the group has not failed");
            } else {
                assertThrows(FerroException.class, () -> group.recv(new float[1], 0, 4));
            }
        }));
        FerroException mismatch = assertInstanceOf(FerroException.class, failure.getCause());
        assertEquals(Code.MISMATCH, mismatch.code(), mismatch.getMessage());
        assertTrue(failure.getMessage().startsWith("rank 0 of 2 failed first"), failure.getMessage());
    }

    private static boolean becomes(BooleanSupplier wanted) {
        for (long start = System.nanoTime(); !wanted.getAsBoolean() && System.nanoTime() - start < LIMIT.toNanos(); ) {
            LockSupport.parkNanos(2_000_000);
        }
        return wanted.getAsBoolean();
    }

    @Test
    void aKilledRankIsLostAndItsOwnFailureDoesNotCount() {
        List<Integer> results = SimulatedBackend.runAll(3, group -> {
            if (group.rank() == 2) {
                group.recv(new int[1], 0, 3); // ends when the rank is killed
                throw new AssertionError("a dead rank goes on");
            }
            if (group.rank() == 0) {
                SimulatedBackend.of(group).kill(2);
                SimulatedBackend.of(group).kill(2);
            }
            int[] data = {group.rank() + 2};
            FerroException lost = assertThrows(FerroException.class, () -> group.allReduce(data, ReduceOp.SUM));
            assertEquals(Code.PEER_LOST, lost.code(), lost.getMessage());
            assertEquals(Set.of(2), lost.where().culprits());
            return group.rank() + 5;
        });
        assertEquals(Arrays.asList(5, 6, null), results);
    }

    @Test
    void callsOfAKilledRankEndInItsSubgroupsToo() {
        CountDownLatch inCall = new CountDownLatch(1);
        SimulatedBackend.run(3, group -> {
            if (group.rank() == 0) {
                inCall.await();
                SimulatedBackend.of(group).kill(2);
                return;
            }
            try (ProcessGroup pair = group.newGroup(1, 2)) {
                if (group.rank() == 2) {
                    inCall.countDown();
                    pair.barrier(); // rank 1 of the group never comes
                }
                FerroException lost = assertThrows(FerroException.class, () -> pair.recv(new int[1], 1, 3));
                assertEquals(Code.PEER_LOST, lost.code(), lost.getMessage());
            }
        });
    }

    @Test
    void aRankMayKillItself() {
        List<String> results = SimulatedBackend.runAll(2, group -> {
            if (group.rank() == 1) {
                SimulatedBackend.of(group).kill(1);
                return "killed";
            }
            assertThrows(FerroException.class, group::barrier);
            return "alone";
        });
        assertEquals(List.of("alone", "killed"), results);
    }

    @Test
    void onlyRanksOfTheGroupCanBeKilled() {
        SimulatedBackend.run(2, group -> {
            assertThrows(
                    InvalidRankException.class, () -> SimulatedBackend.of(group).kill(2));
            try (ProcessGroup both = group.newGroup(1, 0)) {
                String refused = assertThrows(IllegalArgumentException.class, () -> SimulatedBackend.of(both))
                        .getMessage();
                assertTrue(refused.startsWith("need a group of SimulatedBackend.run"), refused);
            }
        });
        Simulation.of(2, 7)
                .onRank(0, group -> {
                    SimulatedBackend rank = SimulatedBackend.of(group);
                    assertThrows(UnsupportedOperationException.class, () -> rank.kill(1));
                })
                .run();
    }

    @Test
    void hangingCodeEndsAtTheDeadlineAndIsNamedWithItsStack() {
        CountDownLatch never = new CountDownLatch(1);

        AssertionError failure = failureOf(() -> SimulatedBackend.run(3, SHORT, group -> {
            if (group.rank() == 1) {
                never.await();
            }
            group.barrier();
        }));

        hangs("rank 1 of 3 is to blame: ", failure);
        assertTrue(failure.getMessage().matches("(?s).*; rank [02] failed first: .*"), failure.getMessage());
    }

    @Test
    void codeThatHangsWhileNoRankIsInACallEndsTooAndIsNamedByItsOwnLine() {
        AssertionError failure = failureOf(() -> SimulatedBackend.run(3, SHORT, group -> {
            if (group.rank() == 1) {
                Thread.sleep(LIMIT.toMillis());
            }
        }));

        hangs("rank 1 of 3 failed first: ", failure);
        assertTrue(
                failure.getMessage()
                        .matches("(?s).* within 700 ms.*; its thread was at \\S*SimulatedRunTest\\.lambda\\S+"
                                + "\\(SimulatedRunTest\\.java:\\d+\\), in java\\.lang\\.Thread\\.sleep"),
                failure.getMessage());
    }

    private static void hangs(String start, AssertionError failure) {
        assertTrue(failure.getMessage().startsWith(start), failure.getMessage());
        FerroException hang = assertInstanceOf(FerroException.class, failure.getCause());
        assertEquals(Code.TIMED_OUT, hang.code());
        assertTrue(
                Arrays.stream(hang.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().startsWith(SimulatedRunTest.class.getName())),
                () -> Arrays.toString(hang.getStackTrace()));
    }

    @Test
    void framesOfFerroAndTheJdkAreSkippedInTheNamedLine() {
        StackTraceElement[] stack = {
            new StackTraceElement("java.lang.Thread", "sleep", "Thread.java", -2),
            new StackTraceElement("ferro.group.ProcessGroup", "barrier", "ProcessGroup.java", 3),
            new StackTraceElement("ferro.examples.Train", "step", "Train.java", 88),
            new StackTraceElement("java.util.List", "forEach", "List.java", 5),
            new StackTraceElement("ferro.examples.Train", "main", "Train.java", 9),
        };
        assertEquals("ferro.examples.Train.step(Train.java:88), in ferro.group.ProcessGroup.barrier", userFrame(stack));
        assertEquals("ferro.examples.Train.step(Train.java:88)", userFrame(Arrays.copyOfRange(stack, 2, stack.length)));
        assertEquals("java.lang.Thread.sleep(native)", userFrame(Arrays.copyOf(stack, 1)), "code of nobody known");
        assertEquals("its end", userFrame(new StackTraceElement[0]));
    }

    @Test
    void ranksThatWaitForEachOtherAreNamedWithTheirCalls() {
        AssertionError failure = failureOf(() -> SimulatedBackend.run(
                3, SHORT, group -> group.recv(new int[1], (group.rank() + 1) % 3, group.rank() + 4)));

        String said = failure.getMessage();
        assertTrue(
                said.matches("(?s)ranks 0, 1, 2 of 3 wait for each other; rank [012] failed first: .*: gave up after"
                        + " \\d+ ms: ranks 0, 1, 2 wait for each other, so no rank alone is to blame: .*"),
                said);
        for (int rank = 0; rank < 3; rank++) {
            int next = (rank + 1) % 3;
            // on a busy machine a rank may answer the first question only
            String call = "(?s).*rank " + rank + " is (silent now; in its last answer it was )?in recv from rank "
                    + next + " tag " + (rank + 4) + ", waiting for rank " + next + ".*";
            assertTrue(said.matches(call), said);
        }
        assertFalse(said.contains("gave up on"), said);
    }

    @Test
    void aCycleOfAMessageAndACollectiveBlamesNoRankAlone() {
        AssertionError failure = failureOf(() -> SimulatedBackend.run(3, SHORT, group -> {
            if (group.rank() == 1) {
                group.within(LIMIT).recv(new int[1], 2, 4);
            }
            group.barrier();
        }));

        String said = failure.getMessage();
        assertTrue(said.matches("(?s)ranks (0, )?1, 2 of 3 wait for each other; rank .*"), said);
        assertTrue(said.contains("rank 1 has not made this call, its last call is none, and it is "), said);
        assertTrue(said.contains("in recv from rank 2 tag 4, waiting for rank 2"), said);
    }

    @Test
    void endlessCallsEndAtTheDeadline() {
        AssertionError failure = failureOf(() -> SimulatedBackend.run(2, SHORT, group -> {
            while (true) {
                group.barrier();
            }
        }));
        assertEquals(
                Code.TIMED_OUT,
                assertInstanceOf(FerroException.class, failure.getCause()).code());
        assertTrue(failure.getMessage().contains("set ferro.timeout"), failure.getMessage());
    }

    @Test
    void aHangingRankDoesNotHideTheFailureOfAnother() {
        CountDownLatch never = new CountDownLatch(1);

        AssertionError failure = failureOf(() -> SimulatedBackend.run(2, group -> {
            if (group.rank() == 0) {
                throw new IOException("no such file");
            }
            never.await();
        }));

        assertEquals("rank 0 of 2 failed first: java.io.IOException: no such file", failure.getMessage());
        assertEquals(
                1,
                Arrays.stream(failure.getSuppressed())
                        .filter(FerroException.class::isInstance)
                        .count());
    }

    @Test
    void anInterruptOfTheCallerEndsAllRanks() throws InterruptedException {
        CountDownLatch running = new CountDownLatch(2);
        AtomicReference<FerroException> thrown = new AtomicReference<>();
        Thread caller = new Thread(() -> {
            thrown.set(assertThrows(
                    FerroException.class,
                    () -> SimulatedBackend.run(2, group -> {
                        running.countDown();
                        group.recv(new int[1], 1 - group.rank(), 5);
                    })));
            assertTrue(Thread.currentThread().isInterrupted());
        });
        caller.start();
        running.await();

        caller.interrupt();
        caller.join(LIMIT.toMillis());

        assertFalse(caller.isAlive());
        assertEquals(Code.INTERRUPTED, thrown.get().code());
        assertTrue(becomes(() -> ferros().isEmpty()), () -> ferros().toString());
    }

    @Test
    void threadsAreDaemonsWithNamesAndNothingIsLeft() {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        Set<Thread> before = ferros();
        SimulatedBackend.run(3, group -> {
            threads.add(Thread.currentThread());
            // left open, with a call that has not been awaited
            group.split(0, group.rank()).orElseThrow().barrierAsync();
            group.barrier();
        });

        assertEquals(
                Set.of("ferro-simulated-0-body", "ferro-simulated-1-body", "ferro-simulated-2-body"),
                threads.stream().map(Thread::getName).collect(Collectors.toSet()));
        assertTrue(threads.stream().allMatch(Thread::isDaemon));
        assertTrue(threads.stream().noneMatch(Thread::isAlive));
        assertTrue(becomes(() -> before.containsAll(ferros())), () -> ferros().toString());
    }

    private static Set<Thread> ferros() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("ferro-"))
                .collect(Collectors.toSet());
    }

    @Test
    void aRunWithoutRanksOrCodeIsRefused() {
        String none = assertThrows(IllegalArgumentException.class, () -> SimulatedBackend.run(0, group -> {}))
                .getMessage();
        assertTrue(none.contains("found 0"), none);
        assertEquals(
                "body",
                assertThrows(NullPointerException.class, () -> SimulatedBackend.runAll(2, null))
                        .getMessage());
    }
}
