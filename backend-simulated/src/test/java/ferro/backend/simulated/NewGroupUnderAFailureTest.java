package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Groups of four ranks of which some fail while, or after, ranks make subgroups of them. */
class NewGroupUnderAFailureTest {
    private static final int RANKS = 4;
    private static final int SEEDS = 40;
    private static final Map<String, String> SETTINGS = Map.of(
            "ferro.timeout", "1m",
            "ferro.heartbeat.interval", "100ms",
            "ferro.heartbeat.suspect", "300ms",
            "ferro.heartbeat.limit", "1s");

    @Test
    void allRanksOfASubgroupFailWithTheCauseOfTheParent() {
        for (int seed = 0; seed < SEEDS; seed++) {
            assertPartition(seed, 0, 1, 2, 3);
            assertPartition(seed, 3, 1, 0, 2);
        }
    }

    private static void assertPartition(int seed, int... members) {
        FerroException[] failures = new FerroException[RANKS];
        Simulation simulation = Simulation.of(RANKS, seed, SETTINGS);
        simulation
                .faults(List.of(new Fault.OneWayPartition(0, 0, 3), new Fault.OneWayPartition(0, 3, 0)))
                .onEveryRank(group -> simulation
                        .newGroup(group, members)
                        .thenCompose(made -> made.allReduceAsync(
                                        HostTensor.of(new int[] {3 + made.rank()}), ReduceOp.SUM)
                                .completion())
                        .whenComplete((done, failure) -> {
                            failures[group.rank()] = ferro(failure);
                            leave(group);
                        }))
                .check(() -> {
                    for (int rank = 0; rank < RANKS; rank++) {
                        assertNotNull(failures[rank], "rank " + rank + " of a group that two ranks never made");
                        String text = "rank " + rank + " of seed " + seed + ": " + failures[rank].getMessage();
                        assertEquals(Code.PARTITION, failures[rank].code(), text);
                        assertTrue(text.contains("nothing heard from rank"), text);
                    }
                })
                .run();
    }

    @Test
    @DisplayName(
            "an abort by a rank outside of a subgroup blames no member of it, if a member leaves because of the abort")
    void anAbortFromOutsideASubgroupBlamesNoMember() {
        int[] members = {0, 1, 2};
        for (int seed = 1; seed <= SEEDS; seed++) {
            Simulation simulation = Simulation.of(RANKS, seed, Map.of()).mayFail();
            ProcessGroup[] parts = new ProcessGroup[members.length];
            boolean[] done = new boolean[2];
            simulation.observe(rank -> {
                if (!done[0] && Stream.of(parts).allMatch(Objects::nonNull)) {
                    done[0] = true;
                    simulation.group(3).abort(new IllegalStateException("loss is not a number"));
                }
                if (done[0] && !done[1] && simulation.group(0).failure().isPresent()) {
                    done[1] = true;
                    parts[0].close();
                }
            });
            simulation
                    .onEveryRank(group -> {
                        if (group.rank() < members.length) {
                            simulation.newGroup(group, members).thenAccept(part -> {
                                parts[part.rank()] = part;
                                if (part.rank() > 0) {
                                    part.allReduceAsync(new float[] {1}, ReduceOp.SUM);
                                }
                            });
                        }
                    })
                    .check(() -> {
                        for (int rank = 1; rank < members.length; rank++) {
                            FerroException failure = parts[rank].failure().orElseThrow();
                            assertEquals(Code.ABORTED, failure.code(), failure.getMessage());
                            assertEquals(Set.of(), failure.where().culprits());
                        }
                    })
                    .run();
        }
    }

    private static FerroException ferro(Throwable failure) {
        return (FerroException) (failure instanceof CompletionException wrapped ? wrapped.getCause() : failure);
    }

    /** Closes a group as a program does that ends because of the failure. */
    private static void leave(ProcessGroup group) {
        group.close(Duration.ZERO);
    }
}
