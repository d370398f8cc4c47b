package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import ferro.Store;
import ferro.spi.GroupSpec;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Which generation ranks meet in. */
class RosterTest {
    private Ranks ranks;
    private Store store;

    @BeforeEach
    void serve() {
        ranks = Ranks.onLoopback();
        store = ranks.context(spec(0), Map.of()).store();
    }

    @AfterEach
    void end() {
        ranks.close();
    }

    @Test
    @DisplayName("row 24: a rank that failed to join meets one that had joined in the next generation")
    void aRankThatFailedToJoinMeetsOneThatHadJoinedInTheNextGeneration() {
        Roster joined = claimed(0);
        Roster failed = claimed(1);
        assertEquals(joined.id(), failed.id());
        joined.leave();
        failed.giveUp();

        Roster ahead = claimed(0);
        Roster behind = claimed(1);

        assertEquals(ahead.id(), behind.id());
        assertNotEquals(joined.id(), ahead.id());
    }

    @Test
    void aRankThatCameTooEarlyIsInTheNextGenerationAtItsNextAttempt() {
        Roster joined = claimed(0);
        claimed(1).giveUp();
        Roster early = claimed(1);
        joined.leave();
        Roster ahead = claimed(0);
        assertNotEquals(ahead.id(), early.id());

        early.giveUp();

        assertEquals(ahead.id(), claimed(1).id());
    }

    private Roster claimed(int rank) {
        Roster made = new Roster(
                store, spec(rank), new Roster.Card("127.0.0.1", 9, rank, 3 + rank, Home.UNKNOWN, "", ""), false);
        made.claim();
        return made;
    }

    private static GroupSpec spec(int rank) {
        return new GroupSpec("g", rank, 2, Ranks.LONG);
    }
}
