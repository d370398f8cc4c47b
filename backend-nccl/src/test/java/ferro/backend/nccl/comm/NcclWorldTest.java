package ferro.backend.nccl.comm;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static ferro.harness.Says.assertFailed;
import static ferro.harness.Says.assertFails;
import static ferro.harness.Says.assertRefused;
import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Store;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.NcclStreamKind;
import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.backend.nccl.queue.LocalStore;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.HeardLog;
import ferro.harness.OnThread;
import ferro.harness.Processes;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** How groups begin, and what is left of those that do not. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class NcclWorldTest {
    private static GroupSpec group(int rank, int worldSize, Duration timeout) {
        return GroupSpec.of("dp", rank, worldSize, timeout);
    }

    private static void sums(JnaNcclBackend rank, float expected) {
        float[] data = {rank.rank() + 1.5f};
        rank.run(Collective.allReduce(HostTensor.of(data), ReduceOp.SUM), SOON);
        assertArrayEquals(new float[] {expected}, data);
    }

    private static String refusal(Map<String, String> settings) {
        SystemContext context = SystemContext.of(settings, new LocalStore());
        return assertThrows(IllegalArgumentException.class, () -> NcclWorld.join(group(2, 4, SOON), context))
                .getMessage();
    }

    private static Map<String, String> with(String... more) {
        Map<String, String> settings = new java.util.HashMap<>(StandIn.settings());
        for (int i = 0; i < more.length; i += 2) {
            settings.put(more[i], more[i + 1]);
        }
        return settings;
    }

    @Test
    @DisplayName(
            "decision 12 2-05: the device is the setting's, else LOCAL_RANK's; none, or too few, is told before any native call that acts")
    void theDeviceOfARankIsChecked() {
        NativeLog.start();
        assertSays(refusal(with()), "-Dferro.nccl.device", "LOCAL_RANK");
        assertSays(refusal(with("LOCAL_RANK", "2", "LOCAL_WORLD_SIZE", "6")), "6 local ranks", "found 4");
        assertSays(refusal(with("ferro.nccl.device", "4")), "ferro.nccl.device=4", "there are 4");
        assertEquals(
                0,
                NativeLog.stop().stream()
                        .filter(line -> !line.function().startsWith("cudaGet")
                                && !line.function().contains("Version"))
                        .count());
        assertEquals(3, DeviceSelector.of(group(0, 1, SOON), SystemContext.of(Map.of("LOCAL_RANK", "3")), 4));
        Map<String, String> both = Map.of("LOCAL_RANK", "3", "LOCAL_WORLD_SIZE", "9", "ferro.nccl.device", "1");
        assertEquals(1, DeviceSelector.of(group(0, 1, SOON), SystemContext.of(both), 2));
    }

    @Test
    @DisplayName("T12 2-08: a rank outside the world cannot even be asked for")
    void aRankOutsideTheWorldIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> group(2, 2, SOON));
        assertThrows(IllegalArgumentException.class, () -> group(-1, 2, SOON));
    }

    @Test
    @DisplayName("3-32 2-31: the provider is called nccl, loads nothing by itself, and is never chosen alone")
    void theProviderIsNamedNccl() {
        NcclBackendProvider provider = new NcclBackendProvider();
        assertEquals("nccl", provider.name());
        assertTrue(provider.priority() < 0);
        assertTrue(provider.unavailableBecause(SystemContext.of(with("LOCAL_RANK", "0")))
                .isEmpty());
        StandInHooks.standInDevices(0);
        String why = provider.unavailableBecause(SystemContext.of(StandIn.settings()))
                .orElseThrow();
        assertSays(why, "code 100");
        assertRefused(
                FerroException.class,
                () -> NcclWorld.join(group(0, 1, SOON), SystemContext.of(with("LOCAL_RANK", "0"))),
                "code 100");
    }

    @Test
    @DisplayName("2-18 decision 12: a rank that no setting gives a device is a reason, so that auto goes without nccl")
    void aRankWithoutADeviceIsAReason() {
        NcclBackendProvider provider = new NcclBackendProvider();

        String none = provider.unavailableBecause(SystemContext.of(with())).orElseThrow();
        assertSays(none, "-Dferro.nccl.device", "LOCAL_RANK");
        String far = provider.unavailableBecause(SystemContext.of(with("LOCAL_RANK", "4")))
                .orElseThrow();
        assertSays(far, "LOCAL_RANK=4", "there are 4");
        assertEquals(Optional.empty(), provider.unavailableBecause(SystemContext.of(with("ferro.nccl.device", "1"))));
        // a number that is set and wrong is told, never passed over
        assertEquals(Optional.empty(), provider.unavailableBecause(SystemContext.of(with("ferro.nccl.device", "9"))));
    }

    @Test
    @DisplayName("3-22 3-32: joining by the name nccl through the front door needs settings and a store, nothing else")
    void theFrontDoorJoinsByName() throws Exception {
        Store store = new LocalStore();
        List<CompletableFuture<Void>> ranks = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            GroupSpec spec = group(rank, 2, SOON);
            Map<String, String> settings = with("ferro.backend", "nccl", "LOCAL_RANK", Integer.toString(rank));
            ranks.add(OnThread.run(() -> {
                try (SystemContext context = SystemContext.of(settings, store);
                        ProcessGroup group = Groups.join(spec, context)) {
                    float[] data = {spec.rank() + 3};
                    group.allReduce(data, ReduceOp.AVG);
                    assertArrayEquals(new float[] {3.5f}, data);
                }
            }));
        }
        ranks.forEach(OnThread::result);
    }

    @Test
    @DisplayName("2-02 T8: joining again under one name makes a new world with a new id, also over the same store")
    void aGroupMayBeJoinedAgain() {
        LocalStore store = new LocalStore();
        for (int turn = 0; turn < 2; turn++) {
            try (NcclRanks ranks = NcclRanks.over(store, 2, SOON)) {
                ranks.run(rank -> sums(rank, 4));
            }
        }
        List<String> ids = store.values().entrySet().stream()
                .filter(entry -> entry.getKey().endsWith("/id"))
                .map(Map.Entry::getValue)
                .toList();
        assertEquals(2, ids.size());
        assertFalse(ids.get(0).equals(ids.get(1)));
    }

    @Test
    @DisplayName(
            "2-06 T13: a rank that waits for one that never comes ends at the join deadline, names it, and leaves nothing")
    void theRankThatNeverComesIsNamed() {
        Store store = new LocalStore();
        Duration timeout = Duration.ofMillis(800);
        List<CompletableFuture<JnaNcclBackend>> joining = new ArrayList<>();
        long begun = System.nanoTime();
        for (int rank : new int[] {0, 2}) {
            SystemContext context = NcclRanks.context(rank, store, Map.of());
            joining.add(OnThread.start(() -> NcclWorld.join(group(rank, 3, timeout), context)));
        }
        for (CompletableFuture<JnaNcclBackend> one : joining) {
            FerroException failure = assertFailed(Code.RENDEZVOUS, OnThread.outcome(one));
            assertEquals(Set.of(1), failure.where().culprits(), failure.toString());
            assertTrue(failure.getMessage().contains("missing: [1] of 3"), failure.getMessage());
            assertTrue(failure.getMessage().matches(".*within [78]\\d\\d ms.*"), failure.getMessage());
        }
        assertTrue(System.nanoTime() - begun >= timeout.toNanos(), "both have waited for it");
    }

    @Test
    @DisplayName("2-02: without rank 0 there is no id, which is told as RENDEZVOUS with its name")
    void withoutRankZeroThereIsNoId() {
        SystemContext context = NcclRanks.context(1, new LocalStore(), Map.of());
        FerroException failure =
                assertFails(Code.RENDEZVOUS, () -> NcclWorld.join(group(1, 2, Duration.ofMillis(300)), context));
        assertEquals(Set.of(0), failure.where().culprits());
        assertTrue(failure.getMessage().contains("missing: [0] of 2"), failure.getMessage());
    }

    @Test
    void aJoinHasItsOwnTimeout() {
        SystemContext context = NcclRanks.context(1, new LocalStore(), Map.of("ferro.join.timeout", "300ms"));
        FerroException failure =
                assertThrows(FerroException.class, () -> NcclWorld.join(group(1, 2, Duration.ofSeconds(20)), context));
        assertTrue(
                failure.getMessage().matches(".*within ([3-9]|[1-9]\\d|1\\d\\d)\\d\\d ms; .*ferro[.]join[.]timeout.*"),
                failure.getMessage());
    }

    @Test
    @DisplayName("2-06 3-25 T13: a refused init begins with NCCL comm_init_rank failed, and leaves nothing behind")
    void aRefusedInitLeavesNothing() {
        StandInHooks.standInFailNext("ncclCommInitRankConfig", 0, 2);
        SystemContext context = NcclRanks.context(0, new LocalStore(), Map.of());
        FerroException failure = assertThrows(FerroException.class, () -> NcclWorld.join(group(0, 1, SOON), context));
        assertInstanceOf(NcclException.class, failure);
        assertSays(failure, "NCCL comm_init_rank failed", "ncclSystemError (2)");
    }

    @Test
    @DisplayName("2-07 T14: where a stream of our own is refused the default one serves, with a warning and a count")
    void theDefaultStreamServesWhereNoOtherIsToBeHad() {
        StandInHooks.standInFailNext("cudaStreamCreateWithFlags", 0, 999);
        try (HeardLog log = new HeardLog("ferro.backend.nccl");
                NcclRanks ranks = NcclRanks.of(1)) {
            JnaNcclBackend rank = ranks.rank(0);
            List<String> warnings = log.lines().stream()
                    .filter(line -> line.startsWith("WARNING "))
                    .toList();
            assertEquals(1, warnings.size(), warnings.toString());
            assertSays(
                    warnings.get(0),
                    "cannot create a stream on device 0: calls use the default stream, so communication overlaps with"
                            + " nothing: cudaStreamCreateWithFlags",
                    "(code 999)");
            assertEquals(NcclStreamKind.DEFAULT, rank.streamKind());
            assertEquals(1, rank.streamDowngrades());
            assertEquals(0, rank.stream());
            sums(rank, 1.5f);
        }
    }

    @Test
    @DisplayName(
            "2-09: a stream that the caller gave is used, and stays the caller's after the close; 0 is the default one")
    void theCallersStreamStaysTheCallers() {
        try (CudaStream mine = CudaStream.create(0)) {
            SystemContext context = NcclRanks.context(0, new LocalStore(), Map.of());
            JnaNcclBackend rank = NcclWorld.joinOnStream(group(0, 1, SOON), context, mine.handle());
            assertEquals(mine.handle(), rank.stream());
            assertEquals(NcclStreamKind.CALLER, rank.streamKind());
            NativeLog.start();
            sums(rank, 1.5f);
            rank.close();
            List<NativeLog.Line> lines = NativeLog.stop();
            String handle = "0x" + Long.toHexString(mine.handle());
            assertTrue(
                    NativeLog.of(lines, "ncclAllReduce").stream()
                            .allMatch(line -> line.arguments().contains(handle)),
                    lines.toString());
            assertTrue(NativeLog.of(lines, "cudaStreamDestroy").stream()
                    .noneMatch(line -> line.arguments().contains(handle)));
            assertTrue(mine.await(Duration.ofSeconds(1)), "the caller's stream still works");
        }
        SystemContext context = NcclRanks.context(0, new LocalStore(), Map.of());
        try (JnaNcclBackend rank = NcclWorld.joinOnStream(group(0, 1, SOON), context, 0)) {
            assertEquals(NcclStreamKind.DEFAULT, rank.streamKind());
            sums(rank, 1.5f);
        }
    }

    @Test
    @DisplayName(
            "3-26 1-19: a world of devices of one process is made at once, in the order given, and serves a thread each")
    void devicesOfOneProcessMakeAWorld() {
        SystemContext context = SystemContext.of(StandIn.settings());
        NativeLog.start();
        List<JnaNcclBackend> ends = NcclWorld.createWorld(context, 2, 0, 3);
        assertEquals(1, NativeLog.count(NativeLog.stop(), "ncclCommInitAll"));
        assertEquals(List.of(2, 0, 3), ends.stream().map(JnaNcclBackend::device).toList());
        NcclRanks.run(ends, end -> {
            sums(end, 7.5f);
            if (end.rank() != 1) {
                try (JnaNcclBackend pair = (JnaNcclBackend) end.newGroup(new int[] {2, 0}, "[2, 0]", SOON)) {
                    sums(pair, 4);
                    assertEquals(
                            end.rank() == 2, pair.toString().contains("rank 0 (rank 2 of \"world\")"), pair::toString);
                }
            }
            end.close();
        });
    }

    @Test
    @DisplayName("3-26 T13: no device, one twice or a missing one is refused; a failing init closes what was made")
    void aWorldThatCannotBeMadeLeavesNothing() {
        SystemContext context = SystemContext.of(StandIn.settings());
        assertThrows(IllegalArgumentException.class, () -> NcclWorld.createWorld(context));
        assertRefused(
                IllegalArgumentException.class,
                () -> NcclWorld.createWorld(context, 1, 2, 1),
                "device 1 appears twice");
        assertRefused(
                IllegalArgumentException.class,
                () -> NcclWorld.createWorld(context, 0, 4),
                "no device 4",
                "there are 4");
        StandInHooks.standInFailNext("ncclCommInitAll", 0, 1);
        assertThrows(NcclException.class, () -> NcclWorld.createWorld(context, 0, 1));
        StandInHooks.standInFailNext("cudaSetDevice", 3, 101);
        assertThrows(FerroException.class, () -> NcclWorld.createWorld(context, 0, 1, 2));
    }

    /** Counts how often the store is given back. */
    private static final class Lending extends ForwardingContext {
        private final AtomicInteger releases = new AtomicInteger();

        Lending(SystemContext outer) {
            super(outer);
        }

        @Override
        public void releaseStore() {
            releases.incrementAndGet();
        }

        @Override
        public void releaseStore(Duration within) {
            releases.incrementAndGet();
        }
    }

    @Test
    @DisplayName(
            "2-02 T13: the store of a joining is given back once, at the close or when joining fails, not by subgroups")
    void theStoreIsGivenBackOnce() throws Exception {
        Store store = new LocalStore();
        List<Lending> contexts = new ArrayList<>();
        List<CompletableFuture<Void>> ranks = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            Lending context = new Lending(NcclRanks.context(rank, store, Map.of()));
            contexts.add(context);
            GroupSpec spec = group(rank, 2, SOON);
            ranks.add(OnThread.run(() -> {
                try (JnaNcclBackend end = NcclWorld.join(spec, context)) {
                    end.newGroup(new int[] {1, 0}, "[1, 0]", SOON).close();
                    assertEquals(0, context.releases.get());
                }
            }));
        }
        for (int rank = 0; rank < 2; rank++) {
            ranks.get(rank).get(20, TimeUnit.SECONDS);
            assertEquals(1, contexts.get(rank).releases.get());
        }
        Lending late = new Lending(NcclRanks.context(1, new LocalStore(), Map.of()));
        assertThrows(FerroException.class, () -> NcclWorld.join(group(1, 2, Duration.ofMillis(50)), late));
        // a join that fails may give it back twice, which does no harm
        assertTrue(late.releases.get() > 0);
    }

    @Test
    @DisplayName("1-03 T13: a group that was forgotten is ended, with all that it held")
    void aForgottenGroupIsEnded() {
        forget();
        BooleanSupplier isGone = () -> {
            System.gc();
            return StandInHooks.standInLive("all") == 0;
        };
        Processes.await(isGone, Duration.ofSeconds(20), "objects are left");
    }

    /** In a method of its own, so that nothing on the stack keeps it. */
    private static void forget() {
        sums(NcclWorld.join(group(0, 1, SOON), NcclRanks.context(0, new LocalStore(), Map.of())), 1.5f);
        assertTrue(StandInHooks.standInLive("comm") > 0);
    }

    @Test
    @DisplayName("1-23: the id is in the store alone: no message, name or log of a group has it")
    void theIdIsNeverSaid() {
        LocalStore store = new LocalStore();
        StandInHooks.standInFailNext("cudaStreamCreateWithFlags", 0, 999);
        List<String> said = new ArrayList<>();
        try (HeardLog log = new HeardLog("ferro.backend.nccl");
                NcclRanks ranks = NcclRanks.over(store, 2, SOON)) {
            FerroException late =
                    assertThrows(FerroException.class, () -> ranks.rank(0).barrier(Duration.ofMillis(200)));
            StringWriter text = new StringWriter();
            late.printStackTrace(new PrintWriter(text));
            said.add(text.toString());
            said.add(ranks.ends().toString());
            Thread.getAllStackTraces().keySet().forEach(thread -> said.add(thread.getName()));
            assertTrue(log.lines().toString().contains("cannot create a stream"), "there is a log: " + log.lines());
            said.addAll(log.lines());
        }
        List<String> ids = store.values().entrySet().stream()
                .filter(entry -> entry.getKey().endsWith("/id"))
                .map(Map.Entry::getValue)
                .toList();
        assertEquals(1, ids.size(), store.values().keySet().toString());
        for (String form : forms(ids.get(0).getBytes(StandardCharsets.ISO_8859_1))) {
            assertEquals(
                    List.of(), said.stream().filter(one -> one.contains(form)).toList());
        }
    }

    /** How an id may be printed, from its beginning, so far that nothing else looks like it. */
    private static List<String> forms(byte[] id) {
        byte[] some = Arrays.copyOf(id, 24);
        String numbers = Arrays.toString(some);
        String digits = HexFormat.of().formatHex(some);
        return List.of(
                new String(some, StandardCharsets.ISO_8859_1),
                numbers.substring(1, numbers.length() - 1),
                digits,
                digits.toUpperCase(Locale.ROOT),
                Base64.getEncoder().encodeToString(some));
    }
}
