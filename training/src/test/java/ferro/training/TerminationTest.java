package ferro.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.HostTensor;
import ferro.backend.tcp.TcpStoreServer;
import ferro.harness.Child;
import ferro.harness.Jvm;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.TerminationGuard.ProcessTerminator;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import ferro.training.checkpoint.NamedTensor;
import ferro.training.checkpoint.TrainingState;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class TerminationTest {
    private static final Duration LONG = Duration.ofMinutes(5);

    @TempDir
    private Path folder;

    /** Keeps with which code a process would have been ended. */
    private static final class RecordedEnd implements ProcessTerminator {
        private final CompletableFuture<Integer> exit = new CompletableFuture<>();
        private final CompletableFuture<Integer> halt = new CompletableFuture<>();

        @Override
        public void exit(int exitCode) {
            exit.complete(exitCode);
        }

        @Override
        public void halt(int exitCode) {
            halt.complete(exitCode);
        }
    }

    @Test
    void allRanksStopAfterTheStepOfARequest() {
        List<Integer> steps = Ranks.run(Medium.SIMULATED, 3, group -> {
            Termination termination = new Termination(LONG, new RecordedEnd());
            int step = 0;
            do {
                step++;
                if (step == 4 && group.rank() == 1) {
                    termination.request();
                }
            } while (!termination.agreed(group));
            assertEquals(group.rank() == 1, termination.isRequested());
            assertTrue(termination.agreed(group), "asks nobody any more");
            return step;
        });
        assertEquals(List.of(4, 4, 4), steps);
    }

    @Test
    void exitEndsARankOnlyAfterARequestOrAnAgreement() {
        List<Integer> codes = Ranks.run(Medium.SIMULATED, 2, group -> {
            RecordedEnd ended = new RecordedEnd();
            Termination termination = new Termination(LONG, ended);
            assertFalse(termination.agreed(group));
            termination.exit();
            assertFalse(ended.exit.isDone());
            group.barrier();
            if (group.rank() == 1) {
                termination.request();
            }
            assertTrue(termination.agreed(group));
            termination.exit();
            return ended.exit.getNow(0);
        });
        assertEquals(List.of(143, 143), codes);
    }

    @Test
    void aProcessThatDoesNotLeaveIsExitedAndThenHalted() throws Exception {
        RecordedEnd ended = new RecordedEnd();
        new Termination(Duration.ofMillis(1), ended).request();
        assertEquals(143, ended.exit.get(60, TimeUnit.SECONDS));
        assertEquals(143, ended.halt.get(60, TimeUnit.SECONDS));
    }

    /** The signal went to another rank: the bound holds here, too. */
    @Test
    void aRankThatAgreedWithoutARequestIsHalted() throws Exception {
        RecordedEnd ended = new RecordedEnd();
        Ranks.run(Medium.SIMULATED, 2, group -> {
            Termination termination = group.rank() == 0
                    ? new Termination(Duration.ofMillis(1), ended)
                    : new Termination(LONG, new RecordedEnd());
            if (group.rank() == 1) {
                termination.request();
            }
            return termination.agreed(group);
        });
        assertEquals(143, ended.halt.get(60, TimeUnit.SECONDS));
    }

    @Test
    void aBoundThatIsNotPositiveIsRefused() {
        for (Duration bound : List.of(Duration.ZERO, Duration.ofSeconds(-1))) {
            assertThrows(IllegalArgumentException.class, () -> Termination.onSigterm(bound));
        }
    }

    /** Only rank 1 gets the signal. */
    @Test
    @DisabledOnOs(OS.WINDOWS)
    void ranksThatGetSigtermSaveAndEndWithCode143() throws Exception {
        try (TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 2, null);
                Child first = rank(0, server, "save");
                Child second = rank(1, server, "save")) {
            second.await("training");
            second.signal("TERM");
            assertEquals(143, second.exitCode(), second::toString);
            assertEquals(143, first.exitCode(), first::toString);
            float[] steps = {0};
            long step = Ranks.run(Medium.SIMULATED, 1, group -> {
                        try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
                            NamedTensor parameter = NamedTensor.of("steps", HostTensor.of(steps));
                            return checkpoints
                                    .load(TrainingState.of(List.of(parameter)))
                                    .step();
                        }
                    })
                    .get(0);
            assertEquals(step, (long) steps[0]);
            for (Child rank : List.of(first, second)) {
                List<String> printed = rank.outLines();
                assertEquals(
                        List.of("saved " + step, "left"),
                        printed.subList(printed.size() - 2, printed.size()),
                        printed::toString);
                // neither of an internal class, nor of a group that failed
                assertTrue(
                        printed.stream()
                                .noneMatch(line -> line.contains("sun.misc.Signal") || line.contains("Exception")),
                        printed::toString);
            }
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    @Tag("long")
    void aRankThatHangsAfterSigtermEndsWithCode143() throws Exception {
        try (TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 1, null);
                Child only = alone(server, "hang")) {
            only.await("training");
            only.signal("TERM");
            assertEquals(143, only.exitCode(), only::toString);
            assertTrue(
                    only.outLines().stream()
                            .anyMatch(line ->
                                    line.contains("still runs PT2S before the end of its bound of PT8S after SIGTERM")),
                    only::toString);
        }
    }

    /** One leaves by exit(), one does not leave; both have a shutdown hook that never ends. */
    @Test
    @DisabledOnOs(OS.WINDOWS)
    @Tag("long")
    void aProcessEndsWithinTheBoundAlthoughAShutdownHookHangs() throws Exception {
        try (TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 1, null);
                TcpStoreServer other = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 1, null);
                Child leaves = alone(server, "leave-hook");
                Child stays = alone(other, "hang-hook")) {
            leaves.await("training");
            stays.await("training");
            long begun = System.nanoTime();
            leaves.signal("TERM");
            stays.signal("TERM");
            for (Child child : List.of(leaves, stays)) {
                assertEquals(143, child.exitCode(), child::toString);
                assertTrue(
                        System.nanoTime() - begun < TrainsUntilTerminated.BOUND.toNanos(),
                        () -> "lives longer than the bound: " + child.outLines());
            }
            assertTrue(leaves.outLines().contains("left"), leaves::toString);
            assertTrue(leaves.outLines().contains("hook"), leaves::toString);
            assertTrue(stays.outLines().contains("hook"), stays::toString);
        }
    }

    private Child alone(TcpStoreServer server, String then) throws Exception {
        return Child.start(
                Jvm.line(List.of(), TrainsUntilTerminated.class, 0, 1, server.port(), folder + "/" + then, then));
    }

    private Child rank(int rank, TcpStoreServer server, String then) throws Exception {
        return Child.start(Jvm.line(List.of(), TrainsUntilTerminated.class, rank, 2, server.port(), folder, then));
    }
}
