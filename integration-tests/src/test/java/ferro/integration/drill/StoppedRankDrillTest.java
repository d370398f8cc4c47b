package ferro.integration.drill;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Processes;
import ferro.integration.Links;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A rank of four is stopped as a debugger, a full machine or a pause of its JVM does it, for good or for a while. */
@Tag("long")
@Timeout(120)
class StoppedRankDrillTest {
    private static final Duration DEADLINE = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SHORT_STOP = Duration.ofSeconds(1);
    private static final Duration BEAT = Duration.ofMillis(200);
    /** As the defaults are, ten times as fast: suspects after two and a half beats; the limit is far. */
    private static final Map<String, String> BEATING = Map.of(
            "ferro.heartbeat.interval", BEAT.toMillis() + "ms",
            "ferro.heartbeat.suspect", 5 * BEAT.toMillis() / 2 + "ms",
            "ferro.heartbeat.limit", "60s");

    private static final Cell DEADLINE_PASSES = Cell.of(DrillFault.DEADLINE);
    private static final Cell HANGS = Cell.of(DrillFault.HANGS);

    @RegisterExtension
    static final Jvms JVMS = new Jvms();

    static Stream<Cell> stopped() {
        return Drill.whole()
                ? Stream.concat(
                        Drill.rounds(Drill.everyVictim(DEADLINE_PASSES)),
                        Drill.fewRounds(Drill.everyVictim(DEADLINE_PASSES.loaded())))
                : Stream.of(
                        DEADLINE_PASSES.of(0).over(Links.TCP),
                        DEADLINE_PASSES.of(3).over(Links.SHM));
    }

    @ParameterizedTest
    @MethodSource("stopped")
    @DisplayName(
            "row 4: at their deadline all name the rank that is stopped, which knows afterwards that it stood still")
    void allRanksNameAStoppedRankAtTheirDeadline(Cell cell) throws Exception {
        try (DrillJob job = DrillJob.joined(JVMS, cell, Map.of());
                BusyProcesses busy = new BusyProcesses()) {
            job.sum(DEADLINE, false);
            busy.beside(cell);

            job.signal(cell.victim(), "STOP");

            Measured measured = Measured.nothing(cell);
            long first = Long.MAX_VALUE;
            for (RankJvm survivor : job.but(cell.victims()).values()) {
                first = Math.min(first, survivor.awaitTag("failed").number("begun") + DEADLINE.toNanos());
            }
            for (Map.Entry<Integer, RankJvm> survivor : job.but(cell.victims()).entrySet()) {
                measured.add(survivor.getKey(), survivor.getValue().awaitTag("failed"), first);
            }
            measured.settle(job).write(StoppedRankDrillTest.class);
            job.signal(cell.victim(), "CONT");
            Line late = job.rank(cell.victim()).awaitTag("failed");
            boolean inTheCall = late.number("elapsed") > DEADLINE.toNanos() / 2;
            assertAll(
                    () -> measured.checkBlamedAmongOthers("TIMED_OUT", job),
                    () -> assertTrue(
                            !inTheCall || late.number("paused") > DEADLINE.toNanos() / 2,
                            () -> "stood still for a second: " + late));
        }
    }

    static Stream<Cell> stoppedForAWhile() {
        return Drill.whole()
                ? Drill.rounds(Drill.everyVictim(HANGS))
                : Stream.of(
                        HANGS.of(1).over(Links.TCP),
                        HANGS.of(2).over(Links.SHM),
                        HANGS.of(0).over(Links.TLS));
    }

    @ParameterizedTest
    @MethodSource("stoppedForAWhile")
    @DisplayName("row 5, row 6: a stop below the deadline is suspected within three beats and heals, with right sums")
    void aShortStopIsSuspectedAndTheJobContinues(Cell cell) throws Exception {
        try (DrillJob job = DrillJob.joined(JVMS, cell, DrillJob.all(), BEATING);
                BusyProcesses busy = new BusyProcesses()) {
            job.sum(LONG, false);
            busy.beside(cell);
            long at = System.nanoTime();
            job.signal(cell.victim(), "STOP");

            Measured suspected = events("SUSPECTED", cell, job, at);
            Processes.await(() -> System.nanoTime() - at > SHORT_STOP.toNanos(), LONG, "the clock stands still");
            long again = System.nanoTime();
            job.signal(cell.victim(), "CONT");
            Measured recovered = events("RECOVERED", cell.also(DrillFault.GOES_ON), job, again);
            job.pause();
            assertAll(
                    job::assertNothingWrong,
                    () -> DrillJob.all()
                            .forEach(rank -> assertFalse(job.rank(rank).hasSaid("failed"), job::toString)),
                    () -> assertBlamed(suspected, cell, job),
                    () -> assertBlamed(recovered, cell, job),
                    suspected::checkTimes,
                    recovered::checkTimes);
        }
    }

    private static Measured events(String kind, Cell cell, DrillJob job, long at) throws Exception {
        Measured measured = Measured.nothing(cell);
        for (Map.Entry<Integer, RankJvm> survivor : job.but(cell.victims()).entrySet()) {
            Line event = survivor.getValue().awaitEvent(kind, at);
            measured.add(survivor.getKey(), event.with("culprits", event.value("ranks")), at);
        }
        return measured.write(StoppedRankDrillTest.class);
    }

    private static void assertBlamed(Measured events, Cell cell, DrillJob job) {
        events.failed().forEach((rank, event) -> assertEquals(cell.victims(), event.culprits(), job::toString));
    }
}
