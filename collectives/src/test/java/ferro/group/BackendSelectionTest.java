package ferro.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Backend;
import ferro.group.BackendSelection.BackendCandidate;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import org.junit.jupiter.api.Test;

class BackendSelectionTest {
    private static final GroupSpec GROUP = GroupSpec.of("world", 1, 3, Duration.ofSeconds(5));

    /** A provider whose back ends only know their name. */
    private record Named(String name, int priority, Optional<String> why) implements BackendProvider {
        @Override
        public Optional<String> unavailableBecause(RankContext context) {
            return why;
        }

        @Override
        public Backend create(GroupSpec group, RankContext context) {
            return new Inert(name, group.rank(), group.worldSize());
        }
    }

    private record Inert(String name, int rank, int worldSize) implements Backend {
        @Override
        public void send(ByteBuffer message, int to, int tag, Duration timeout) {
            throw new UnsupportedOperationException(name + " moves nothing");
        }

        @Override
        public void recv(ByteBuffer message, int from, int tag, Duration timeout) {
            throw new UnsupportedOperationException(name + " moves nothing");
        }

        @Override
        public void barrier(Duration timeout) {
            throw new UnsupportedOperationException(name + " moves nothing");
        }

        @Override
        public void close() {
            // nothing is held
        }
    }

    private static BackendCandidate candidate(String name, int priority, String why) {
        SystemContext none = SystemContext.of(Map.of());
        return BackendCandidate.of(name, () -> new Named(name, priority, Optional.ofNullable(why)), none);
    }

    private static final List<BackendCandidate> FOUND = List.of(
            candidate("nccl", 90, "libnccl.so.2 not found"),
            candidate("tcp", 50, null),
            candidate("slow", 10, null),
            BackendCandidate.of(
                    "BrokenProvider",
                    () -> {
                        throw new ServiceConfigurationError("cannot be made");
                    },
                    SystemContext.of(Map.of())),
            candidate("simulated", -1, null));

    private static String open(String backend) {
        Backend opened = BackendSelection.open(GROUP, SystemContext.of(Map.of("ferro.backend", backend)), FOUND);
        return ((Inert) opened).name();
    }

    @Test
    void autoOpensTheUsableBackendOfHighestPriority() {
        assertEquals("tcp", open("auto"));
    }

    @Test
    void aNameOpensThatBackendDespiteItsPriority() {
        assertEquals("slow", open("slow"));
        assertEquals("simulated", open("simulated"));
    }

    @Test
    void anUnknownNameIsRefusedWithEveryProviderAndItsReason() {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, () -> open("ttcp"));
        assertEquals("cannot be made", refusal.getCause().getMessage());
        String text = refusal.getMessage();
        for (String token : List.of(
                "-Dferro.backend=ttcp",
                "nccl (libnccl.so.2 not found)",
                "tcp (usable)",
                "BrokenProvider (broken: ",
                "simulated (usable)")) {
            assertTrue(text.contains(token), text);
        }
    }

    @Test
    void anUnusableNameIsRefusedAndNotReplaced() {
        String text =
                assertThrows(IllegalArgumentException.class, () -> open("nccl")).getMessage();
        assertTrue(text.contains("no usable back end for -Dferro.backend=nccl"), text);
        assertTrue(text.contains("libnccl.so.2 not found"), text);
    }

    @Test
    void autoNeverOpensABackendOfNegativePriority() {
        List<BackendCandidate> only = List.of(candidate("simulated", -1, null));
        SystemContext none = SystemContext.of(Map.of());
        String text = assertThrows(IllegalArgumentException.class, () -> BackendSelection.open(GROUP, none, only))
                .getMessage();
        assertTrue(text.contains("simulated (usable)"), text);
    }

    @Test
    void propertiesTakePrecedenceOverVariables() {
        GroupSpec spec = SystemContext.of(
                        Map.of("ferro.rank", "2", "RANK", "1", "WORLD_SIZE", "3", "ferro.timeout", "3s"))
                .spec();
        assertEquals(GroupSpec.of("world", 2, 3, Duration.ofSeconds(3)).withJoinTimeout(Duration.ofMinutes(2)), spec);
    }

    @Test
    void aProcessWithoutARankFailsWithTheWaysToSetIt() {
        String text = assertThrows(
                        IllegalArgumentException.class,
                        () -> SystemContext.of(Map.of()).spec())
                .getMessage();
        assertTrue(text.contains("(ferro run ") && text.contains("RANK"), text);
    }
}
