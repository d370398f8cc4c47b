package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class JoinWatchTest {
    private static final byte[] CARD = {7};
    private static final byte[] GONE = {};

    private final JoinWatch watch = new JoinWatch(3);

    @Test
    void allHaveJoinedWhenEveryRankOfOneGroupHasShownItsCard() {
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
    void rankThatHasGivenUpIsNotThere() {
        watch.set("world/1/card/0", CARD);
        watch.set("world/1/card/1", CARD);
        watch.set("world/1/card/1", GONE);
        watch.set("world/1/card/2", CARD);
        assertFalse(joined());

        watch.set("world/1/card/1", CARD);

        assertTrue(joined());
    }

    private boolean joined() {
        return watch.allJoined().toCompletableFuture().isDone();
    }
}
