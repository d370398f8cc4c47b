package ferro.integration.drill;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Ports;
import ferro.harness.Processes;
import ferro.integration.Links;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rank 0 serves the store and is stopped: the other ranks fail, close in time, and join again under the same name. */
@Tag("long")
@Timeout(180)
class StoppedStoreRankTest {
    private static final int WORLD_SIZE = 3;
    private static final Duration TIMEOUT = Duration.ofSeconds(40);
    private static final Duration DEADLINE = Duration.ofSeconds(2);
    /** Above the promised 5 s, for a slow machine; below {@link #TIMEOUT}, for which a close waited. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(12);

    private final List<RankJvm> ranks = new ArrayList<>();
    private int port;

    @BeforeEach
    void start() throws IOException {
        port = Ports.free();
        for (int rank = 0; rank < WORLD_SIZE; rank++) {
            ranks.add(RankJvm.start(Drill.SMALL_HEAP_MIB));
        }
    }

    @AfterEach
    void end() {
        ranks.forEach(RankJvm::close);
    }

    @Test
    void survivorsCloseInTimeAndJoinAgainWithTheResumedRank() throws Exception {
        failAndCloseWhileRankZeroIsStopped();

        Processes.signal(ranks.get(0).pid(), "CONT");
        ranks.get(0).awaitTag("failed");
        ranks.get(0).ask(Line.of("close"));
        ranks.get(0).awaitTag("closed");

        joinAndSum();
    }

    @Test
    void survivorsCloseInTimeAndJoinAgainWithAReplacedRank() throws Exception {
        failAndCloseWhileRankZeroIsStopped();

        ranks.get(0).close();
        Processes.awaitEnd(ranks.get(0).pid(), TIMEOUT);
        ranks.set(0, RankJvm.start(Drill.SMALL_HEAP_MIB));

        joinAndSum();
    }

    private void failAndCloseWhileRankZeroIsStopped() throws IOException, InterruptedException {
        joinAndSum();
        for (RankJvm rank : ranks) {
            rank.tell(Line.of("sums")
                    .with("elements", Drill.ELEMENTS)
                    .with("timeout", DEADLINE.toMillis())
                    .with("warm", Drill.warmUpCalls())
                    .with("leave", false));
        }
        for (RankJvm rank : ranks) {
            rank.awaitTag("going");
        }

        Processes.signal(ranks.get(0).pid(), "STOP");

        for (RankJvm survivor : survivors()) {
            Line failed = survivor.awaitTag("failed");
            assertEquals("TIMED_OUT", failed.value("code"), failed::toString);
            assertTrue(failed.culprits().contains(0), failed::toString);
        }
        for (RankJvm survivor : survivors()) {
            survivor.ask(Line.of("close"));
        }
        for (RankJvm survivor : survivors()) {
            Line closed = survivor.awaitTag("closed");
            long nanos = closed.number("at") - closed.number("begun");
            System.out.println("close with a stopped store took " + nanos / 1_000_000 + " ms");
            assertTrue(nanos < CLOSE_NANOS, () -> "close took " + nanos / 1_000_000 + " ms, promised are 5000");
        }
    }

    private List<RankJvm> survivors() {
        return ranks.subList(1, WORLD_SIZE);
    }

    private void joinAndSum() throws IOException, InterruptedException {
        for (int rank = 0; rank < WORLD_SIZE; rank++) {
            ranks.get(rank)
                    .tell(DrillJob.join(rank, WORLD_SIZE, port, Links.TCP, TIMEOUT)
                            .with("ferro.timeout", TIMEOUT.toSeconds() + "s")
                            .with("FERRO_STORE_SERVED", 0));
        }
        for (RankJvm rank : ranks) {
            Links.TCP.assertFoundIn(rank.awaitTag("joined").text(), WORLD_SIZE);
        }
        for (RankJvm rank : ranks) {
            rank.tell(Line.of("one").with("elements", Drill.ELEMENTS).with("timeout", TIMEOUT.toMillis()));
        }
        for (RankJvm rank : ranks) {
            rank.awaitTag("done");
            assertTrue(!rank.hasSaid("wrong"), rank::toString);
        }
    }
}
