package ferro.control.failure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import ferro.FerroException.Code;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FirstCauseTest {
    private static final Failure TOLD = new Failure(Code.PEER_LOST, 0, -1, Set.of(2), "rank 2 is gone", null);
    private static final Failure GUESS =
            new Failure(Code.PEER_LOST, 3, -1, Set.of(0), "the link to rank 0 ended", null);

    @Test
    void aGuessNeverJoinsWhatIsKnown() {
        FirstCause first = new FirstCause(FailurePolicy.SHIPPED);
        first.told(TOLD, 5);
        assertNull(first.guessed(GUESS, 6));
        assertEquals(Set.of(2), first.cause().culprits());
    }

    @Test
    void aGuessCountsWhereNothingIsKnown() {
        FirstCause first = new FirstCause(FailurePolicy.SHIPPED);
        assertSame(GUESS, first.guessed(GUESS, 6));
        assertEquals(Set.of(0), first.cause().culprits());
    }
}
