package ferro.recorder;

import ferro.GroupEvent;
import ferro.recorder.RecordedGroup.Failed;
import ferro.recorder.RecordedGroup.RecordedStatus;
import ferro.spi.Proc;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A writer of a record as JSON (RFC 8259), with one operation, event or stack per line. Ranks are rank numbers of the joined
 * group, except for {@code groups[].rank}. Times are on the clock of the process. {@code clockNanos} and {@code
 * wallNanos} align the times of the process with the times of other processes.
 */
final class RecordWriter {
    private static final int FORMAT = 1;
    /** By the numbers of the states in {@link OperationRing}. */
    private static final List<String> STATES = List.of("writing", "queued", "running", "done", "failed");

    private final FlightRecorder recorder;
    private final int most;
    private final JsonText json = new JsonText();
    private final Map<GroupRecorder, RecordedStatus> statuses = new IdentityHashMap<>();

    /** Creates a writer of the newest entries: at most {@code most} operations and at most {@code most} events. */
    RecordWriter(FlightRecorder recorder, int most) {
        this.recorder = recorder;
        this.most = most;
    }

    String record(String reason) {
        List<OperationRing.RingEntry> operations = newest(recorder.operations());
        json.open('{');
        header(reason);
        json.name("groups").openLines('[');
        for (GroupRecorder group : recorder.groups()) {
            statuses.put(group, group.status());
            group(group);
        }
        json.close(']').name("operations").openLines('[');
        operations.forEach(this::operation);
        json.close(']').name("events").openLines('[');
        newest(recorder.events()).forEach(this::event);
        json.close(']').name("stacks").openLines('[');
        newest(recorder.stacks(reason)).forEach(this::stacks);
        json.close(']').close('}');
        return json.text();
    }

    private <T> List<T> newest(List<T> entries) {
        return entries.subList(Math.max(0, entries.size() - most), entries.size());
    }

    private void header(String reason) {
        Instant now = Instant.now();
        json.put("format", FORMAT);
        json.put("job", recorder.owner().job());
        json.put("rank", recorder.owner().rank());
        json.put("worldSize", recorder.owner().worldSize());
        json.put("host", recorder.owner().host().or(Proc.HOST::hostName).orElse("unknown"));
        json.put("pid", ProcessHandle.current().pid());
        json.put("written", now.truncatedTo(ChronoUnit.MILLIS));
        json.put("wallNanos", ChronoUnit.NANOS.between(Instant.EPOCH, now));
        json.put("clockNanos", recorder.nanoTime());
        json.put("reason", reason);
    }

    private void group(GroupRecorder group) {
        json.open('{').put("name", group.name()).put("rank", group.rank());
        json.put("ranks", IntStream.of(group.ranks()).boxed().toList()).put("worldSize", group.ranks().length);
        Failed failure = group.failure();
        if (failure == null) {
            json.put("failure", null);
        } else {
            json.name("failure").open('{').put("code", failure.code());
            json.put("culprits", inJoined(group, failure.culprits())).put("sequence", failure.sequence());
            json.put("origin", inJoined(group, failure.origin())).put("known", failure.known());
            json.put("text", failure.text()).close('}');
        }
        if (group.identity() != 0) {
            json.put("id", String.format("%016x", group.identity()));
        }
        json.close('}');
    }

    private void operation(OperationRing.RingEntry entry) {
        RecordedStatus status = status(entry);
        json.open('{').put("group", entry.group().name()).put("sequence", entry.sequence());
        json.put("kind", JsonText.firstWord(entry.text()))
                .put("text", entry.text())
                .put("bytes", entry.bytes());
        json.put("begun", entry.begun()).put("ended", entry.ended()).put("state", STATES.get(entry.state()));
        json.put("code", entry.code()).put("step", entry.step()).put("bytesMoved", entry.moved());
        Collection<Integer> whileOpen = entry.peer() >= 0 ? List.of(entry.peer()) : status.waitingFor();
        json.put("waitingFor", inJoined(entry.group(), entry.isOpen() ? whileOpen : entry.waitingFor()));
        if (!status.progress().isEmpty()) {
            json.put("progress", status.progress());
        }
        json.close('}');
    }

    private RecordedStatus status(OperationRing.RingEntry entry) {
        RecordedStatus status = statuses.computeIfAbsent(entry.group(), GroupRecorder::status);
        boolean isThis = entry.state() == OperationRing.RUNNING && status.sequence() == entry.sequence();
        return isThis ? status : RecordedStatus.IDLE;
    }

    private void event(FlightRecorder.RecordedEvent recorded) {
        GroupEvent event = recorded.event();
        json.open('{').put("at", recorded.at()).put("group", recorded.group().name());
        json.put("kind", event.kind()).put("ranks", inJoined(recorded.group(), event.ranks()));
        json.put("text", event.text()).close('}');
    }

    private void stacks(FlightRecorder.RecordedStacks taken) {
        for (ThreadStack stack : taken.stacks()) {
            json.open('{').put("at", taken.at()).put("reason", taken.reason());
            json.put("thread", stack.thread()).put("joined", stack.isJoining() ? 1 : 0);
            json.put("group", stack.group().isEmpty() ? null : stack.group());
            json.put("location", stack.location()).put("frames", stack.frames()).close('}');
        }
    }

    private static List<Integer> inJoined(GroupRecorder group, Collection<Integer> ranks) {
        return ranks.stream().map(rank -> inJoined(group, rank)).toList();
    }

    private static int inJoined(GroupRecorder group, int rank) {
        int[] ranks = group.ranks();
        return rank >= 0 && rank < ranks.length ? ranks[rank] : rank;
    }
}
