package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** Calls that differ and after which the ranks close the group. */
class LastCallsTest {
    @Test
    void differentLastCallsFailAtLeastOneRankWithBothCalls() {
        for (int run = 0; run < 20; run++) {
            Map<Integer, FerroException> failures = new ConcurrentHashMap<>();
            SimulatedBackend.run(3, group -> {
                try (group) {
                    group.broadcast(new int[] {group.rank()}, group.rank() == 2 ? 1 : 0);
                } catch (FerroException failure) {
                    failures.put(group.rank(), failure);
                }
            });

            assertFalse(failures.isEmpty(), "no rank has failed");
            failures.forEach((rank, failure) -> {
                String text = failure.getMessage();
                assertEquals(Code.MISMATCH, failure.code(), text);
                assertTrue(
                        text.contains("roots differ") && text.contains(" root 0 ") && text.contains(" root 1 "), text);
            });
        }
    }
}
