package ferro.recorder;

import ferro.GroupEvent;
import ferro.recorder.RecordedGroup.Failed;
import ferro.recorder.RecordedGroup.RecordedStatus;
import ferro.spi.LinuxFiles;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A writer of a record as JSON (RFC 8259), with one operation, event or stack per line. Ranks are rank numbers of the
 * joined group, except for {@code groups[].rank}. Times are on the clock of the process. {@code clockNanos} and {@code
 * wallNanos} align the times of the process with the times of other processes.
 */
final class RecordWriter {
    private static final int FORMAT = 1;
    /** Names of the states, in the order of the numbers of the states in {@link OperationRing}. */
    private static final List<String> STATES = List.of("writing", "queued", "running", "done", "failed");

    private static final int TEXT_CHARACTERS = 1000;
    private static final int FIRST_PRINTABLE = 0x20;
    private static final int LAST_PLAIN = 0x7e;

    private final FlightRecorder recorder;
    private final int most;
    private final Map<GroupRecorder, RecordedStatus> statuses = new IdentityHashMap<>();
    private final StringBuilder out = new StringBuilder(1 << 16);
    private boolean first = true;
    private boolean named;
    private int lines = -1;
    private int depth;

    /** Creates a writer of the newest entries: at most {@code most} operations and at most {@code most} events. */
    RecordWriter(FlightRecorder recorder, int most) {
        this.recorder = recorder;
        this.most = most;
    }

    String record(String reason) {
        List<OperationRing.RingEntry> operations = newest(recorder.operations());
        open('{');
        header(reason);
        name("groups").openLines('[');
        for (GroupRecorder group : recorder.groups()) {
            statuses.put(group, group.status());
            group(group);
        }
        close(']').name("operations").openLines('[');
        operations.forEach(this::operation);
        close(']').name("events").openLines('[');
        newest(recorder.events()).forEach(this::event);
        close(']').name("stacks").openLines('[');
        newest(recorder.stacks(reason)).forEach(this::stacks);
        close(']').close('}');
        return text();
    }

    private <T> List<T> newest(List<T> entries) {
        return entries.subList(Math.max(0, entries.size() - most), entries.size());
    }

    private void header(String reason) {
        Instant now = Instant.now();
        put("format", FORMAT);
        put("job", recorder.owner().job());
        put("rank", recorder.owner().rank());
        put("worldSize", recorder.owner().worldSize());
        put("host", recorder.owner().host().or(LinuxFiles.HOST::hostName).orElse("unknown"));
        put("pid", ProcessHandle.current().pid());
        put("written", now.truncatedTo(ChronoUnit.MILLIS));
        put("wallNanos", ChronoUnit.NANOS.between(Instant.EPOCH, now));
        put("clockNanos", recorder.nanoTime());
        put("reason", reason);
    }

    private void group(GroupRecorder group) {
        open('{').put("name", group.name()).put("rank", group.rank());
        put("ranks", IntStream.of(group.ranks()).boxed().toList()).put("worldSize", group.ranks().length);
        Failed failure = group.failure();
        if (failure == null) {
            put("failure", null);
        } else {
            name("failure").open('{').put("code", failure.code());
            put("culprits", inJoined(group, failure.culprits())).put("sequence", failure.sequence());
            put("origin", inJoined(group, failure.origin())).put("known", failure.known());
            put("text", failure.text()).close('}');
        }
        if (group.identity() != 0) {
            put("id", String.format("%016x", group.identity()));
        }
        close('}');
    }

    private void operation(OperationRing.RingEntry entry) {
        RecordedStatus status = status(entry);
        open('{').put("group", entry.group.name()).put("sequence", entry.sequence);
        put("kind", firstWord(entry.text)).put("text", entry.text).put("bytes", entry.bytes);
        put("begun", entry.begun).put("ended", entry.ended).put("state", STATES.get(entry.state));
        put("code", entry.code).put("step", entry.step).put("bytesMoved", entry.moved);
        Collection<Integer> whileOpen = entry.peer >= 0 ? List.of(entry.peer) : status.waitingFor();
        put("waitingFor", inJoined(entry.group, entry.isOpen() ? whileOpen : entry.failedAt.waitingFor()));
        if (!status.progress().isEmpty()) {
            put("progress", status.progress());
        }
        close('}');
    }

    private RecordedStatus status(OperationRing.RingEntry entry) {
        RecordedStatus status = statuses.computeIfAbsent(entry.group, GroupRecorder::status);
        boolean isThis = entry.state == OperationRing.RUNNING && status.sequence() == entry.sequence;
        return isThis ? status : RecordedStatus.IDLE;
    }

    private void event(FlightRecorder.RecordedEvent recorded) {
        GroupEvent event = recorded.event();
        open('{').put("at", recorded.at()).put("group", recorded.group().name());
        put("kind", event.kind()).put("ranks", inJoined(recorded.group(), event.ranks()));
        put("text", event.text()).close('}');
    }

    private void stacks(FlightRecorder.RecordedStacks taken) {
        for (ThreadStack stack : taken.stacks()) {
            open('{').put("at", taken.at()).put("reason", taken.reason());
            put("thread", stack.thread()).put("joined", stack.isJoining() ? 1 : 0);
            put("group", stack.group().isEmpty() ? null : stack.group());
            put("location", stack.location()).put("frames", stack.frames()).close('}');
        }
    }

    private static List<Integer> inJoined(GroupRecorder group, Collection<Integer> ranks) {
        return ranks.stream().map(rank -> inJoined(group, rank)).toList();
    }

    private static int inJoined(GroupRecorder group, int rank) {
        int[] ranks = group.ranks();
        return rank >= 0 && rank < ranks.length ? ranks[rank] : rank;
    }

    // JSON: these methods also set the commas, and shorten and escape texts, so that no text is mistaken for JSON
    // syntax

    private RecordWriter open(char bracket) {
        separate();
        out.append(bracket);
        depth++;
        first = true;
        return this;
    }

    /** Opens a list whose elements are on separate lines. */
    private RecordWriter openLines(char bracket) {
        open(bracket);
        lines = depth;
        return this;
    }

    private RecordWriter close(char bracket) {
        if (lines == depth) {
            out.append('\n');
            lines = -1;
        }
        depth--;
        out.append(bracket);
        first = false;
        return this;
    }

    private RecordWriter name(String name) {
        separate();
        out.append('"').append(name).append("\":");
        named = true;
        return this;
    }

    private RecordWriter put(String name, Object value) {
        return name(name).value(value);
    }

    /** Writes null, a number, a list whose elements this method writes, or the text of any other object. */
    private RecordWriter value(Object value) {
        if (value instanceof Collection<?> list) {
            open('[');
            list.forEach(this::value);
            return close(']');
        }
        separate();
        if (value == null || value instanceof Number) {
            out.append(value);
        } else {
            text(value.toString());
        }
        return this;
    }

    private void text(String text) {
        out.append('"');
        int length = Math.min(text.length(), TEXT_CHARACTERS);
        for (int i = 0; i < length; i++) {
            character(text.charAt(i));
        }
        out.append(length < text.length() ? "...\"" : "\"");
    }

    private String text() {
        return out.append('\n').toString();
    }

    static String firstWord(String text) {
        int end = text.indexOf(' ');
        return end < 0 ? text : text.substring(0, end);
    }

    /** Escapes all characters except printable ASCII, so that no control sequence reaches a terminal or a page. */
    private void character(char character) {
        if (character == '"' || character == '\\') {
            out.append('\\').append(character);
        } else if (character >= FIRST_PRINTABLE && character <= LAST_PLAIN) {
            out.append(character);
        } else {
            out.append(String.format("\\u%04x", (int) character));
        }
    }

    private void separate() {
        if (named) {
            named = false;
            return;
        }
        if (!first) {
            out.append(',');
        }
        if (lines == depth) {
            out.append('\n');
        }
        first = false;
    }
}
