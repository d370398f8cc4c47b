package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.collectives.CollectiveEngine;
import ferro.control.failure.ControlMessage;
import ferro.control.failure.Failure;
import ferro.control.failure.StatusAnswer;
import ferro.control.group.GroupControl;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Questions of a peer that come while an engine does something else. */
class QuestionedGroupTest {
    private static final GroupSpec PAIR = GroupSpec.of("pair", 0, 2, Duration.ofSeconds(5));

    @Test
    void aParentGroupAnswersQueriesWhileASubgroupIsMade() {
        Medium medium = new Medium(null);
        try (CollectiveBackend parent = CollectiveEngine.over(medium, PAIR, SystemContext.of(Map.of()))) {
            medium.asks = true;
            CollectiveBackend child =
                    assertDoesNotThrow(() -> parent.newGroup(new int[] {0}, "alone", Duration.ofSeconds(5)));
            child.close();

            assertTrue(medium.questions > 0, "nobody asked while the subgroup was made");
            assertEquals(medium.questions, medium.answers(), "answers");
            assertTrue(parent.failure().isEmpty(), () -> parent.failure().toString());
        }
    }

    @Test
    void aCloseDoesNotRepeatAMismatchThatACallThrew() {
        Medium medium = new Medium(null);
        try (CollectiveBackend group = CollectiveEngine.over(medium, PAIR, SystemContext.of(Map.of()))) {
            Failure failure = new Failure(Code.MISMATCH, 1, 1, Set.of(0, 1), "ranks made different calls", null);
            medium.control.control(1, new ControlMessage.Abort(0, Set.of(), failure).encoded());

            FerroException thrown = assertThrows(FerroException.class, () -> group.barrier(Duration.ofSeconds(5)));

            assertEquals(Code.MISMATCH, thrown.code());
        }
    }

    /** A medium with a silent peer, which asks the joined group whenever a subgroup's engine looks at its own medium. */
    private static final class Medium extends IdleTransport {
        private final Medium parent;
        private final List<ControlMessage> sent = new ArrayList<>();
        private Events control;
        private boolean asks;
        private int questions;

        Medium(Medium parent) {
            this.parent = parent;
        }

        private long answers() {
            return sent.stream().filter(StatusAnswer.class::isInstance).count();
        }

        private void question() {
            questions++;
            control.control(
                    1, ControlMessage.Query.about(questions, null, false).encoded());
        }

        @Override
        public int worldSize() {
            if (parent != null && parent.asks) {
                parent.question();
            }
            return parent == null ? 2 : 1;
        }

        @Override
        public void events(Events events) {
            // the membership's lane has other messages
            if (events instanceof GroupControl) {
                control = events;
            }
        }

        @Override
        public Transport subgroup(int[] members, long group) {
            return new Medium(members.length == 1 ? this : null);
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            if (control != null) {
                sent.add(ControlMessage.decode(message, worldSize()));
            }
        }
    }
}
