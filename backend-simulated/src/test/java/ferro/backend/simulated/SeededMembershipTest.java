package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ranks that stand still, under the virtual clock. */
@Timeout(60)
class SeededMembershipTest {
    private static final int SEEDS = 20;
    private static final int SLEEPER = 2;
    private static final Map<String, String> LONG = Map.of("ferro.timeout", "10m");

    private final List<List<GroupEvent>> events = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());

    @Test
    @DisplayName(
            "row 5, row 6: a rank that stands still is suspected, goes on, is told to all, and every result is right")
    void aPausedRankIsSuspectedAndContinues() {
        SystemContext context = SystemContext.ofProcess();
        Simulation.seeds(SEEDS, context).forEach(seed -> {
            events.forEach(List::clear);
            int[][] data = {{3}, {4}, {5}};
            run(
                    seed,
                    Duration.ofSeconds(8),
                    group -> group.allReduceAsync(HostTensor.of(data[group.rank()]), ReduceOp.SUM));

            assertArrayEquals(new int[][] {{12}, {12}, {12}}, data, "seed " + seed);
            for (int rank = 0; rank < 3; rank++) {
                List<GroupEvent> heard = events.get(rank);
                GroupEvent pause = only(heard, GroupEvent.Kind.PAUSED, seed);
                assertTrue(pause.text().matches("rank 2 was paused (7\\.9|8\\.0) s.*"), "seed " + seed + ": " + pause);
                assertEquals(rank == SLEEPER ? 0 : 1, count(heard, GroupEvent.Kind.SUSPECTED), "seed " + seed + heard);
                assertEquals(rank == SLEEPER ? 0 : 1, count(heard, GroupEvent.Kind.RECOVERED), "seed " + seed + heard);
                assertEquals(0, count(heard, GroupEvent.Kind.FAILED), "seed " + seed + heard);
            }
        });
    }

    @Test
    @DisplayName(
            "row 6: a rank that hangs under a long deadline ends all groups with PARTITION at the limit of heartbeats")
    void aRankThatHangsFailsTheGroupAtTheHeartbeatLimit() {
        SystemContext context = SystemContext.ofProcess();
        Simulation.seeds(SEEDS, context).forEach(seed -> {
            events.forEach(List::clear);
            List<Optional<FerroException>> failures = new ArrayList<>();
            List<ProcessGroup> groups = new ArrayList<>();
            Simulation.Result result = run(seed, Duration.ofSeconds(40), group -> {
                groups.add(group);
                group.allReduceAsync(HostTensor.of(new int[] {3 + group.rank()}), ReduceOp.SUM);
            });
            groups.forEach(group -> failures.add(group.failure()));

            for (Optional<FerroException> failure : failures) {
                assertEquals(Code.PARTITION, failure.orElseThrow().code(), "seed " + seed);
                assertEquals(Set.of(2), failure.orElseThrow().where().culprits(), "seed " + seed);
                String text = failure.orElseThrow().getMessage();
                assertTrue(text.contains("nothing heard from rank 2 for 30."), () -> "seed " + seed + ": " + text);
            }
            assertTrue(
                    result.virtualTime().compareTo(Duration.ofSeconds(42)) < 0, () -> "seed " + seed + ": " + result);
        });
    }

    /** All ranks run a script; one stands still from an early step on; the run goes on for a while. */
    private Simulation.Result run(long seed, Duration pause, Simulation.Script script) {
        Simulation simulation = Simulation.of(3, seed, LONG)
                .faults(List.of(new Fault.Pause(30 + seed % 10, SLEEPER, pause)))
                .mayFail();
        return simulation
                .onEveryRank(group -> {
                    group.onEvent(events.get(group.rank())::add);
                    script.run(group);
                    // nobody sends it: it keeps the run going
                    group.within(Duration.ofSeconds(20))
                            .recvAsync(HostTensor.of(new int[1]), (group.rank() + 1) % 3, 5);
                })
                .run();
    }

    private static GroupEvent only(List<GroupEvent> heard, GroupEvent.Kind kind, long seed) {
        assertEquals(1, count(heard, kind), () -> "seed " + seed + ": " + heard);
        return heard.stream().filter(event -> event.kind() == kind).findFirst().orElseThrow();
    }

    private static long count(List<GroupEvent> heard, GroupEvent.Kind kind) {
        return heard.stream().filter(event -> event.kind() == kind).count();
    }
}
