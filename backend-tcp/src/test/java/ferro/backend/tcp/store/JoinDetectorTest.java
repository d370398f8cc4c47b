package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class JoinDetectorTest {
    private static final byte[] CARD = {7};

    private final JoinDetector watch = new JoinDetector(3);

    @Test
    void allHaveJoinedOnceEachRankOfAGroupHasItsEntry() {
        enter(watch, "world/1/card/0", "world/1/card/1", "world/1/card/1", "world/rank/2", "pair/1/card/2");
        assertFalse(joined());

        enter(watch, "world/1/card/2");

        assertTrue(joined());
    }

    @Test
    void aRankThatGaveUpHasNotJoined() {
        enter(watch, "world/1/card/0", "world/1/card/1");
        watch.set("world/1/card/1", new byte[0]);
        enter(watch, "world/1/card/2");
        assertFalse(joined());

        enter(watch, "world/1/card/1");

        assertTrue(joined());
    }

    @Test
    void onlyEntriesOfTheWatchedGroupCount() {
        JoinDetector pair = new JoinDetector("pair", 2);
        enter(pair, "world/1/card/0", "world/1/card/1", "pair/2/card/0", "a/pair/2/card/1");
        assertFalse(pair.allJoined().toCompletableFuture().isDone());

        enter(pair, "pair/2/card/1");

        assertTrue(pair.allJoined().toCompletableFuture().isDone());
    }

    private static void enter(JoinDetector detector, String... keys) {
        for (String key : keys) {
            detector.set(key, CARD);
        }
    }

    private boolean joined() {
        return watch.allJoined().toCompletableFuture().isDone();
    }
}
