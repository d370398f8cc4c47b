package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.GpuCollectives;
import ferro.group.ProcessGroup;
import ferro.harness.Ranks;
import ferro.tck.HeapDeviceMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every JFR event of the product, recorded by the calls of a real group, and each field of it. */
class JfrEventsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final Pattern EVENT_CLASS = Pattern.compile("class (\\w+)\\s+extends\\s+(?:jdk\\.jfr\\.)?Event\\b");
    /** What JFR itself adds to an event. */
    private static final Set<String> OF_JFR = Set.of("startTime", "duration", "eventThread", "stackTrace");

    /** By name of the event. */
    private static final Map<String, List<RecordedEvent>> RECORDED = new TreeMap<>();

    /** Two ranks that make calls, and the fields of each event that they record, in any order. */
    private record Scenario(String event, Runnable calls, List<Map<String, Object>> expected) {}

    /** A new event class needs a scenario here; until then its test fails. */
    private static final Map<String, Scenario> SCENARIOS = Map.of(
            "CollectiveEvent",
            new Scenario("ferro.Collective", JfrEventsTest::hostCalls, collectives()),
            "GpuFallback",
            new Scenario("ferro.GpuFallback", JfrEventsTest::deviceCalls, roundTrips()));

    /**
     * Records all scenarios in one recording. With JDK 17 a text of an earlier recording of the same JVM was null in the next one;
     * so the labels and tags here are in no other test.
     */
    @BeforeAll
    static void record(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            SCENARIOS.values().forEach(scenario -> recording.disable(scenario.event()));
            recording.start();
            for (Scenario scenario : SCENARIOS.values()) {
                recording.enable(scenario.event());
                scenario.calls().run();
                recording.disable(scenario.event());
            }
            recording.stop();
            recording.dump(file);
        }
        RECORDED.putAll(RecordingFile.readAllEvents(file).stream()
                .collect(Collectors.groupingBy(event -> event.getEventType().getName())));
    }

    private static List<RecordedEvent> recorded(Scenario scenario) {
        return RECORDED.getOrDefault(scenario.event(), List.of());
    }

    static Set<String> eventClasses() throws IOException {
        Set<String> names = new TreeSet<>();
        for (Path file : MainSources.of(module -> true)) {
            String source = Files.readString(file);
            List<String> found = EVENT_CLASS
                    .matcher(source)
                    .results()
                    .map(match -> match.group(1))
                    .toList();
            if (source.contains("jdk.jfr.Event")) {
                assertFalse(found.isEmpty(), () -> file + " uses jdk.jfr.Event in a form that this test does not find");
                names.addAll(found);
            }
        }
        return names;
    }

    @Test
    void everyEventClassIsFound() throws IOException {
        assertEquals(new TreeSet<>(SCENARIOS.keySet()), eventClasses());
    }

    @ParameterizedTest
    @MethodSource("eventClasses")
    void callsOfAGroupRecordEachJfrEventWithAllFields(String eventClass) {
        Scenario scenario = SCENARIOS.get(eventClass);
        assertNotNull(scenario, "no calls here record " + eventClass);

        assertEquals(
                lines(scenario.expected().stream()),
                lines(recorded(scenario).stream().map(JfrEventsTest::fields)));
    }

    @Test
    void theEventOfACallLastsAsLongAsTheCall() {
        List<RecordedEvent> events = recorded(SCENARIOS.get("CollectiveEvent"));
        assertFalse(events.isEmpty(), "no event of a call");
        for (RecordedEvent event : events) {
            boolean isTimedOut = !event.getString("code").isEmpty();
            // the clock of the deadline is another one, and begins a little before the event
            Duration least = isTimedOut ? SHORT.dividedBy(2) : Duration.ofNanos(1);
            assertTrue(event.getDuration().compareTo(least) >= 0, event::toString);
        }
    }

    @Test
    void theEventOfARoundTripHasTheStackOfTheCaller() {
        List<RecordedEvent> events = recorded(SCENARIOS.get("GpuFallback"));
        assertFalse(events.isEmpty(), "no event of a round trip");
        for (RecordedEvent event : events) {
            assertEquals("test-rank", event.getThread().getJavaName());
            assertTrue(
                    event.getStackTrace().getFrames().stream()
                            .anyMatch(frame ->
                                    frame.getMethod().getType().getName().equals(JfrEventsTest.class.getName())),
                    event::toString);
        }
    }

    /** A line for each event, in an order that does not depend on which rank comes first. */
    private static String lines(Stream<Map<String, Object>> events) {
        return events.map(fields -> new TreeMap<>(fields).toString()).sorted().collect(Collectors.joining("\n"));
    }

    private static Map<String, Object> fields(RecordedEvent event) {
        Map<String, Object> fields = new TreeMap<>();
        event.getFields().stream()
                .map(ValueDescriptor::getName)
                .filter(name -> !OF_JFR.contains(name))
                .forEach(name -> fields.put(name, event.getValue(name)));
        return fields;
    }

    /** An all-reduce, a message, and a receive that ends at its deadline, over TCP. */
    private static void hostCalls() {
        try (Ranks ranks =
                new Ranks(Map.of("ferro.links", "tcp", "ferro.algorithm", "allReduce=ring,barrier=dissemination"))) {
            onBoth(ranks, group -> {
                int other = 1 - group.rank();
                group.labelled("jfr loss").allReduce(new float[] {3, 4, 5}, ReduceOp.MAX);
                if (group.rank() == 0) {
                    group.send(new long[] {6, 7}, other, 6708);
                } else {
                    group.recv(new long[2], other, 6708);
                    ProcessGroup soon = group.within(SHORT);
                    FerroException late = assertThrows(FerroException.class, () -> soon.recv(new byte[9], other, 6710));
                    assertEquals(Code.TIMED_OUT, late.code());
                }
                group.labelled("jfr end").barrier();
            });
        }
    }

    private static List<Map<String, Object>> collectives() {
        List<Map<String, Object>> events = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            events.add(collective(rank, 1, "allReduce \"jfr loss\" f32[3] max by ring", 12, ""));
            events.add(collective(rank, 2, "barrier \"jfr end\" by dissemination", 0, ""));
        }
        events.add(collective(0, -1, "send to rank 1 tag 6708", 16, ""));
        events.add(collective(1, -1, "recv from rank 0 tag 6708", 16, ""));
        events.add(collective(1, -1, "recv from rank 0 tag 6710", 9, "TIMED_OUT"));
        return events;
    }

    private static Map<String, Object> collective(int rank, long sequence, String text, long bytes, String code) {
        return Map.of(
                "group", "world",
                "rank", rank,
                "sequence", sequence,
                "operation", text.split(" ")[0],
                "description", text,
                "bytes", bytes,
                "code", code);
    }

    /** An all-reduce, an all-gather and a message of device tensors, by a host round trip over TCP. */
    private static void deviceCalls() {
        Map<String, String> settings = Map.of(
                "ferro.backend", "gloo-fallback",
                "ferro.fallback.host", "tcp",
                "ferro.links", "tcp",
                "ferro.gpu.fallback", "1");
        try (HeapDeviceMemory heap = new HeapDeviceMemory(2);
                Ranks ranks = new Ranks(settings, context -> context.shared(DeviceMemory.class, heap::opened))) {
            onBoth(ranks, group -> {
                DeviceTensor small = heap.upload(HostTensor.of(new float[] {3, 4, 5}), group.rank());
                DeviceTensor large = heap.upload(HostTensor.of(new float[6]), group.rank());
                group.labelled("jfr loss").allReduce(small, ReduceOp.MAX);
                group.allGather(small, large);
                if (group.rank() == 0) {
                    group.send(small, 1, 8);
                } else {
                    group.recv(small, 0, 8);
                }
                GpuCollectives.free(small);
                GpuCollectives.free(large);
            });
        }
    }

    private static List<Map<String, Object>> roundTrips() {
        List<Map<String, Object>> events = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            events.add(Map.of("collective", "allReduce", "label", "jfr loss", "bytes", 12L, "device", rank));
            events.add(Map.of("collective", "allGather", "label", "", "bytes", 24L, "device", rank));
            String message = rank == 0 ? "send" : "recv";
            events.add(Map.of("collective", message, "label", "", "bytes", 12L, "device", rank));
        }
        return events;
    }

    private static void onBoth(Ranks ranks, Consumer<ProcessGroup> calls) {
        Ranks.eachOf(ranks.joined(LONG, List.of(Map.of(), Map.of())), group -> {
            try (group) {
                calls.accept(group);
            }
        });
    }
}
