package ferro.collectives;

import ferro.collectives.control.Failure;
import ferro.collectives.control.GroupControl;
import ferro.recorder.FlightRecorder;
import ferro.recorder.GroupRecorder;
import ferro.recorder.RecordedGroup;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;

/** One group in the flight recorder of its rank: what its operations tell, and what the recorder asks when it writes. */
final class Recording implements RecordedGroup, AutoCloseable {
    private final RankContext context;
    private final GroupControl control;
    private final GroupRecorder recorder;

    /** Enters a group, whose ranks have these numbers in the joined group. */
    Recording(RankContext context, GroupSpec group, int[] ranks, GroupControl control) {
        this.context = context;
        this.control = control;
        this.recorder = FlightRecorder.of(context, group).enter(group.name(), group.rank(), ranks, this);
    }

    GroupRecorder recorder() {
        return recorder;
    }

    @Override
    public Failed failure() {
        Failure failure = control.failure();
        return failure == null
                ? null
                : new Failed(failure.code(), failure.origin(), failure.sequence(), failure.culprits(), failure.text());
    }

    @Override
    public Standing standing() {
        return Standing.IDLE;
    }

    /** Leaves; the last group of a rank ends its recorder. */
    @Override
    public void close() {
        recorder.close();
        FlightRecorder.release(context);
    }
}
