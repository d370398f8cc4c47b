package ferro.tck.parts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * The events of calls in a recording of the JVM (JFR). A call is written as its kind, its number in the group (-1 for a
 * message), its bytes, and the code of its failure if it failed, for example {@code barrier 3 0 ABORTED}.
 */
public final class RecordedCalls {
    /** Name of the events. */
    public static final String EVENT = "ferro.Collective";

    private final List<RecordedEvent> events;

    private RecordedCalls(List<RecordedEvent> events) {
        this.events = events;
    }

    /** Reads a recording. */
    public static RecordedCalls in(Path file) throws IOException {
        return new RecordedCalls(RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals(EVENT))
                .toList());
    }

    private static String call(RecordedEvent event) {
        String call = event.getString("operation") + " " + event.getLong("sequence") + " " + event.getLong("bytes");
        return (call + " " + event.getString("code")).strip();
    }

    /**
     * Checks that a call has exactly one event for each of the given ranks, and that all of these events have the same
     * group. Returns the name of this group, or an empty text if the recording has lost the name. JDK 17 loses texts of
     * more than 16 characters that an earlier recording of the JVM had.
     */
    public String groupOf(String call, int... ranks) {
        List<RecordedEvent> found =
                events.stream().filter(event -> call(event).equals(call)).toList();
        List<Integer> by =
                found.stream().map(event -> event.getInt("rank")).sorted().toList();
        assertEquals(IntStream.of(ranks).boxed().toList(), by, () -> "ranks with an event of " + call + " in " + this);
        List<String> groups = found.stream()
                .map(event -> event.getString("group"))
                .filter(Objects::nonNull)
                .distinct()
                .toList();
        assertTrue(groups.size() < 2, () -> "groups of " + call + ": " + groups);
        return groups.isEmpty() ? "" : groups.get(0);
    }

    /** Returns an event of a call on a rank. */
    public RecordedEvent on(int rank, String call) {
        return events.stream()
                .filter(event -> event.getInt("rank") == rank && call(event).equals(call))
                .findFirst()
                .orElseThrow();
    }

    @Override
    public String toString() {
        return events.stream()
                .map(event -> event.getString("group") + " rank " + event.getInt("rank") + " " + call(event))
                .collect(Collectors.joining("\n"));
    }
}
