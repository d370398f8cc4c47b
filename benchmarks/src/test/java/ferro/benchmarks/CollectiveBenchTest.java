package ferro.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Allocation;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.backend.simulated.SimulatedBackend;
import ferro.dispatch.DeviceMemory;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.tck.HeapDeviceMemory;
import ferro.tck.HeapDeviceMemory.Direction;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class CollectiveBenchTest {
    private static final Stopwatch.PhaseDurations BRISK =
            new Stopwatch.PhaseDurations(Duration.ofMillis(2), Duration.ofMillis(2), Duration.ofMillis(2));

    /** Kept here, as the logging of the JDK forgets loggers that nobody holds; a warning per call is thousands of lines. */
    private static final Logger FALLBACK = Logger.getLogger("ferro.gpu.fallback");

    @BeforeAll
    static void doWithoutWarnings() {
        FALLBACK.setLevel(Level.OFF);
    }

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    @ParameterizedTest
    @Tag("long")
    @EnumSource
    void everyCollectiveIsCorrectAndTimedOnThreeRanks(BenchOperation collective) throws Exception {
        Sweep sweep = Sweep.parse(List.of(collective.label(), "--sizes", "0,12,12000", "--json"));

        long wrong = run(sweep, SimulatedBackend.createGroup(3));

        assertEquals(0, wrong);
        List<String> lines = printed.toString(StandardCharsets.UTF_8).lines().toList();
        assertEquals(collective == BenchOperation.BARRIER ? 1 : 3, lines.size());
        String last = lines.get(lines.size() - 1);
        assertTrue(last.contains("\"collective\":\"" + collective.label() + "\""), last);
        assertTrue(last.contains("\"wrong\":0,"), last);
        assertTrue(last.matches(".*\"us_median\":[0-9.]*[1-9][0-9.]*,.*"), last);
        assertTrue(last.matches(".*\"probe_us\":[0-9.]+}"), last);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"f16", "bf16"})
    void sumsAndAveragesOfHalvesAreRight(String type) throws Exception {
        for (String op : List.of("sum", "avg", "premulsum", "product")) {
            Sweep sweep = Sweep.parse(List.of("allreduce", "--sizes", "2,1202", "--type", type, "--op", op, "--json"));
            assertEquals(0, run(sweep, SimulatedBackend.createGroup(3), null), op);
        }
        Sweep sweep = Sweep.parse(List.of("allreduce", "--sizes", "1202", "--type", type, "--json"));
        List<? extends CollectiveBackend> ranks = SimulatedBackend.createGroup(2);
        assertEquals(1, run(sweep, List.of(spoilingFirstElement(ranks.get(0)), ranks.get(1)), null), "one is spoiled");
    }

    @ParameterizedTest
    @EnumSource
    @Tag("long")
    void everyCollectiveIsRightOnDeviceTensors(BenchOperation collective) throws Exception {
        Sweep sweep = Sweep.parse(List.of(collective.label(), "--sizes", "0,12,12000", "--type", "i32", "--json"));
        HeapDeviceMemory heap = new HeapDeviceMemory(3);

        long wrong = run(sweep, SimulatedBackend.createGroup(3), heap);

        assertEquals(0, wrong);
        assertTrue(printed.toString(StandardCharsets.UTF_8)
                .contains("\"memory\":\"device\",\"medium\":\"memory of one process\",\"queued\":1,\"wrong\":0,"));
        assertEquals(0, heap.liveTensors());
        assertTrue(heap.copies(Direction.TO_DEVICE) > 0);
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"BARRIER", "PINGPONG"})
    @Tag("long")
    void queuedOperationsAreAllCorrect(BenchOperation collective) throws Exception {
        Sweep sweep = Sweep.parse(List.of(collective.label(), "--sizes", "12,12000", "--queued", "5", "--json"));

        assertEquals(0, run(sweep, SimulatedBackend.createGroup(3)));

        assertTrue(printed.toString(StandardCharsets.UTF_8).contains("\"queued\":5,\"wrong\":0,"));
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"BARRIER", "PINGPONG"})
    @Tag("long")
    void withSharedMemoryEveryOperandIsInSharedTensors(BenchOperation collective) throws Exception {
        for (String queued : List.of("1", "3")) {
            Sweep sweep = Sweep.parse(List.of(
                    collective.label(), "--sizes", "0,12,12000", "--memory", "shared", "--queued", queued, "--json"));
            Set<Boolean> inShared = ConcurrentHashMap.newKeySet();
            List<CollectiveBackend> ranks = new ArrayList<>();
            for (CollectiveBackend rank : SimulatedBackend.createGroup(3)) {
                ranks.add(telling(rank, inShared));
            }

            assertEquals(0, run(sweep, ranks));

            assertEquals(Set.of(true), inShared, "whether operands of f32 are slices of shared memory");
            assertTrue(printed.toString(StandardCharsets.UTF_8).contains("\"memory\":\"shared\","), printed::toString);
        }
    }

    @Test
    void unsharedMemoryIsNotReportedAsShared() throws Exception {
        Sweep sweep = Sweep.parse(List.of("allreduce", "--sizes", "12", "--memory", "shared", "--json"));

        assertEquals(0, run(sweep, SimulatedBackend.createGroup(1)));

        assertTrue(printed.toString(StandardCharsets.UTF_8).contains("\"memory\":\"direct\","), printed::toString);
    }

    /** A back end that says of each operand of f32 whether it lies in shared memory that the back end gave out. */
    private static CollectiveBackend telling(CollectiveBackend rank, Set<Boolean> inShared) {
        Set<Object> shared = Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
        return intercepted(rank, (given, answer) -> {
            if (answer instanceof Allocation made && made.isShared()) {
                shared.add(made.tensor().memory());
            }
            for (Object word : given == null ? new Object[0] : given) {
                if (word instanceof Collective call) {
                    Stream.of(call.in(), call.out())
                            .filter(tensor -> tensor instanceof HostTensor host && host.dataType() == DataType.FLOAT32)
                            .forEach(tensor -> inShared.add(shared.contains(((HostTensor) tensor).memory())));
                }
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"ALLREDUCE", "ALLGATHER"})
    void aWrongElementIsCounted(BenchOperation collective) throws Exception {
        Sweep sweep = Sweep.parse(List.of(collective.label(), "--sizes", "1200", "--json"));
        List<CollectiveBackend> group = new ArrayList<>(SimulatedBackend.createGroup(3));
        group.set(0, spoilingFirstElement(group.get(0)));

        assertEquals(1, run(sweep, group));
    }

    private long run(Sweep sweep, List<? extends CollectiveBackend> backends) throws Exception {
        return run(sweep, backends, null);
    }

    /** Runs every rank on a thread and returns what rank 0 counted; without a heap the tensors are arrays. */
    private long run(Sweep sweep, List<? extends CollectiveBackend> backends, HeapDeviceMemory heap) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(backends.size());
        try {
            List<Future<Long>> ranks = new ArrayList<>();
            for (CollectiveBackend backend : backends) {
                ranks.add(threads.submit(() -> runRank(sweep, backend, heap)));
            }
            long wrong = 0;
            for (Future<Long> rank : ranks) {
                wrong = rank.get(60, TimeUnit.SECONDS);
            }
            return wrong;
        } finally {
            threads.shutdownNow();
        }
    }

    private long runRank(Sweep sweep, CollectiveBackend backend, HeapDeviceMemory heap) throws Exception {
        Map<String, String> settings = Map.of("ferro.gpu.fallback", "1", "ferro.nccl.device", "" + backend.rank());
        try (SystemContext context = SystemContext.of(settings);
                ProcessGroup group = Groups.of(backend, context);
                PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8)) {
            if (heap != null) {
                context.shared(DeviceMemory.class, heap::opened);
            }
            MeasuredMemory place = heap == null
                    ? MeasuredMemory.of(group, context, sweep)
                    : MeasuredMemory.GpuMemory.of(group, context);
            ResultRow.SweepSetting setting = ResultRow.SweepSetting.of(sweep, "simulated", group, place.label());
            return new CollectiveBench(group, setting, place, new Stopwatch(group, BRISK), out).run();
        }
    }

    /** A back end that changes one element of every result of floats; the bench's own sums and maxima are of other types. */
    private static CollectiveBackend spoilingFirstElement(CollectiveBackend honest) {
        return intercepted(honest, (given, answer) -> {
            if (answer == null && given != null && given[0] instanceof Collective call) {
                spoil(call);
            }
        });
    }

    private static CollectiveBackend intercepted(CollectiveBackend rank, BiConsumer<Object[], Object> shown) {
        return (CollectiveBackend) Proxy.newProxyInstance(
                CollectiveBackend.class.getClassLoader(),
                new Class<?>[] {CollectiveBackend.class},
                (proxy, method, given) -> {
                    try {
                        Object answer = method.invoke(rank, given);
                        shown.accept(given, answer);
                        return answer;
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }

    private static void spoil(Collective call) {
        boolean isSpoilt = call.kind() == CollectiveKind.ALL_REDUCE || call.kind() == CollectiveKind.ALL_GATHER;
        Object result = isSpoilt ? call.out() : null;
        if (result instanceof HostTensor tensor && tensor.memory() instanceof float[] elements) {
            elements[(int) tensor.offset()] += 1;
        } else if (result instanceof HostTensor tensor && tensor.memory() instanceof short[] elements) {
            // a fourth or an eighth more
            elements[(int) tensor.offset()] += tensor.dataType() == DataType.FLOAT16 ? 1 << 8 : 1 << 5;
        }
    }
}
