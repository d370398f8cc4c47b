package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.SystemContext;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SimulatedBackendProviderTest {
    @Test
    void aLargerWorldIsRefusedWithTheAdviceToUseCreateGroup() {
        GroupSpec group = GroupSpec.of("dp", 2, 4, Duration.ofSeconds(1));
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class,
                () -> new SimulatedBackendProvider().create(group, SystemContext.of(Map.of())));
        assertTrue(refused.getMessage().contains("\"dp\" of world size 4"), refused.getMessage());
        assertTrue(refused.getMessage().contains("SimulatedBackend.run(4, ...)"), refused.getMessage());
    }

    @Test
    void theProviderWorksAnywhereAndIsNeverChosenByAuto() {
        BackendProvider provider = new SimulatedBackendProvider();
        assertEquals("simulated", provider.name());
        assertTrue(provider.priority() < 0);
        assertEquals(Optional.empty(), provider.unavailableBecause(SystemContext.of(Map.of())));
    }
}
