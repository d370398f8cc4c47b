package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.control.failure.FailurePolicy;
import ferro.group.ProcessGroup;
import ferro.spi.Link;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Each fault of a simulation by itself, before every step of a short run. */
class SimulatedFaultsTest {
    private static final int RANKS = 4;
    /** Fewer than any of these runs has: a fault at a later step would never come. */
    private static final int STEPS = 50;
    /** As many as ranks take that call nothing. */
    private static final int IDLE_STEPS = 8;

    private static final Map<String, String> SETTINGS = Map.of("ferro.timeout", "1s", "ferro.heartbeat.interval", "0s");

    /** What the ranks held in the end. */
    private record Outcome(int[][] data, FerroException[] failures) {}

    private static Outcome allReduceWith(Fault fault, Map<String, String> settings) {
        int[][] data = {{3}, {4}, {5}, {6}};
        FerroException[] failures = new FerroException[RANKS];
        ProcessGroup[] groups = new ProcessGroup[RANKS];
        Simulation.of(RANKS, 7 + fault.step(), settings)
                .faults(List.of(fault))
                .onEveryRank(group -> {
                    groups[group.rank()] = group;
                    if (group.failure().isEmpty()) {
                        // who stood still before its call may find the group failed
                        group.allReduceAsync(HostTensor.of(data[group.rank()]), ReduceOp.SUM);
                    }
                })
                .check(() -> {
                    for (int rank = 0; rank < RANKS; rank++) {
                        failures[rank] = groups[rank] == null
                                ? null
                                : groups[rank].failure().orElse(null);
                    }
                })
                .run();
        return new Outcome(data, failures);
    }

    private static void assertAll(Outcome outcome, int except, Code code, Set<Integer> culprits) {
        for (int rank = 0; rank < RANKS; rank++) {
            if (rank != except) {
                assertNotNull(outcome.failures[rank], "rank " + rank + " knows of nothing");
                assertEquals(code, outcome.failures[rank].code());
                assertEquals(culprits, outcome.failures[rank].where().culprits());
            }
        }
    }

    @Test
    @DisplayName("row 1, row 2, row 3: a rank that crashes before any step is known and named on every other rank")
    void aRankThatCrashesAtAnyStepIsNamedOnAllOtherRanks() {
        for (int step = 0; step < STEPS; step++) {
            assertAll(allReduceWith(new Fault.Crash(step, 2), SETTINGS), 2, Code.PEER_LOST, Set.of(2));
        }
    }

    @Test
    @DisplayName("row 3: the call after a death between calls fails at once, and gives the medium nothing to do")
    void theCallAfterADeathFailsWithoutSendingAnything() {
        for (int step = 0; step < IDLE_STEPS; step++) {
            int[] asked = {0};
            List<String> refused = new ArrayList<>();
            Simulation simulation = new Simulation(
                    RANKS, 7 + step, SETTINGS, new SteppedRank.EngineInputs(counting(asked), FailurePolicy.SHIPPED));
            simulation.faults(List.of(new Fault.Crash(step, 2)));
            simulation
                    .onEveryRank(group -> group.onEvent(event -> {
                        int before = asked[0];
                        FerroException failure = refusal(group);
                        refused.add(failure.code() + " of " + failure.where().culprits() + ": asked "
                                + (asked[0] - before) + " times, moved "
                                + failure.where().bytesMoved());
                    }))
                    .run();

            assertEquals(
                    Collections.nCopies(RANKS - 1, "PEER_LOST of [2]: asked 0 times, moved 0"),
                    refused,
                    "step " + step);
        }
    }

    private static FerroException refusal(ProcessGroup group) {
        int[] data = {3};
        return assertThrows(FerroException.class, () -> group.allReduceAsync(HostTensor.of(data), ReduceOp.SUM));
    }

    /** Counts what the engine asks of the medium, but for looks at what has come. */
    private static UnaryOperator<Transport> counting(int[] asked) {
        return straight -> new BentTransport(straight, counting(asked)) {
            @Override
            boolean sends(int peer, ByteBuffer message) {
                asked[0]++;
                return true;
            }

            @Override
            Link bent(Link link) {
                asked[0]++;
                return link;
            }
        };
    }

    @Test
    @DisplayName("row 5: a rank that stands still for less than the deadline does no harm")
    // @start region="fault"
    void aPauseShorterThanTheDeadlineChangesNoResult() {
        for (int step = 0; step < STEPS; step++) {
            Outcome outcome = allReduceWith(new Fault.Pause(step, 1, Duration.ofMillis(700)), SETTINGS);
            assertArrayEquals(new int[][] {{18}, {18}, {18}, {18}}, outcome.data, "step " + step);
            assertArrayEquals(new FerroException[RANKS], outcome.failures, "step " + step);
        }
    }
    // @end

    @Test
    @DisplayName("row 4: a rank that stands still beyond the deadline is the one that all ranks blame, itself included")
    void aPauseBeyondTheDeadlineIsBlamedByAllRanks() {
        assertAll(allReduceWith(new Fault.Pause(2, 1, Duration.ofSeconds(3)), SETTINGS), -1, Code.TIMED_OUT, Set.of(1));
    }

    @Test
    void aRankThatOneOtherCannotReceiveFromFailsByHeartbeat() {
        Map<String, String> settings = Map.of(
                "ferro.timeout", "1h",
                "ferro.heartbeat.interval", "100ms",
                "ferro.heartbeat.suspect", "300ms",
                "ferro.heartbeat.limit", "1s");
        assertAll(allReduceWith(new Fault.OneWayPartition(0, 1, 0), settings), -1, Code.PARTITION, Set.of(1));
    }

    @Test
    @DisplayName("row 12: a link that breaks ends the group with one of its ranks to blame, or both")
    void aBrokenLinkBlamesOneOfItsTwoRanks() {
        int broken = 0;
        for (int step = 0; step < STEPS; step++) {
            Outcome outcome = allReduceWith(new Fault.Drop(step, 0, 1), SETTINGS);
            if (outcome.failures[3] != null) {
                broken++;
                Set<Integer> culprits = outcome.failures[3].where().culprits();
                assertTrue(Set.of(Set.of(0), Set.of(1), Set.of(0, 1)).contains(culprits), culprits::toString);
                assertAll(outcome, -1, Code.PARTITION, culprits);
            }
        }
        assertTrue(broken > 0, "no step found the link in use");
    }

    @Test
    void repeatedControlMessagesChangeNothing() {
        for (int step = 0; step < STEPS; step++) {
            Outcome outcome = allReduceWith(new Fault.Duplicate(step, 1, 0), SETTINGS);
            assertArrayEquals(new int[][] {{18}, {18}, {18}, {18}}, outcome.data, "step " + step);
        }
    }

    @Test
    void aRankBlamedAsDeadIsInTheLostRanks() {
        List<String> found = new ArrayList<>();
        for (int seed = 0; seed < 4 * STEPS; seed++) {
            String trial = "seed " + seed;
            Simulation.of(RANKS, seed, SETTINGS)
                    .faults(List.of(new Fault.Crash(seed % STEPS, 2)))
                    .onEveryRank(group -> {
                        group.onEvent(event -> found.add(trial + " by event: " + group.lost()));
                        if (group.failure().isEmpty()) {
                            group.allReduceAsync(HostTensor.of(new int[] {3}), ReduceOp.SUM)
                                    .completion()
                                    .exceptionally(failed -> {
                                        found.add(trial + " by call: " + group.lost());
                                        return null;
                                    });
                        }
                    })
                    .run();
        }
        assertEquals(
                List.of(),
                found.stream().filter(line -> !line.endsWith(": [2]")).toList());
        assertTrue(found.size() > 4 * STEPS, () -> "failures and events: " + found.size());
    }

    @Test
    void deathsAfterTheFirstAreLostOnAllSurvivors() {
        for (int step = 0; step < STEPS / 4; step++) {
            ProcessGroup[] groups = new ProcessGroup[RANKS];
            Simulation.of(RANKS, 7 + step, SETTINGS)
                    .faults(List.of(new Fault.Crash(step, 2), new Fault.Crash(step + 8, 3)))
                    .onEveryRank(group -> {
                        groups[group.rank()] = group;
                        group.recvAsync(HostTensor.of(new int[1]), 3, 7);
                    })
                    .check(() -> {
                        assertEquals("[2, 3]", groups[0].lost().toString());
                        assertEquals("[2, 3]", groups[1].lost().toString());
                    })
                    .run();
        }
    }

    @Test
    void scriptsMakeSubgroupsWithoutWaiting() {
        int[][] data = {{3}, {4}, {5}, {6}};
        Simulation simulation = Simulation.of(RANKS, 11);
        simulation
                .onEveryRank(group -> {
                    int[] members = group.rank() % 2 == 0 ? new int[] {2, 0} : new int[] {1, 3};
                    simulation.watch(simulation
                            .newGroup(group, members)
                            .thenCompose(made -> made.allReduceAsync(HostTensor.of(data[group.rank()]), ReduceOp.SUM)
                                    .completion()));
                })
                .check(() -> assertArrayEquals(new int[][] {{8}, {10}, {8}, {10}}, data))
                .run();
    }

    @Test
    void aFailureInASubgroupNamesTheRankByBothNumbers() {
        List<String> found = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            List<ProcessGroup> made = new ArrayList<>();
            Fault fault = step % 2 == 0 ? new Fault.Crash(step, 3) : new Fault.Pause(step, 3, Duration.ofSeconds(3));
            Simulation simulation = Simulation.of(RANKS, 11 + step, SETTINGS).faults(List.of(fault));
            simulation
                    .onEveryRank(group -> {
                        if (group.rank() % 2 == 1 && group.failure().isEmpty()) {
                            simulation.newGroup(group, 1, 3).thenCompose(subgroup -> {
                                made.add(subgroup);
                                return subgroup.allReduceAsync(HostTensor.of(new int[1]), ReduceOp.SUM)
                                        .completion()
                                        .exceptionally(why -> {
                                            found.add(why.getMessage());
                                            return null;
                                        });
                            });
                        }
                    })
                    .check(() -> made.forEach(group -> group.failure().ifPresent(why -> found.add(why.getMessage()))))
                    .run();
        }
        String header = "]\"(| has failed, as) rank (0 \\(rank 1|1 \\(rank 3) of \"simulated\"\\)( seq 1| reports): ";
        Pattern both = Pattern.compile(header + ".*(in its parent|rank 1 \\(rank 3 of \"simulated\")");
        found.forEach(text -> assertTrue(both.matcher(text).find(), text));
        for (String each : List.of(" reports: ", " seq 1: ", ": rank 0 (rank 1 of \"simulated\") of ")) {
            assertTrue(found.stream().anyMatch(text -> text.contains(each)), each);
        }
    }

    @Test
    void anAbortOfANestedSubgroupKeepsItsTextAndNamesBothNumbers() {
        List<ProcessGroup> made = new ArrayList<>();
        Simulation simulation = Simulation.of(RANKS, 11, SETTINGS);
        simulation
                .onEveryRank(group -> {
                    if (group.rank() == 0) {
                        return;
                    }
                    simulation.watch(simulation
                            .newGroup(group, 1, 2, 3)
                            .thenCompose(outer -> outer.rank() == 0
                                    ? CompletableFuture.completedFuture(outer)
                                    : simulation.newGroup(outer, 2, 1).thenApply(inner -> {
                                        made.add(inner);
                                        if (inner.rank() == 1) {
                                            inner.abort(new IllegalStateException("rank 1 is rank 1"));
                                        }
                                        return inner;
                                    })));
                })
                .check(() -> {
                    assertEquals(2, made.size());
                    for (ProcessGroup group : made) {
                        String text = group.failure().orElseThrow().getMessage();
                        assertTrue(text.contains("rank 1 (rank 2 of \"simulated\") aborted the group: "), text);
                        assertTrue(text.contains("IllegalStateException: rank 1 is rank 1\n"), text);
                    }
                })
                .run();
    }

    @Test
    void faultsOfRanksOutsideTheGroupAreRefused() {
        assertThrows(InvalidRankException.class, () -> Simulation.of(2, 1).faults(List.of(new Fault.Crash(0, 2))));
        assertThrows(
                IllegalArgumentException.class,
                () -> Simulation.of(2, 1)
                        .newGroup(
                                ProcessGroup.of(SimulatedBackend.createGroup(1).get(0)), 0));
    }
}
