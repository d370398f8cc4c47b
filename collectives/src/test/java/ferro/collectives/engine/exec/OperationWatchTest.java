package ferro.collectives.engine.exec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.BitSet;
import org.junit.jupiter.api.Test;

/** What is said of a call whose time ends. */
class OperationWatchTest {
    @Test
    void whereNoRankIsWaitedForNoneIsNamed() {
        BitSet ranks = new BitSet();
        assertEquals("gave up, slow,", OperationWatch.waiting(ranks, "gave up on ", "gave up, slow,"));
        ranks.set(0);
        ranks.set(2);
        assertEquals("gave up on ranks 0, 2", OperationWatch.waiting(ranks, "gave up on ", "gave up, slow,"));
    }
}
