package ferro.launcher;

import static ferro.launcher.JobOutcomes.ended;
import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertStarts;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.launcher.output.RankOutput;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.Supervisor.JobOutcome;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the line of a restart and the list of generations name as the cause of the end. */
class CauseTest {
    private static final String MAIN = "Exception in thread \"main\" ";

    @TempDir
    private Path empty;

    private static String missing(int rank, String ranks) {
        return MAIN + "ferro.FerroException: RENDEZVOUS: joining \"world\" as rank " + rank + " failed, missing: ["
                + ranks
                + "] of 4, which did not join within 5000 ms; check that they run (ferro.join.timeout sets the time)";
    }

    @Test
    void aRankThatDidNotJoinIsNamedBeforeTheRankThatMissedIt() {
        Postmortem ended = report(List.of(ended(3, 1)), List.of(), thrown(3, missing(3, "1")));

        assertStarts(ended.cause(), "rank 1 did not join; rank 3 ended with exit code 1: RENDEZVOUS: joining ");
        String box = String.join("\n", ended.box(5.5).lines(120));
        assertHas(box, "| ferro: rank 1 did not join; rank 3 failed first: exit code 1\n");
        assertHas(box, "| rank 1: host a, pid 1001\n");
    }

    @Test
    void ranksThatDidNotJoinAreNamedTogether() {
        String cause = cause(
                List.of(ended(3, 1), ended(0, 1)), thrown(3, missing(3, "0, 1, 2")), thrown(0, missing(0, "1, 2")));

        assertStarts(cause, "ranks 1, 2 did not join; rank 3 ended with ");
    }

    @Test
    void ranksThatMissEachOtherAreNotNamedAsMissing() {
        String cause = cause(List.of(ended(3, 1), ended(1, 1)), thrown(3, missing(3, "1")), thrown(1, missing(1, "3")));

        assertStarts(cause, "rank 3 ended with exit code 1: RENDEZVOUS: ");
    }

    @Test
    void aCaughtOrLoggedJoinFailureNamesTheMissingRankToo() {
        String gone = "joining \"world\" as rank 0 failed after 5003 ms, waiting for ranks [1] of 4: connection closed";

        String thrown = cause(List.of(ended(0, 1)), thrown(0, MAIN + "app.Wrapped: ferro.FerroException: " + gone));
        String logged = cause(List.of(ended(0, 3)), printed(0, "SEVERE: RENDEZVOUS: " + gone));

        assertStarts(thrown, "rank 1 did not join; rank 0 ended with exit code 1: ");
        assertEquals(
                "rank 1 did not join; rank 0 ended with exit code 3; its last line: SEVERE: RENDEZVOUS: " + gone,
                logged);
    }

    @Test
    void aMissingRankThatEndedIsNamedWithItsOwnEnd() {
        String failed = cause(
                List.of(ended(3, 1), ended(1, 1)),
                thrown(3, missing(3, "1")),
                thrown(1, MAIN + "java.lang.OutOfMemoryError: Java heap space"));
        Postmortem left = report(List.of(ended(3, 1)), List.of(ended(1, 0)), thrown(3, missing(3, "1")));

        assertEquals(
                "rank 1 did not join; rank 1 ended with exit code 1: java.lang.OutOfMemoryError: Java heap space",
                failed);
        assertEquals("rank 1 did not join; rank 1 ended with exit code 0", left.cause());
    }

    @Test
    void theCauseHasTheExceptionOrTheLastLineAfterTheExitCode() {
        String aborted = "ferro.FerroException: ABORTED: barrier on group \"world\" rank 2 seq 4: no data";
        String full = "java.lang.OutOfMemoryError: Java heap space";
        String last = "Terminating due to java.lang.OutOfMemoryError";
        assertEquals("rank 2 ended with exit code 1: " + full, cause(List.of(ended(2, 1)), thrown(2, MAIN + full)));
        assertEquals(
                "rank 2 ended with exit code 1: ABORTED: no data",
                cause(List.of(ended(2, 1)), thrown(2, MAIN + aborted)));
        assertEquals(
                "rank 2 ended with exit code 3; its last line: " + last,
                cause(List.of(ended(2, 3)), printed(2, "step 7", last)));
        assertEquals("rank 2 ended with exit code 7", cause(List.of(ended(2, 7))));
    }

    @Test
    void aLongLineIsCutInTheCause() {
        String cause = cause(List.of(ended(2, 1)), thrown(2, MAIN + "app.Long: " + "x\u001b".repeat(500)));

        assertEquals("rank 2 ended with exit code 1: app.Long: " + "x?".repeat(95), cause);
    }

    @Test
    void aSignalIsNamedWithoutTheLastLine() {
        assertEquals("rank 2 was ended by signal KILL", cause(List.of(ended(2, 137)), printed(2, "step 7")));
    }

    private static RankOutput thrown(int rank, String line) {
        return new RankOutput(rank, 1000 + rank, List.of(line, "\tat app.Main.main(Main.java:3)"), List.of());
    }

    private static RankOutput printed(int rank, String... lines) {
        return new RankOutput(rank, 1000 + rank, List.of(), List.of(lines));
    }

    private String cause(List<JobEvent.RankEndEvent> failures, RankOutput... said) {
        return report(failures, List.of(), said).cause();
    }

    /** Returns the report on a job of four ranks; the launcher has stopped those that have not ended by themselves. */
    private Postmortem report(
            List<JobEvent.RankEndEvent> failures, List<JobEvent.RankEndEvent> left, RankOutput... said) {
        Set<Integer> stopped = new TreeSet<>(Set.of(0, 1, 2, 3));
        Stream.concat(failures.stream(), left.stream()).forEach(one -> stopped.remove(one.rank()));
        Map<Integer, RankOutput> printed = new TreeMap<>();
        Stream.of(0, 1, 2, 3).forEach(rank -> printed.put(rank, printed(rank)));
        Stream.of(said).forEach(one -> printed.put(one.rank(), one));
        JobOutcome outcome = JobOutcomes.outcome(failures, left, stopped);
        return JobOutcomes.alone(outcome, List.copyOf(printed.values()), empty);
    }
}
