package ferro.integration.drill;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.harness.Processes;
import ferro.integration.Links;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A rank of four is killed as {@code kill -9} does it: how soon the others know, and whom they name. */
@Tag("long")
@Timeout(120)
class KilledRankDrillTest {
    private static final Duration SOON = Duration.ofSeconds(5);
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Cell STAY = Cell.of(DrillFault.STAY);
    private static final Cell LEAVE = Cell.of(DrillFault.LEAVE);
    private static final Cell BETWEEN = Cell.of(DrillFault.BETWEEN);
    private static final Cell DOUBLE = Cell.of(DrillFault.TWO);

    @RegisterExtension
    static final Jvms JVMS = new Jvms();

    static Stream<Cell> killed() {
        if (!Drill.whole()) {
            return Stream.of(
                    STAY.of(0).over(Links.TCP),
                    STAY.of(1).over(Links.SHM).loaded(),
                    large(STAY.of(2).over(Links.TCP)),
                    LEAVE.of(1).over(Links.TCP),
                    LEAVE.of(2).over(Links.TLS),
                    LEAVE.of(3).over(Links.SHM));
        }
        return Stream.concat(
                Drill.rounds(Stream.of(LEAVE, STAY, large(STAY)).flatMap(Drill::everyVictim)),
                Drill.fewRounds(Drill.everyVictim(STAY.loaded())));
    }

    @ParameterizedTest
    @MethodSource("killed")
    @DisplayName("row 1, row 2: every survivor names the rank that is killed in the midst of a call")
    void everySurvivorNamesTheRankThatIsKilledInTheMidstOfACall(Cell cell, @TempDir Path records) throws Exception {
        assumeTrue(Drill.missingMemory(cell.heapMiB()).isEmpty(), () -> Drill.missingMemory(cell.heapMiB()));
        boolean leave = cell.fault() == DrillFault.LEAVE;
        try (DrillJob job = DrillJob.joined(JVMS, cell, Map.of("ferro.recorder.dir", records.toString()));
                BusyProcesses busy = new BusyProcesses()) {
            job.sum(LONG, leave);
            busy.beside(cell);

            long at = job.kill(cell.victim());

            Measured measured = Measured.of(cell, job, at);
            if (!leave) {
                measured.settle(job);
            }
            measured.write(KilledRankDrillTest.class).check("PEER_LOST", job);
            for (int survivor : job.but(cell.victims()).keySet()) {
                assertRecorded(records.resolve("ferro-default-rank" + survivor + ".json"), cell.victim(), job);
            }
        }
    }

    /**
     * Ranks that leave at once have left their records too. On a full machine the first file may come before the call has
     * ended, and the next one a moment later.
     */
    private static void assertRecorded(Path file, int victim, DrillJob job) throws IOException {
        Processes.await(() -> hasFailedCall(file), SOON, file + " does not have the failed call\n" + job);
        String record = Files.readString(file);
        assertTrue(record.contains("\"failure\":{\"code\":\"PEER_LOST\",\"culprits\":[" + victim + "]"), record);
        assertTrue(record.endsWith("]}\n"), record);
    }

    private static boolean hasFailedCall(Path file) {
        try {
            return Files.exists(file) && Files.readString(file).contains("\"state\":\"failed\",\"code\":\"PEER_LOST\"");
        } catch (IOException unreadable) {
            return false;
        }
    }

    static Stream<Cell> killedBetween() {
        return Drill.whole()
                ? Drill.rounds(Drill.everyVictim(BETWEEN))
                : Stream.of(BETWEEN.of(2).over(Links.TCP), BETWEEN.of(1).over(Links.SHM));
    }

    @ParameterizedTest
    @MethodSource("killedBetween")
    @DisplayName("row 3: listeners hear of a rank that is killed between calls, and the next call fails at once")
    void listenersReceiveTheDeathOfARankBetweenCalls(Cell cell) throws Exception {
        try (DrillJob job = DrillJob.joined(JVMS, cell, Map.of());
                BusyProcesses busy = new BusyProcesses()) {
            job.sum(LONG, false);
            job.pause();
            busy.beside(cell);

            long at = job.kill(cell.victim());

            Measured told = Measured.nothing(cell);
            Measured next = Measured.nothing(cell.also(DrillFault.NEXT_CALL));
            for (Map.Entry<Integer, RankJvm> survivor : job.but(cell.victims()).entrySet()) {
                Line event = survivor.getValue().awaitEvent("FAILED", at);
                told.add(survivor.getKey(), event.with("culprits", event.value("ranks")), at);
                survivor.getValue().tell(one());
                Line refused = survivor.getValue().awaitTag("refused");
                next.add(survivor.getKey(), refused, refused.number("begun"));
            }
            told.write(KilledRankDrillTest.class);
            next.write(KilledRankDrillTest.class);
            assertAll(
                    told::checkTimes,
                    () -> told.failed()
                            .forEach((rank, event) -> assertEquals(cell.victims(), event.culprits(), event::toString)),
                    () -> next.failed().values().forEach(call -> assertEquals(0, call.number("bytes"), call::toString)),
                    () -> next.check("PEER_LOST", job));
        }
    }

    static Stream<Cell> killedTwo() {
        Stream<Cell> pairs = Stream.of(
                DOUBLE.of(0, 1), DOUBLE.of(0, 2), DOUBLE.of(1, 3), DOUBLE.of(2, 3), DOUBLE.of(0, 3), DOUBLE.of(1, 2));
        return Drill.whole()
                ? Drill.fewRounds(pairs)
                : Stream.of(DOUBLE.of(1, 2).over(Links.SHM), DOUBLE.of(0, 3).over(Links.TCP));
    }

    @ParameterizedTest
    @MethodSource("killedTwo")
    @DisplayName("row 21: two ranks killed one after the other end the rest, which blame the dead alone")
    void survivorsOfTwoKilledRanksBlameOnlyThose(Cell cell) throws Exception {
        try (DrillJob job = DrillJob.joined(JVMS, cell, Map.of());
                BusyProcesses busy = new BusyProcesses()) {
            job.sum(LONG, false);
            busy.beside(cell);

            long at = job.kill(cell.victims().get(0), cell.victims().get(1));

            Measured measured = Measured.of(cell, job, at).settle(job);
            measured.write(KilledRankDrillTest.class);
            assertAll(
                    measured::checkTimes,
                    measured::checkAgreement,
                    () -> Stream.concat(measured.failed().values().stream(), measured.settled().stream())
                            .forEach(said -> assertTrue(blamesDeadOnly(said, cell), () -> said + "\n" + job)));
        }
    }

    private static boolean blamesDeadOnly(Line said, Cell cell) {
        List<Integer> blamed = said.culprits();
        return said.value("code").equals("PEER_LOST")
                && !blamed.isEmpty()
                && cell.victims().containsAll(blamed);
    }

    private static Line one() {
        return Line.of("one").with("elements", Drill.ELEMENTS).with("timeout", LONG.toMillis());
    }

    private static Cell large(Cell cell) {
        return cell.withHeap(Drill.LARGE_HEAP_MIB);
    }
}
