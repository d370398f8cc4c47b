package ferro.launcher;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertStarts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import ferro.launcher.GenerationOutcome.EndReason;
import ferro.launcher.input.RestartLimit;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GenerationsTest {
    private static final GenerationOutcome KILLED = failed(137, "rank 2 was ended by signal KILL");

    private static GenerationOutcome failed(int code, String cause) {
        return new GenerationOutcome(code, List.of(), null, cause, EndReason.FAILED);
    }

    /** Ends a generation after 3 s. */
    private static GenerationOutcome killed(Generations generations) {
        return generations.ended(KILLED, true, "", 0, 3);
    }

    private static Generations generations(int max) {
        return generations(max, Optional.empty());
    }

    private static Generations generations(int most, Optional<Duration> window) {
        return new Generations(new RestartLimit(most, window), () -> 0);
    }

    @Test
    void theRestartLineHasNumberDelayAndCause() {
        Generations two = generations(2);
        assertEquals(
                "generation 1 of at most 2 starts in 1s: rank 2 was ended by signal KILL",
                killed(two).next());
        two.met(1);
        GenerationOutcome second = killed(two);
        assertEquals(2000, second.waitMillis());
        assertEquals("generation 2 of at most 2 starts in 2s: rank 2 was ended by signal KILL", second.next());

        assertEquals(
                "generation 1 (restart 1 of at most 2 in 1h) starts in 1s: rank 2 was ended by signal KILL",
                killed(generations(2, Optional.of(Duration.ofHours(1)))).next());
    }

    @Test
    void theTimeThatRanksTakeToEndCountsForTheRestartDelay() {
        long[] now = {5_000_000_000L};
        Generations many = new Generations(new RestartLimit(9, Optional.empty()), () -> now[0]);
        assertEquals(700, many.ended(KILLED, true, "", 4_700_000_000L, 3).waitMillis());

        GenerationOutcome late = many.ended(KILLED, true, "", 1_000_000_000L, 3);
        assertEquals(0, late.waitMillis());
        assertHas(late.next(), "starts in 2s");
    }

    @Test
    void theLastFailureListsAllGenerationsAndTheReasonForNoRestart() {
        Generations one = generations(1);
        killed(one);
        one.met(1);

        GenerationOutcome end = one.ended(failed(1, "rank 0 ended with exit code 1"), true, "step 40", 0, 4);

        assertFalse(end.restarts());
        assertEquals(
                List.of(
                        "the job does not start again: the only restart is used",
                        "the job had these generations:",
                        "  generation 0: 3.0 s, rank 2 was ended by signal KILL",
                        "  generation 1: 4.0 s, rank 0 ended with exit code 1, last checkpoint step 40"),
                end.ofJob().notes());
    }

    @Test
    void aJobThatEndsBetweenGenerationsPrintsTheSameList() {
        Generations two = generations(2);
        killed(two);
        two.met(1);
        two.ended(KILLED, true, "", 0, 4);

        assertEquals(
                List.of(
                        "the job had these generations:",
                        "  generation 0: 3.0 s, rank 2 was ended by signal KILL",
                        "  generation 1: 4.0 s, rank 2 was ended by signal KILL"),
                GenerationOutcome.listed(two.lines()));
        assertEquals(List.of(), GenerationOutcome.listed(generations(2).lines()));
    }

    /** The only generation has ended, and a node does not come back for the next one. */
    @Test
    void aJobThatEndsBeforeItsSecondGenerationListsTheFirst() {
        Generations two = generations(2);
        GenerationOutcome first = killed(two);
        Generations other = generations(2);
        other.heard(first);

        for (Generations each : List.of(two, other)) {
            assertEquals(
                    List.of("the job had these generations:", "  generation 0: 3.0 s, rank 2 was ended by signal KILL"),
                    GenerationOutcome.listed(each.lines()));
        }
    }

    @Test
    void aLauncherThatLostNodeZeroListsItsLastGeneration() {
        Generations zero = generations(5);
        Generations other = generations(5);
        other.heard(killed(zero));
        other.met(1);

        GenerationOutcome alone = other.endedAlone(failed(1, "node 0 is lost: its connection has ended"), "", 4);

        assertFalse(alone.restarts());
        assertEquals(
                List.of(
                        "the job had these generations:",
                        "  generation 0: 3.0 s, rank 2 was ended by signal KILL",
                        "  generation 1: 4.0 s, node 0 is lost: its connection has ended"),
                alone.ofJob().notes());
        assertEquals(List.of(), generations(5).endedAlone(KILLED, "", 4).ofJob().notes());
    }

    @Test
    void aSuccessfulOrRequestedEndIsNotRestarted() {
        for (EndReason kind : List.of(EndReason.WELL, EndReason.ASKED)) {
            GenerationOutcome end =
                    generations(3).ended(new GenerationOutcome(0, List.of(), null, "", kind), true, "", 0, 3);

            assertFalse(end.restarts());
            assertEquals(List.of(), end.ofJob().notes(), "a job of one generation");
        }
    }

    @Test
    void aJobWithoutRestartsEndsWithoutAList() {
        GenerationOutcome end = killed(generations(0));

        assertFalse(end.restarts());
        assertEquals(KILLED, end.ofJob());
    }

    @Test
    void theDecisionOfNodeZeroIsReadUnchangedByOtherLaunchers() {
        Generations zero = generations(5);
        killed(zero);
        zero.met(1);
        GenerationOutcome decided = killed(zero);
        Generations other = generations(5);

        GenerationOutcome read = new Gson().fromJson(new Gson().toJson(decided), GenerationOutcome.class);
        other.heard(read);

        assertEquals(decided, read);
        assertTrue(read.restarts());
        assertEquals(zero.lines(), other.lines());
    }

    @Test
    void oldGenerationsOfAJobThatFailsForWeeksAreLeftOut() {
        Generations weeks = generations(30);
        for (int number = 0; number < 23; number++) {
            weeks.met(number);
            weeks.ended(KILLED, true, "", 0, 12.34);
        }

        assertEquals(21, weeks.lines().size());
        assertEquals("3 earlier generations are not shown", weeks.lines().get(0));
        assertStarts(weeks.lines().get(1), "generation 3: 12.3 s, ");
    }
}
