package ferro.collectives.engine;

import ferro.control.failure.Failure;
import ferro.control.group.GroupControl;
import ferro.recorder.FlightRecorder;
import ferro.recorder.GroupRecorder;
import ferro.recorder.RecordedGroup;
import ferro.recorder.ThreadStack;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** One group in the flight recorder of its rank: records its operations, and answers the recorder when that writes. */
final class GroupRecording implements RecordedGroup, AutoCloseable {
    private final RankContext context;
    private final long identity;
    private final GroupControl control;
    private final Supplier<ferro.control.group.RankStatus> status;
    private final FlightRecorder whole;
    private final GroupRecorder recorder;

    /** Adds a group to the recorder. */
    GroupRecording(
            RankContext context,
            GroupSpec group,
            GroupIdentity identity,
            GroupControl control,
            Supplier<ferro.control.group.RankStatus> status) {
        this.context = context;
        this.identity = identity.value();
        this.control = control;
        this.status = status;
        this.whole = FlightRecorder.of(context, group);
        this.recorder = whole.enter(group.name(), group.rank(), identity.ranks(), this);
    }

    GroupRecorder recorder() {
        return recorder;
    }

    Path write(Path folder) throws IOException {
        return whole.write(folder, "asked for by the program");
    }

    @Override
    public Failed failure() {
        Failure failure = control.failure();
        return failure == null
                ? null
                : Failed.of(
                        failure.code(),
                        failure.origin(),
                        failure.sequence(),
                        failure.culprits(),
                        failure.known(),
                        failure.text());
    }

    @Override
    public long identity() {
        return identity;
    }

    @Override
    public RecordedStatus status() {
        ferro.control.group.RankStatus now = status.get();
        // a recording has no word for a rank that waits for any of several ranks
        return new RecordedStatus(now.sequence(), now.progress(), now.isAny() ? Set.of() : now.waitingFor());
    }

    @Override
    public List<ThreadStack> stacks() {
        return control.stacks();
    }

    /** Removes the group; the last group of a rank ends its recorder. */
    @Override
    public void close() {
        recorder.close();
        FlightRecorder.release(context);
    }
}
