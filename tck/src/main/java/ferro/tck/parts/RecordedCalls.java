package ferro.tck.parts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** The events of calls in a recording of the JVM (JFR). */
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

    /**
     * The values that all events of one call have.
     *
     * @param operation kind of the call
     * @param sequence  number in the group, -1 for a message
     * @param bytes     size of the data
     * @param code      code of the failure; empty if the call did not fail
     */
    public record CallEvent(String operation, long sequence, long bytes, String code) {
        /** Returns the values that the events of a successful call have. */
        public static CallEvent good(String operation, long sequence, long bytes) {
            return new CallEvent(operation, sequence, bytes, "");
        }

        private boolean is(RecordedEvent event) {
            return equals(new CallEvent(
                    event.getString("operation"),
                    event.getLong("sequence"),
                    event.getLong("bytes"),
                    event.getString("code")));
        }
    }

    /**
     * Checks that a call has exactly one event for each of the given ranks, and that all of these events have the same
     * group. Returns the name of this group, or an empty text if the recording has lost the name. JDK 17 loses texts of
     * more than 16 characters that an earlier recording of the JVM had.
     */
    public String groupOf(CallEvent call, int... ranks) {
        List<RecordedEvent> found = events(call::is);
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

    /** Returns the only event of a call on a rank. */
    public RecordedEvent on(int rank, CallEvent call) {
        List<RecordedEvent> found = events(event -> call.is(event) && event.getInt("rank") == rank);
        assertEquals(1, found.size(), () -> "events of " + call + " of rank " + rank + " in " + this);
        return found.get(0);
    }

    private List<RecordedEvent> events(Predicate<RecordedEvent> which) {
        return events.stream().filter(which).toList();
    }

    @Override
    public String toString() {
        return events.stream()
                .map(event -> event.getString("group") + " rank " + event.getInt("rank") + " seq "
                        + event.getLong("sequence") + " " + event.getString("description") + " of "
                        + event.getLong("bytes") + " bytes " + event.getString("code"))
                .collect(Collectors.joining("\n"));
    }
}
