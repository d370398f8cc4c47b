package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class JoinDetectorTest {
    private static final byte[] CARD = {7};
    private static final byte[] GONE = {};

    private final JoinDetector watch = new JoinDetector(3);

    @Test
    void allHaveJoinedOnceEachRankOfAGroupHasItsEntry() {
        watch.set("world/1/card/0", CARD);
        watch.set("world/1/card/1", CARD);
        watch.set("world/1/card/1", CARD);
        watch.set("world/rank/2", CARD);
        watch.set("pair/1/card/2", CARD);
        assertFalse(joined());

        watch.set("world/1/card/2", CARD);

        assertTrue(joined());
    }

    @Test
    void aRankThatGaveUpHasNotJoined() {
        watch.set("world/1/card/0", CARD);
        watch.set("world/1/card/1", CARD);
        watch.set("world/1/card/1", GONE);
        watch.set("world/1/card/2", CARD);
        assertFalse(joined());

        watch.set("world/1/card/1", CARD);

        assertTrue(joined());
    }

    @Test
    void onlyEntriesOfTheWatchedGroupCount() {
        JoinDetector pair = new JoinDetector("pair", 2);
        for (String key : new String[] {"world/1/card/0", "world/1/card/1", "pair/2/card/0", "a/pair/2/card/1"}) {
            pair.set(key, CARD);
        }
        assertFalse(pair.allJoined().toCompletableFuture().isDone());

        pair.set("pair/2/card/1", CARD);

        assertTrue(pair.allJoined().toCompletableFuture().isDone());
    }

    private boolean joined() {
        return watch.allJoined().toCompletableFuture().isDone();
    }
}
