package ferro.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import ferro.Backend;
import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.NcclBackend;
import ferro.group.BackendSelection.BackendCandidate;
import ferro.spi.BackendProvider;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Several ranks that join by {@code auto}, of which not all have a back end for device tensors. */
class DeviceBackendAgreementTest {
    private static final Duration PLENTY = Duration.ofSeconds(20);

    private final MapStore store = new MapStore();

    /** A device back end with this name where there is one. */
    private record Device(String name, Optional<String> unavailable) implements BackendProvider {
        @Override
        public int priority() {
            return -1;
        }

        @Override
        public Optional<String> unavailableBecause(RankContext context) {
            return unavailable;
        }

        @Override
        public Optional<String> deviceKind() {
            return Optional.of("cuda");
        }

        @Override
        public Backend create(GroupSpec group, RankContext context) {
            NcclBackend nccl = mock(NcclBackend.class);
            when(nccl.asNcclBackend()).thenReturn(Optional.of(nccl));
            return nccl;
        }
    }

    private record Host(String name) implements BackendProvider {
        @Override
        public int priority() {
            return 50;
        }

        @Override
        public Optional<String> unavailableBecause(RankContext context) {
            return Optional.empty();
        }

        @Override
        public Backend create(GroupSpec group, RankContext context) {
            return mock(CollectiveBackend.class);
        }
    }

    /** Joins as one rank of as many as there are names; an empty name is a rank without a device. */
    private Backend join(int rank, int worldSize, String device, Duration timeout, String wanted) {
        try (SystemContext context = SystemContext.of(Map.of("ferro.backend", wanted), store)) {
            List<BackendCandidate> found = new ArrayList<>();
            found.add(BackendCandidate.of("host", () -> new Host("tcp"), context));
            Device provider = device.isEmpty()
                    ? new Device("nccl", Optional.of("no device"))
                    : new Device(device, Optional.empty());
            found.add(BackendCandidate.of("device", () -> provider, context));
            return BackendSelection.open(GroupSpec.of("world", rank, worldSize, timeout), context, found);
        }
    }

    private List<Boolean> routed(String... devices) throws Exception {
        List<CompletableFuture<Backend>> joining = new ArrayList<>();
        for (int rank = 0; rank < devices.length; rank++) {
            int who = rank;
            joining.add(CompletableFuture.supplyAsync(
                    () -> join(who, devices.length, devices[who], PLENTY, "auto"), task -> new Thread(task).start()));
        }
        List<Boolean> both = new ArrayList<>();
        for (CompletableFuture<Backend> one : joining) {
            both.add(one.get(20, TimeUnit.SECONDS).asNcclBackend().isPresent());
        }
        return both;
    }

    @Test
    @DisplayName("2-18: auto opens the devices' back end on all ranks or on none")
    void autoOpensTheDeviceBackendOnAllRanksOrOnNone() throws Exception {
        assertEquals(List.of(true, true), routed("nccl", "nccl"));
    }

    @Test
    @DisplayName("2-18: one rank without a device keeps all on the host's back end, and the others are told which")
    void aRankWithoutADeviceKeepsAllRanksOnTheHostBackend() throws Exception {
        assertEquals(List.of(false, false, false), routed("nccl", "", "nccl"));

        GroupSpec last = GroupSpec.of("world", 2, 3, PLENTY);
        try (SystemContext context = SystemContext.of(Map.of(), store)) {
            String why = new DeviceBackendAgreement(last, new JoiningContext(last, context))
                    .objection("cuda:nccl")
                    .orElseThrow();
            assertEquals("rank 1 of 3 has no usable back end for device tensors", why);
        }
    }

    @Test
    @DisplayName("2-18: two kinds of back ends for devices are none that all ranks have")
    void differentDeviceBackendsAreNotUsed() throws Exception {
        assertEquals(List.of(false, false), routed("nccl", "other"));
    }

    @Test
    @DisplayName("2-18: a rank without a device waits for nobody and leaves one word; by name nothing is written")
    void aRankWithoutADeviceBackendWaitsForNoRank() {
        assertFalse(join(1, 3, "", PLENTY, "auto").asNcclBackend().isPresent());
        assertEquals(1, store.written().size(), store.written().toString());
        join(0, 3, "nccl", PLENTY, "tcp");
        join(0, 1, "nccl", PLENTY, "auto");
        join(0, 1, "", PLENTY, "auto");
        assertEquals(1, store.written().size(), store.written().toString());
    }

    @Test
    @DisplayName("2-18: a rank that says nothing, being started with a back end by name, is named at the deadline")
    void aRankThatReportsNothingIsNamed() {
        join(0, 3, "", PLENTY, "auto");
        join(2, 3, "nccl", PLENTY, "tcp");

        FerroException failure =
                assertThrows(FerroException.class, () -> join(1, 3, "nccl", Duration.ofMillis(50), "auto"));

        assertEquals(Code.RENDEZVOUS, failure.code());
        assertEquals(Set.of(2), failure.where().culprits());
        String text = failure.getMessage();
        for (String token : List.of("rank 1", "rank 2 of 3 did not report within 50 ms", "the same ferro.backend")) {
            assertTrue(text.contains(token), text);
        }
    }

    @Test
    void theJoinTimeoutLimitsTheAgreement() {
        GroupSpec patient = GroupSpec.of("world", 1, 2, PLENTY);
        try (SystemContext context = SystemContext.of(Map.of("ferro.join.timeout", "50ms"), store)) {
            DeviceBackendAgreement agreement =
                    new DeviceBackendAgreement(patient, new JoiningContext(patient, context));

            String text = assertThrows(FerroException.class, () -> agreement.objection("cuda:nccl"))
                    .getMessage();

            assertTrue(text.contains("rank 0 of 2 did not report within 50 ms"), text);
        }
    }

    @Test
    void aWaitingRankPrintsWhichRanksHaveNotReported() {
        GroupSpec patient = GroupSpec.of("world", 1, 3, PLENTY);
        KeptTimers timers = new KeptTimers();
        try (SystemContext context = SystemContext.of(Map.of("ferro.join.timeout", "50ms"), store)) {
            RankContext timed = new ForwardingContext(context) {
                @Override
                public ScheduledExecutorService background() {
                    return timers;
                }
            };
            DeviceBackendAgreement agreement = new DeviceBackendAgreement(patient, new JoiningContext(patient, timed));

            assertThrows(FerroException.class, () -> agreement.objection("cuda:nccl"));

            assertTrue(timers.firstMillis > 2_000 && timers.firstMillis <= 3_000, timers.firstMillis + " ms");
            assertEquals(
                    "waiting for ranks [0, 2] of 3 to report whether a back end for device tensors is usable",
                    agreement.waiting(List.of(
                            new CompletableFuture<>(),
                            CompletableFuture.completedFuture(new byte[1]),
                            new CompletableFuture<>())));
            assertEquals("", agreement.waiting(List.of(CompletableFuture.completedFuture(new byte[1]))));
        }
    }

    /** Keeps the time of the first run of a task that is to run again and again. */
    private static final class KeptTimers extends ScheduledThreadPoolExecutor {
        private long firstMillis;

        KeptTimers() {
            super(1);
            shutdown();
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable again, long first, long later, TimeUnit unit) {
            firstMillis = unit.toMillis(first);
            return mock(ScheduledFuture.class);
        }
    }
}
