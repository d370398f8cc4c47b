package ferro.dispatch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spi.TestContext;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class DeviceMemoriesTest {
    private final TestContext context = new TestContext();

    @Test
    void theSharedDeviceMemoryIsUsedAndAQueryIsNotAUse() {
        HeapDevice own =
                context.shared(DeviceMemory.class, HeapDevice::new) instanceof HeapDevice memory ? memory : null;

        assertSame(own, DeviceMemories.shared(context));
        assertEquals(Optional.empty(), DeviceMemories.unavailableBecause(context));
        assertEquals(2, context.uses(DeviceMemory.class));
    }

    @Test
    @DisplayName("0-08: spi alone says that there is no device memory and what to add")
    void withoutAnyTheReasonNamesTheArtifact() {
        String why = DeviceMemories.unavailableBecause(context).orElseThrow();
        String text = assertThrows(UnsupportedOperationException.class, () -> DeviceMemories.shared(context))
                .getMessage();

        assertEquals(why, text);
        assertTrue(why.contains("found: none") && why.contains("ferro-backend-nccl"), why);
        assertEquals(0, context.uses(DeviceMemory.class));
    }
}
