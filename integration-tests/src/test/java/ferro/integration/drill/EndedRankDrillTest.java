package ferro.integration.drill;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.Links;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A rank of four ends by itself, by {@code exit(0)}, or gives up by {@code abort}; how the launcher tells of it is LauncherBlameTest's. */
@Tag("long")
@Timeout(120)
class EndedRankDrillTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Cell EXITS = Cell.of(DrillFault.EXITS);
    private static final Cell ABORTS = Cell.of(DrillFault.ABORTS);

    @RegisterExtension
    static final Jvms JVMS = new Jvms();

    static Stream<Cell> exits() {
        return Drill.whole()
                ? Drill.fewRounds(Drill.everyVictim(EXITS))
                : Stream.of(
                        EXITS.of(3).over(Links.SHM),
                        EXITS.of(0).over(Links.TCP),
                        EXITS.of(1).over(Links.TLS));
    }

    @ParameterizedTest
    @MethodSource("exits")
    @DisplayName("row 19: the others name a rank that exits with 0 in the midst of the job")
    void theOthersNameARankThatExits(Cell cell) throws Exception {
        try (DrillJob job = DrillJob.joined(JVMS, cell, Map.of())) {
            job.sum(LONG, false);

            job.rank(cell.victim()).ask(Line.of("exit").with("code", 0));

            // the JVM's shutdown hooks notify the others, however long the process takes to end afterwards
            long at = job.rank(cell.victim()).awaitTag("exiting").number("at");
            Measured measured = Measured.of(cell, job, at).settle(job);
            // it is in a call, which its JVM's end aborts in so many words, or between two of them, and then has left
            boolean inCall = "ABORTED"
                    .equals(measured.failed().values().iterator().next().value("code"));
            if (inCall) {
                measured.write(EndedRankDrillTest.class).check("ABORTED", job);
            } else {
                // ranks that leave together have 50 ms to say goodbye, and the annex has exits in a call only
                measured.promised(cell.promisedMillis() + 50).check("PEER_LOST", job);
            }
            String why =
                    inCall ? "the JVM exits while rank " + cell.victim() + " is in" : cell.victim() + " left group";
            measured.failed()
                    .forEach((rank, said) -> assertTrue(said.text().contains(why), () -> "rank " + rank + ": " + said));
        }
    }

    static Stream<Cell> aborts() {
        return Drill.whole()
                ? Drill.fewRounds(Stream.of(ABORTS, ABORTS.loaded()).flatMap(Drill::everyVictim))
                : Stream.of(ABORTS.of(2).over(Links.TCP), ABORTS.of(0).over(Links.SHM));
    }

    @ParameterizedTest
    @MethodSource("aborts")
    @DisplayName("row 28: abort by one rank ends the calls of all, in its words")
    void anAbortOfOneRankEndsTheCallsOfAllRanks(Cell cell) throws Exception {
        try (DrillJob job = DrillJob.joined(JVMS, cell, List.of(), Map.of());
                BusyProcesses busy = new BusyProcesses()) {
            job.sum(LONG, false);
            busy.beside(cell);

            job.rank(cell.victim()).ask(Line.of("abort").saying("loss is not a number"));

            long at = job.rank(cell.victim()).awaitTag("aborting").number("at");
            Measured measured = Measured.of(cell, job, at);
            measured.add(cell.victim(), job.rank(cell.victim()).awaitTag("failed"), at);
            measured.settle(job).write(EndedRankDrillTest.class).check("ABORTED", job);
            measured.failed()
                    .forEach((rank, said) -> assertTrue(
                            said.text().contains("loss is not a number"), () -> "rank " + rank + ": " + said));
        }
    }
}
