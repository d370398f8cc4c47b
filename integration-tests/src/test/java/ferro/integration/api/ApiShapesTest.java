package ferro.integration.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.api.ApiSources.ApiRecord;
import ferro.integration.api.ApiSources.Value;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the types of exported packages look like, so that later releases can add to them. */
class ApiShapesTest {
    /** A new component of a public record changes its constructor, which callers have compiled. */
    private static final int MAX_COMPONENTS = 3;

    private static final Pattern TIME = Pattern.compile(".*(Nanos|Micros|Millis|Seconds)|nanos|micros|millis|seconds");

    /** Times of {@code System.nanoTime}, passed for each operation; a Duration would be allocated for each. */
    private static final Set<String> CLOCK_READINGS =
            Set.of("begunNanos", "endedNanos", "deadlineNanos", "nowNanos", "untilNanos");

    /** Converts a Duration into the numbers that other calls take. */
    private static final String CONVERSIONS = "ferro.spi.Deadlines.";

    /** Names of values that are several ranks. */
    private static final Pattern RANKS = Pattern.compile("culprits|waitingFor|peers|ranks|lost");

    private static final String PLANTED = """
            package a;

            public interface Planted {
                record Small(int one, long two, String three) {}

                record Large(int one, long two, String three, int four) {
                    static final int NOT_A_COMPONENT = 5;
                }

                private record Hidden(int one, long two, String three, int four) {}

                void waitFor(long timeoutMillis, Object other);

                long elapsedNanos();

                String culprits();

                void wait(String peers, String name);
            }

            final class Internal {
                public record Unseen(int one, long two, String three, int four, long waitNanos) {}
            }
            """;

    @TempDir
    private Path folder;

    @Test
    void aPublicRecordHasAtMostThreeComponents() throws IOException {
        List<ApiRecord> records = ApiSources.ofProduct().records();

        assertTrue(
                records.stream().anyMatch(each -> each.name().equals("ferro.spi.HostPort")), () -> "found " + records);
        assertEquals(List.of(), large(records), "make it a final class or a sealed interface with a factory");
    }

    @Test
    void publicSignaturesUseDurationForTimes() throws IOException {
        List<Value> values = ApiSources.ofProduct().values();

        assertTrue(
                values.stream().anyMatch(each -> each.member().equals("ferro.spi.Transport.park")),
                () -> "found " + values);
        assertEquals(List.of(), times(values), "take or return a java.time.Duration");
    }

    @Test
    void publicSignaturesUseNumbersForRanks() throws IOException {
        List<Value> texts = ApiSources.ofProduct().texts();

        assertTrue(
                texts.stream().anyMatch(each -> each.member().equals("ferro.recorder.RecordedGroup.RecordedStatus")),
                () -> "found " + texts);
        assertEquals(List.of(), ranks(texts), "take or return a Set<Integer>, not a text with commas");
    }

    @Test
    void aLargeRecordATimeAndRanksInTextAreFound() throws IOException {
        ApiSources planted = ApiSources.of(List.of(Files.writeString(folder.resolve("Planted.java"), PLANTED)));

        assertEquals(List.of(new ApiRecord("a.Planted.Large", 4)), large(planted.records()));
        assertEquals(
                List.of(
                        new Value("a.Planted.waitFor", "timeoutMillis"),
                        new Value("a.Planted.elapsedNanos", "elapsedNanos")),
                times(planted.values()));
        assertEquals(
                List.of(new Value("a.Planted.culprits", "culprits"), new Value("a.Planted.wait", "peers")),
                ranks(planted.texts()));
    }

    private static List<Value> ranks(List<Value> texts) {
        return texts.stream()
                .filter(each -> RANKS.matcher(each.name()).matches())
                .toList();
    }

    private static List<ApiRecord> large(List<ApiRecord> records) {
        return records.stream()
                .filter(each -> each.components() > MAX_COMPONENTS)
                .toList();
    }

    private static List<Value> times(List<Value> values) {
        return values.stream()
                .filter(each -> TIME.matcher(each.name()).matches())
                .filter(each -> !CLOCK_READINGS.contains(each.name()))
                .filter(each -> !each.member().startsWith(CONVERSIONS))
                .toList();
    }
}
