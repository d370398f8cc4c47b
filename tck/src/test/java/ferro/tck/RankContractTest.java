package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Backend;
import ferro.CollectiveKind;
import ferro.group.ProcessGroup;
import ferro.tck.RankContract.RankRule;
import ferro.tck.cells.Cell;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Rules on ranks that know each other by their group only, each on a thread of its own, as processes would run them. */
class RankContractTest {
    private static final Set<String> REFUSALS = Set.of(
            BackendContract.SUBGROUPS, BackendContract.ASYNCHRONOUS_MESSAGES, BackendContract.ABORT_ACROSS_RANKS);

    @Test
    void aSeparateRankRunsTheRulesForItsNumberOfRanks() {
        assertEquals(List.of(101, 102, 103, 104, 105, 106, 107, 108, 110, 127, 128), numbers(1));
        assertEquals(List.of(101, 102, 103, 104, 105, 106, 107, 108, 110, 113, 127, 128, 201), numbers(2));
        assertEquals(List.of(), numbers(6));
    }

    @Test
    void separateRanksRunTheirCellsInOneOrder() {
        List<Integer> lengths = Cell.of(CollectiveKind.ALL_REDUCE, 5).stream()
                .map(Cell::length)
                .distinct()
                .toList();

        assertEquals(List.of(0, 1, 4, 5, 6), lengths);
    }

    private static List<Integer> numbers(int worldSize) {
        return RankContract.onHost(() -> null, Set.of()).rules(worldSize).stream()
                .map(RankRule::number)
                .toList();
    }

    @Test
    void aCorrectBackendPassesTheRulesOnSeparateRanks() throws Exception {
        for (int number : List.of(101, 106, 110, 201)) {
            for (Throwable end : ends(number, QueueHub.group(2))) {
                assertEquals(null, end, () -> "end of rule " + number);
            }
        }
    }

    @Test
    void aWrongBackendIsCaughtOnEachWrongRank() throws Exception {
        List<Throwable> ends = ends(103, Decorator.group(2, WrongBackEndsTest.WRITES_OFF_THE_ROOT));

        assertTrue(ends.stream().allMatch(end -> end instanceof AssertionError), ends::toString);
        assertTrue(ends.get(0).getMessage().contains("on rank 0: input["), ends.get(0)::getMessage);
        assertTrue(ends.get(1).getMessage().contains("on rank 1: input["), ends.get(1)::getMessage);
    }

    @Test
    void aRuleForAnotherNumberOfRanksIsNotRun() {
        RankContract alone =
                RankContract.onHost(() -> ProcessGroup.of(QueueHub.group(1).get(0)), REFUSALS);

        RankRule rule = alone.rules(2).get(0);

        AssertionError refused = assertThrows(AssertionError.class, rule::run);
        assertEquals("the rule needs 2 ranks, found 1", refused.getMessage());
        assertEquals("rule 101 allReduceCombinesTheElementsOfAllRanksOnEveryRank of 2 ranks", rule.toString());
        assertThrows(UnsupportedOperationException.class, () -> alone.group(List.of(Map.of(), Map.of())));
    }

    private static List<Throwable> ends(int number, List<? extends Backend> backends) throws Exception {
        List<CompletableFuture<Throwable>> running = new ArrayList<>();
        for (Backend backend : backends) {
            running.add(CompletableFuture.supplyAsync(() -> end(number, backend), task -> new Thread(task).start()));
        }
        List<Throwable> ends = new ArrayList<>();
        for (CompletableFuture<Throwable> one : running) {
            ends.add(one.get(2, TimeUnit.MINUTES));
        }
        return ends;
    }

    private static Throwable end(int number, Backend backend) {
        RankContract rank = RankContract.onHost(() -> ProcessGroup.of(backend), REFUSALS);
        try {
            rank.rules(backend.worldSize()).stream()
                    .filter(rule -> rule.number() == number)
                    .forEach(RankRule::run);
            return null;
        } catch (AssertionError broken) {
            return broken;
        }
    }
}
