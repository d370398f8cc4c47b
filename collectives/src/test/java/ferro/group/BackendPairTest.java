package ferro.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import ferro.Backend;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.NcclBackend;
import ferro.group.BackendSelection.BackendCandidate;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How {@code cpu:tcp,cuda:nccl} and {@code auto} open two back ends. */
class BackendPairTest {
    private static final GroupSpec GROUP = GroupSpec.of("world", 1, 3, Duration.ofSeconds(5));

    private final List<String> opened = new ArrayList<>();
    private final CollectiveBackend host = mock(CollectiveBackend.class);
    private final NcclBackend nccl = mock(NcclBackend.class);

    @BeforeEach
    void view() {
        when(nccl.asNcclBackend()).thenReturn(Optional.of(nccl));
    }

    /** A provider that hands out a given back end. */
    private record Given(
            String name, int priority, Optional<String> why, Optional<String> deviceKind, BackendPairTest test)
            implements BackendProvider {
        @Override
        public Optional<String> unavailableBecause(RankContext context) {
            return why;
        }

        @Override
        public Backend create(GroupSpec group, RankContext context) {
            return test.opening(name);
        }
    }

    private Backend opening(String name) {
        opened.add(name);
        if (name.equals("fails")) {
            throw new FerroException(Code.RENDEZVOUS, Where.of("world", 1), "rank 2 did not come");
        }
        return name.equals("nccl") ? nccl : host;
    }

    private BackendCandidate candidate(String name, int priority, String why, String deviceKind) {
        Given given = new Given(name, priority, Optional.ofNullable(why), Optional.ofNullable(deviceKind), this);
        return BackendCandidate.of(name, () -> given, SystemContext.of(Map.of()));
    }

    private Backend open(String wanted, String whyNoNccl) {
        return open(GROUP, wanted, whyNoNccl);
    }

    private Backend open(GroupSpec group, String wanted, String whyNoNccl) {
        return BackendSelection.open(
                group,
                SystemContext.of(Map.of("ferro.backend", wanted)),
                List.of(
                        candidate("tcp", 50, null, null),
                        candidate("slow", 10, null, null),
                        candidate("nccl", -1, whyNoNccl, "cuda"),
                        candidate("fails", -1, null, null),
                        candidate("simulated", -2, null, null)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu:tcp,cuda:nccl", "cuda:nccl,cpu:tcp", " cpu : tcp , cuda : nccl ", "CPU:tcp,HIP:nccl"})
    @DisplayName("2-18: a pair opens both, in any order and with spaces, the host's first")
    void aPairOpensTheHostBackendFirst(String wanted) {
        Backend both = open(wanted, null);

        assertEquals(List.of("tcp", "nccl"), opened);
        assertSame(nccl, both.asNcclBackend().orElseThrow());
        both.barrier(Duration.ofSeconds(1));
        verify(host).run(Collective.barrier(), CallOptions.of(Duration.ofSeconds(1)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cpu:tcp,xpu:nccl",
                "cpu:tcp,cpu:slow",
                "cuda:nccl,hip:nccl",
                "cpu:tcp,cpu:slow,cuda:nccl",
                "cpu:tcp,",
                ",cpu:tcp",
                "cpu:tcp,cuda:",
                ":tcp,cuda:nccl",
                "cpu:tcp",
                "cuda:nccl",
                "tcp,cuda:nccl",
                "cpu:nccl,cuda:nccl"
            })
    @DisplayName("2-18: unknown places, two names for one, and none are refused with what there is")
    void aTextThatIsNotAPairIsRefusedWithTheUsableBackends(String wanted) {
        String text = assertThrows(IllegalArgumentException.class, () -> open(wanted, null))
                .getMessage();

        for (String token : List.of("-Dferro.backend=" + wanted, "tcp (usable)", "nccl (usable)")) {
            assertTrue(text.contains(token), text);
        }
        assertEquals(List.of(), opened);
    }

    @Test
    @DisplayName("2-18: a name in a pair that cannot work is fatal and never replaced; nothing is opened")
    void anUnusableNameInAPairIsRefused() {
        String unknown = assertThrows(IllegalArgumentException.class, () -> open("cpu:ttcp,cuda:nccl", null))
                .getMessage();
        assertTrue(unknown.contains("\"ttcp\"") && unknown.contains("tcp (usable)"), unknown);
        String unusable = assertThrows(
                        IllegalArgumentException.class, () -> open("cpu:tcp,cuda:nccl", "libnccl.so.2 not found"))
                .getMessage();
        assertTrue(unusable.contains("nccl (libnccl.so.2 not found)"), unusable);
        assertEquals(List.of(), opened);
    }

    @Test
    @DisplayName("2-18: a back end without an NCCL view takes no device tensors, and both are closed")
    void aBackendWithoutAnNcclViewDoesNotServeDevices() {
        String text = assertThrows(IllegalArgumentException.class, () -> open("cpu:tcp,cuda:slow", null))
                .getMessage();

        assertTrue(text.contains("cuda:slow has no NCCL view"), text);
        verify(host, org.mockito.Mockito.times(2)).close();
    }

    @Test
    @DisplayName("2-18: if the second cannot be opened, the first is closed")
    void ifTheSecondBackendFailsTheFirstIsClosed() {
        doThrow(new IllegalStateException("close failed too")).when(host).close();

        FerroException failure = assertThrows(FerroException.class, () -> open("cpu:tcp,cuda:fails", null));

        assertEquals(Code.RENDEZVOUS, failure.code());
        assertEquals("close failed too", failure.getSuppressed()[0].getMessage());
    }

    @Test
    @DisplayName("2-18: auto opens the devices' back end beside the best one, if it is usable, and never alone; a rank"
            + " alone needs no store for it")
    void autoOpensTheDeviceBackendBesideTheBestHostBackend() {
        GroupSpec alone = GroupSpec.of("world", 0, 1, Duration.ofSeconds(5));
        assertSame(nccl, open(alone, "auto", null).asNcclBackend().orElseThrow());
        assertEquals(List.of("tcp", "nccl"), opened);

        opened.clear();
        assertSame(host, open(alone, "auto", "no device"));
        assertSame(host, open("auto", "no device"), "no store to say so in is no reason to fail");
        assertEquals(List.of("tcp", "tcp"), opened);
    }

    @Test
    @DisplayName("2-18: nccl alone only by its name")
    void aSingleNameOpensOnlyThatBackend() {
        assertSame(nccl, open("nccl", null));
        assertSame(host, open("tcp", null));

        assertEquals(List.of("nccl", "tcp"), opened);
        verify(host, never()).newGroup(any(), any(), any());
        inOrder(host).verifyNoMoreInteractions();
    }
}
