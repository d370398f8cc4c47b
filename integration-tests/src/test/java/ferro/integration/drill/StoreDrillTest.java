package ferro.integration.drill;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

/** What becomes of groups whose store dies, and of ranks that wait for one that never comes. */
@Tag("long")
@Timeout(120)
class StoreDrillTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration JOIN = Duration.ofSeconds(2);

    @RegisterExtension
    static final Jvms JVMS = new Jvms();

    static Stream<Cell> missing() {
        Cell missing = Cell.of(DrillFault.MISSING);
        return Drill.whole()
                ? Drill.fewRounds(Drill.everyVictim(missing))
                : Stream.of(missing.of(3).over(Links.TCP), missing.of(0).over(Links.SHM));
    }

    @ParameterizedTest
    @MethodSource("missing")
    @DisplayName("row 23: ranks that wait for one that never comes all name it at one deadline")
    void ranksThatWaitForAMissingRankAllNameIt(Cell cell) throws Exception {
        // they have joined before: one that has just started reads most of its classes before its deadline begins
        try (DrillJob job = DrillJob.joined(JVMS, cell, Map.of())) {
            job.joinAgain(JOIN);

            Measured measured = Measured.nothing(cell);
            for (Map.Entry<Integer, RankJvm> present : job.but(cell.victims()).entrySet()) {
                Line unjoined = present.getValue().awaitTag("unjoined");
                measured.add(present.getKey(), unjoined, unjoined.number("begun") + JOIN.toNanos());
            }
            measured.write(StoreDrillTest.class).check("RENDEZVOUS", job);
            String missing = "missing: " + cell.victims() + " of 4";
            measured.failed().values().forEach(said -> assertTrue(said.text().contains(missing), said::toString));
        }
    }

    /** Measures nothing, so that once is enough. */
    static Stream<Cell> gone() {
        Cell gone = Cell.of(DrillFault.STORE_GONE);
        return Stream.of(gone.over(Links.TCP), gone.over(Links.SHM), gone.over(Links.TLS));
    }

    @ParameterizedTest
    @MethodSource("gone")
    @DisplayName(
            "row 22: groups go on and have subgroups when their store is gone, and a new process names the store it misses")
    void groupsContinueWithoutTheirStore(Cell cell) throws Exception {
        try (DrillJob job = DrillJob.joined(JVMS, cell, Map.of())) {
            job.sum(LONG, false);

            job.store.close();

            job.pause();
            job.tellAll(Line.of("part").with("culprits", "0,1,2,3"));
            job.tellAll(Line.of("one").with("elements", Drill.ELEMENTS).with("timeout", LONG.toMillis()));
            for (int rank : DrillJob.all()) {
                job.rank(rank).awaitTag("done");
            }
            job.assertNothingWrong();
            // a fresh process cannot know that the store was ever up: it tries until its deadline
            RankJvm late = JVMS.start(Drill.SMALL_HEAP_MIB);
            late.tell(job.joinAs(0, JOIN, Map.of()));
            Line unjoined = late.awaitTag("unjoined");
            assertEquals("RENDEZVOUS", unjoined.value("code"), unjoined::toString);
            assertTrue(unjoined.text().contains("127.0.0.1:" + job.store.port()), unjoined::toString);
        }
    }
}
