package ferro.recorder;

import ferro.GroupEvent;
import ferro.recorder.RecordedGroup.Failed;
import ferro.recorder.RecordedGroup.RecordedStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * A writer of a record as JSON (RFC 8259), with one operation, event or stack per line. Ranks are rank numbers of the joined
 * group, except for {@code groups[].rank}. Times are on the clock of the process. {@code clockNanos} and {@code
 * wallNanos} align the times of the process with the times of other processes.
 */
final class RecordWriter {
    private static final int FORMAT = 1;
    private static final Path HOST = Path.of("/proc/sys/kernel/hostname");

    private final FlightRecorder recorder;
    private final int most;
    private final JsonText json = new JsonText();
    private final Map<GroupRecorder, RecordedStatus> statuses = new IdentityHashMap<>();

    /** Creates a writer of all entries. */
    RecordWriter(FlightRecorder recorder) {
        this(recorder, Integer.MAX_VALUE);
    }

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
        json.name("format").number(FORMAT);
        json.name("job").text(recorder.owner().job());
        json.name("rank").number(recorder.owner().rank());
        json.name("worldSize").number(recorder.owner().worldSize());
        json.name("host").text(recorder.owner().host().orElseGet(RecordWriter::nameOfKernel));
        json.name("pid").number(ProcessHandle.current().pid());
        json.name("written").text(now.truncatedTo(ChronoUnit.MILLIS).toString());
        json.name("wallNanos").number(ChronoUnit.NANOS.between(Instant.EPOCH, now));
        json.name("clockNanos").number(recorder.nanoTime());
        json.name("reason").text(reason);
    }

    private void group(GroupRecorder group) {
        json.open('{').name("name").text(group.name()).name("rank").number(group.rank());
        json.name("ranks").open('[');
        for (int rank : group.ranks()) {
            json.number(rank);
        }
        json.close(']').name("worldSize").number(group.ranks().length);
        Failed failure = group.failure();
        json.name("failure");
        if (failure == null) {
            json.nothing();
        } else {
            json.open('{').name("code").text(failure.code().name());
            json.name("culprits");
            ranks(group, failure.culprits());
            json.name("sequence").number(failure.sequence());
            json.name("origin").number(inJoined(group, failure.origin()));
            json.name("known").number(failure.known());
            json.name("text").text(failure.text()).close('}');
        }
        if (group.identity() != 0) {
            json.name("id").text(String.format("%016x", group.identity()));
        }
        json.close('}');
    }

    private void operation(OperationRing.RingEntry entry) {
        GroupRecorder group = entry.group();
        json.open('{').name("group").text(group.name()).name("sequence").number(entry.sequence());
        json.name("kind").text(JsonText.firstWord(entry.text())).name("text").text(entry.text());
        json.name("bytes").number(entry.bytes());
        json.name("begun").number(entry.begun()).name("ended").number(entry.ended());
        json.name("state").text(state(entry.state()));
        json.name("code");
        if (entry.code() == null) {
            json.nothing();
        } else {
            json.text(entry.code().name());
        }
        json.name("step").number(entry.step()).name("bytesMoved").number(entry.moved());
        RecordedStatus status = status(entry);
        json.name("waitingFor");
        if (entry.isOpen() && entry.peer() >= 0) {
            json.open('[').number(inJoined(group, entry.peer())).close(']');
        } else {
            ranks(group, entry.isOpen() ? status.waitingFor() : entry.waitingFor());
        }
        if (!status.progress().isEmpty()) {
            json.name("progress").text(status.progress());
        }
        json.close('}');
    }

    private RecordedStatus status(OperationRing.RingEntry entry) {
        RecordedStatus status = statuses.computeIfAbsent(entry.group(), GroupRecorder::status);
        boolean isThis = entry.state() == OperationRing.RUNNING && status.sequence() == entry.sequence();
        return isThis ? status : RecordedStatus.IDLE;
    }

    private void event(RecordedEvent recorded) {
        GroupEvent event = recorded.event();
        json.open('{')
                .name("at")
                .number(recorded.at())
                .name("group")
                .text(recorded.group().name());
        json.name("kind").text(event.kind().name()).name("ranks");
        ranks(recorded.group(), event.ranks());
        json.name("text").text(event.text()).close('}');
    }

    private void stacks(RecordedStacks taken) {
        for (ThreadStack stack : taken.stacks()) {
            json.open('{').name("at").number(taken.at()).name("reason").text(taken.reason());
            json.name("thread").text(stack.thread()).name("joined").number(stack.isJoining() ? 1 : 0);
            json.name("group");
            if (stack.group().isEmpty()) {
                json.nothing();
            } else {
                json.text(stack.group());
            }
            json.name("location").text(stack.location()).name("frames").open('[');
            stack.frames().forEach(json::text);
            json.close(']').close('}');
        }
    }

    private void ranks(GroupRecorder group, Collection<Integer> ranks) {
        json.open('[');
        ranks.forEach(rank -> json.number(inJoined(group, rank)));
        json.close(']');
    }

    private static int inJoined(GroupRecorder group, int rank) {
        int[] ranks = group.ranks();
        return rank >= 0 && rank < ranks.length ? ranks[rank] : rank;
    }

    private static String state(int state) {
        return switch (state) {
            case OperationRing.QUEUED -> "queued";
            case OperationRing.RUNNING -> "running";
            case OperationRing.DONE -> "done";
            default -> "failed";
        };
    }

    private static String nameOfKernel() {
        try {
            // the resolver is not used: it may return another name, or take seconds to fail
            return Files.isReadable(HOST) ? Files.readString(HOST).trim() : "unknown";
        } catch (IOException nameless) {
            return "unknown";
        }
    }
}
