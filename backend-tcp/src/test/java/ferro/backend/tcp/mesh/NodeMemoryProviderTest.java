package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Where;
import ferro.group.SystemContext;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Without ferro-backend-shm, which no test of this module has on its path; with it: SharedMemoryJobTest. */
class NodeMemoryProviderTest {
    @Test
    void aRankGivesTheReasonWhyItHasNoSharedMemory() {
        assertEquals(
                "ferro-backend-shm is not on the class path",
                NodeMemoryProvider.find(SystemContext.of(Map.of())).lacking());
        assertEquals(
                "ferro.links=tcp",
                NodeMemoryProvider.find(SystemContext.of(Map.of("ferro.links", "tcp")))
                        .lacking());
        assertEquals(Optional.empty(), NodeMemoryProvider.none().among(new int[] {0}));
    }

    @Test
    void allRanksGiveTheSameReasonForMissingSharedMemory() {
        NodeMemoryProvider near = NodeMemoryProvider.none().agreed(new String[] {"", "a", "a", ""}, Where.of("g", 0));

        assertEquals("", near.lackingAmong(new int[] {0, 3}));
        assertEquals("a", near.lackingAmong(new int[] {1, 2}));
        assertEquals("rank 1 has no shared memory: a", near.lackingAmong(new int[] {3, 2}));
    }

    @Test
    void linksOnlyBySharedMemoryFailWithoutSharedMemory() {
        SystemContext context = SystemContext.of(Map.of("ferro.links", "shm"));

        String message = assertThrows(
                        IllegalArgumentException.class,
                        () -> NodeMemoryProvider.find(context).check())
                .getMessage();

        assertTrue(message.startsWith("ferro.links=shm cannot work here: ferro-backend-shm is not on"), message);
    }
}
