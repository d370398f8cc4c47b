package ferro.integration.drill;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.Processes;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A rank of four is stopped as a debugger, a full machine or a pause of its JVM does it, for good or for a while. */
@Timeout(120)
class StoppedRankDrillTest {
    private static final long PROMISED_MILLIS = 100;
    private static final Duration DEADLINE = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SHORT_STOP = Duration.ofSeconds(Drill.whole() ? 3 : 1);
    private static final Duration BEAT = Duration.ofMillis(200);
    private static final int BEATS = 3;
    /** Suspects after three beats; the limit is far. */
    private static final Map<String, String> BEATING = Map.of(
            "ferro.heartbeat.interval", BEAT.toMillis() + "ms",
            "ferro.heartbeat.suspect", BEATS * BEAT.toMillis() + "ms",
            "ferro.heartbeat.limit", "60s");

    private static final Cell DEADLINE_PASSES = Cell.of(4, "SIGSTOP; deadline 1 s");
    private static final Cell HANGS = Cell.of(6, "SIGSTOP; three beats of 200 ms");

    private static final Jvms JVMS = new Jvms();

    @BeforeAll
    static void begin() throws IOException {
        Measured.begin(StoppedRankDrillTest.class);
    }

    @AfterAll
    static void end() {
        JVMS.close();
    }

    static Stream<Cell> stopped() {
        Stream<Cell> cells =
                Drill.whole() ? Stream.of(DEADLINE_PASSES, DEADLINE_PASSES.loaded()) : Stream.of(DEADLINE_PASSES);
        return Drill.rounds(cells.flatMap(Drill::everyVictim));
    }

    @ParameterizedTest
    @MethodSource("stopped")
    @DisplayName(
            "row 4: at their deadline all name the rank that is stopped, which knows afterwards that it stood still")
    void atTheirDeadlineAllNameTheRankThatIsStopped(Cell cell) throws Exception {
        try (DrillJob job = DrillJob.joined(JVMS, Map.of());
                BusyProcesses busy = new BusyProcesses()) {
            job.sum(DEADLINE, false);
            busy.beside(cell);

            job.stop(cell.victim());

            Measured measured = Measured.nothing(cell, PROMISED_MILLIS);
            long first = Long.MAX_VALUE;
            for (RankJvm survivor : job.but(cell.victims()).values()) {
                first = Math.min(first, survivor.await("failed").number("begun") + DEADLINE.toNanos());
            }
            for (Map.Entry<Integer, RankJvm> survivor : job.but(cell.victims()).entrySet()) {
                measured.add(survivor.getKey(), survivor.getValue().await("failed"), first);
            }
            measured.settle(job).write(StoppedRankDrillTest.class).checkBlamedAmongOthers("TIMED_OUT", job);
            job.resume(cell.victim());
            Line late = job.rank(cell.victim()).await("failed");
            boolean inTheCall = late.number("elapsed") > DEADLINE.toNanos() / 2;
            assertTrue(
                    !inTheCall || late.number("paused") > DEADLINE.toNanos() / 2,
                    () -> "stood still for a second: " + late);
        }
    }

    static Stream<Cell> stoppedForAWhile() {
        Stream<Cell> cells = Drill.whole() ? Drill.everyVictim(HANGS) : Stream.of(HANGS.of(1));
        return Drill.rounds(cells);
    }

    @ParameterizedTest
    @MethodSource("stoppedForAWhile")
    @DisplayName("row 5, row 6: a stop below the deadline is suspected within three beats and heals, with right sums")
    void aStopBelowTheDeadlineIsSuspectedAndHeals(Cell cell) throws Exception {
        try (DrillJob job = DrillJob.joined(JVMS, BEATING);
                BusyProcesses busy = new BusyProcesses()) {
            job.sum(LONG, false);
            busy.beside(cell);
            long at = System.nanoTime();
            job.stop(cell.victim());

            Measured measured = Measured.nothing(cell, BEATS * BEAT.toMillis());
            for (Map.Entry<Integer, RankJvm> survivor : job.but(cell.victims()).entrySet()) {
                Line event = survivor.getValue().awaitEvent("SUSPECTED");
                measured.add(survivor.getKey(), event.with("culprits", event.value("ranks")), at);
            }
            measured.write(StoppedRankDrillTest.class);
            Processes.await(() -> System.nanoTime() - at > SHORT_STOP.toNanos(), LONG, "the clock stands still");
            job.resume(cell.victim());
            for (RankJvm survivor : job.but(cell.victims()).values()) {
                assertEquals(
                        cell.victims(),
                        List.of((int) survivor.awaitEvent("RECOVERED").number("ranks")),
                        job::toString);
            }
            job.pause();
            job.assertNothingWrong();
            for (int rank : DrillJob.all()) {
                assertFalse(job.rank(rank).hasSaid("failed"), job::toString);
            }
            measured.failed().forEach((rank, event) -> assertEquals(cell.victims(), event.culprits(), job::toString));
            measured.checkTimes();
        }
    }
}
