package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CallCounters;
import ferro.harness.Jvm;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.Name;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The events, fields and counters that docs/guide/metrics.md lists are those of the code, and `jfr print` prints the one shown. */
class MetricsPageTest {
    private static final Path PAGE = Path.of("../docs/guide/metrics.md");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(\\w+)(?:\\(\\w*\\))?` \\|");
    private static final Pattern EVENT = Pattern.compile("(?ms)^### `(ferro\\.\\w+)`$(.*?)(?=^#|\\z)");
    private static final Pattern PRINTED = Pattern.compile("(?s)```text\\R(ferro\\.Collective \\{.*?)```");

    @Test
    @Tag("text")
    void thePageHasEachEventWithItsFields() throws Exception {
        Map<String, Set<String>> shown = new TreeMap<>();
        EVENT.matcher(Files.readString(PAGE))
                .results()
                .forEach(found -> shown.put(found.group(1), rows(found.group(2))));
        Map<String, Set<String>> recorded = new TreeMap<>();
        for (Class<?> event : List.of(
                Class.forName("ferro.recorder.GroupRecorder$CollectiveEvent"),
                Class.forName("ferro.dispatch.HostFallbackPath$GpuFallback"))) {
            recorded.put(
                    event.getAnnotation(Name.class).value(),
                    Stream.of(event.getDeclaredFields())
                            .filter(field -> !Modifier.isStatic(field.getModifiers()) && !field.isSynthetic())
                            .map(Field::getName)
                            .collect(Collectors.toCollection(TreeSet::new)));
        }
        assertEquals(JfrEventsTest.eventClasses().size(), recorded.size(), "an event class is missing here");
        assertEquals(recorded, shown);
    }

    @Test
    @Tag("text")
    void thePageHasEachCounter() throws IOException {
        String page = Files.readString(PAGE);
        String counters = page.substring(page.indexOf("\n## Counters"), page.indexOf("\n## JMX"));
        Set<String> expected = new TreeSet<>(components(CallCounters.class));
        expected.addAll(components(CallCounters.Totals.class));
        for (Method method : CallCounters.class.getDeclaredMethods()) {
            boolean ofEveryRecord = Set.of("equals", "hashCode", "toString").contains(method.getName());
            if (Modifier.isPublic(method.getModifiers()) && !method.isSynthetic() && !ofEveryRecord) {
                expected.add(method.getName());
            }
        }
        assertEquals(expected, rows(counters));
    }

    private static List<String> components(Class<?> type) {
        return Stream.of(type.getRecordComponents())
                .map(RecordComponent::getName)
                .toList();
    }

    private static Set<String> rows(String text) {
        return ROW.matcher(text).results().map(found -> found.group(1)).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    @Tag("long")
    void jfrPrintsTheEventThatThePageShows(@TempDir Path folder) throws Exception {
        LauncherRun.words(
                        Map.of(),
                        "run -n 2 -J-XX:StartFlightRecording=filename=" + folder + "/ ferro.examples.guide.CountCalls")
                .ends(0);
        List<Path> files;
        try (Stream<Path> found = Files.list(folder)) {
            files = found.toList();
        }
        assertEquals(2, files.size(), files::toString);
        String jfr = Path.of(Jvm.java()).resolveSibling("jfr").toString();
        Set<String> printed = new TreeSet<>();
        for (Path file : files) {
            String all = PageFiles.output(
                    List.of(new ProcessBuilder(jfr, "print", "--events", "ferro.Collective", file + "").start()));
            Stream.of(all.split("(?<=\\n\\})\\s+"))
                    .map(MetricsPageTest::replaced)
                    .forEach(printed::add);
        }
        Matcher shown = PRINTED.matcher(Files.readString(PAGE));
        assertTrue(shown.find());
        assertTrue(printed.contains(replaced(shown.group(1))), () -> String.join("\n", printed));
    }

    private static String replaced(String event) {
        return event.strip()
                .replaceAll("startTime = .*", "startTime = T")
                .replaceAll("duration = .*", "duration = D")
                .replaceAll("bytes = .*", "bytes = B")
                .replaceAll("javaThreadId = \\d+", "javaThreadId = N");
    }
}
