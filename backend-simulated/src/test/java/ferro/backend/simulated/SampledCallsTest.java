package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.group.ProcessGroup;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that differ, all of which have returned. */
@Timeout(60)
class SampledCallsTest {
    private static final Map<String, String> OFTEN = Map.of("ferro.heartbeat.interval", "100ms");

    @Test
    @DisplayName(
            "row 16: ranks with different roots that have all returned hear of it by a heartbeat, without a next call")
    void differentRootsAreFoundWithoutANextCall() throws Exception {
        List<SimulatedBackend> ranks = SimulatedBackend.createGroup(2, OFTEN);
        ProcessGroup first = ProcessGroup.of(ranks.get(0));
        ProcessGroup second = ProcessGroup.of(ranks.get(1));
        CompletableFuture<GroupEvent> told = new CompletableFuture<>();
        second.onEvent(told::complete);
        // each sends, and listens to nobody: with no data to take over, both have done their part
        first.broadcast(new float[0], 0);
        second.broadcast(new float[0], 1);

        GroupEvent event = told.get(30, TimeUnit.SECONDS);
        FerroException failure = second.failure().orElseThrow();

        assertEquals(GroupEvent.Kind.FAILED, event.kind());
        assertEquals(Code.MISMATCH, failure.code());
        assertEquals(Set.of(0, 1), failure.where().culprits());
        assertTrue(
                failure.getMessage().contains("root 0") && failure.getMessage().contains("root 1"), event.text());
        // whoever did not look is told by close
        for (ProcessGroup group : List.of(first, second)) {
            assertEquals(
                    Code.MISMATCH,
                    assertThrows(FerroException.class, group::close).code());
        }
    }
}
