package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.GroupEvent;
import ferro.control.membership.Membership;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The log lines about a silent rank. */
class LoggedSilenceTest {
    /** A group of ranks 1 and 2 that entered after the joined group. */
    private static final class Younger implements Membership.RankListener {
        private final List<String> heard = new ArrayList<>();

        @Override
        public void gone(int rank, FerroException cause) {
            heard.add("lost " + rank);
        }

        @Override
        public void event(GroupEvent.Kind kind, int rank, String text) {
            heard.add(kind + " " + rank);
        }

        @Override
        public void log(GroupEvent.Kind kind, int rank, String text) {
            heard.add("logged " + kind);
        }

        @Override
        public void heartbeat() {
            // this group has made no call
        }
    }

    private final Watchers world = new Watchers(3, 1000, Map.of()).enter();
    private final List<String> logged = world.ranks.get(1).logged;

    @Test
    void aSilentRankIsLoggedOnceForAllItsGroups() {
        Younger younger = new Younger();
        world.ranks.get(1).membership.enter(younger, IntStream.of(1, 2).toArray());
        world.pass(Duration.ofSeconds(10));
        world.ranks.get(2).paused = true;
        world.pass(Duration.ofSeconds(4));
        assertEquals(List.of(), logged);
        world.pass(Duration.ofSeconds(15));

        assertEquals(1, logged.size(), logged::toString);
        assertTrue(
                logged.get(0)
                        .matches("SUSPECTED 2: nothing heard from rank 2 for 5\\.. s: is its process stopped, or the"
                                + " network to it cut\\? Its groups fail after 30\\.0 s of silence"
                                + " \\(ferro\\.heartbeat\\.limit\\)"),
                logged::toString);
        assertEquals(List.of("SUSPECTED 1"), younger.heard);
    }

    @Test
    void aRankThatIsNoLongerSilentIsLogged() {
        world.pass(Duration.ofSeconds(10));
        world.ranks.get(2).paused = true;
        world.pass(Duration.ofSeconds(10));
        world.ranks.get(2).paused = false;
        world.pass(Duration.ofSeconds(4));

        assertEquals(2, logged.size(), logged::toString);
        assertTrue(logged.get(1).startsWith("RECOVERED 2: rank 2 is heard again after "), logged::toString);
    }

    @Test
    void aPauseIsNotLogged() {
        world.pass(Duration.ofSeconds(10));
        world.ranks.get(2).paused = true;
        world.pass(Duration.ofSeconds(2));
        world.ranks.get(2).paused = false;
        world.pass(Duration.ofSeconds(4));

        assertEquals(1, world.ranks.get(1).heard.size(), world.ranks.get(1).heard::toString);
        assertEquals(List.of(), logged);
    }
}
