package ferro.backend.nccl.queue;

import ferro.CallCounters;
import ferro.GroupEvent;
import ferro.control.failure.Failure;
import ferro.control.group.RankStatus;
import ferro.recorder.FlightRecorder;
import ferro.recorder.GroupRecorder;
import ferro.recorder.RecordedGroup;
import ferro.recorder.ThreadStack;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Records the operations of a queue in the flight recorder of its rank. The same recorder may contain a group with the
 * same name of a back end for host tensors. The text of an operation is created only if the operation is slow or has
 * failed.
 */
public final class NcclRecorder implements RecordedGroup, AutoCloseable {
    private final RankContext context;
    private final CommIdentity identity;
    private final RecordSuppliers facts;
    private final FlightRecorder whole;
    private final GroupRecorder recorder;

    /**
     * Functions that return what the recorder needs when it writes: the group's failure, the rank's status, and the
     * stacks of its threads.
     */
    record RecordSuppliers(
            Supplier<Failure> failure, Supplier<RankStatus> status, Supplier<List<ThreadStack>> stacks) {}

    /** Registers a group. {@code ranks} are the numbers of its ranks in the joined group. */
    NcclRecorder(RankContext context, CommIdentity identity, int[] ranks, RecordSuppliers facts) {
        this.context = context;
        this.identity = identity;
        this.facts = facts;
        GroupSpec group =
                GroupSpec.of(identity.group(), identity.rank(), identity.worldSize(), Deadlines.ofCalls(context));
        this.whole = FlightRecorder.of(context, group);
        this.recorder = whole.enter(identity.group() + " (nccl)", identity.rank(), ranks, this);
    }

    int submitted(OperationInfo title, long sequence, long nowNanos) {
        return recorder.submitted(sequence, title.name(), title.recorded(), nowNanos);
    }

    void running(int entry) {
        recorder.running(entry);
    }

    void ended(int entry, OperationInfo title, Failure why, long beginNanos, long nanos) {
        if (why == null) {
            count(title, nanos);
            recorder.done(entry, beginNanos + nanos, -1, -1);
        } else {
            recorder.failed(entry, beginNanos + nanos, why.code(), title.print());
        }
    }

    /**
     * Counts an operation that has ended. Synchronized, because messages and collectives may end on different threads.
     */
    private synchronized void count(OperationInfo title, long nanos) {
        recorder.counter().ended(title.operation().counterIndex(), 1, title.contributed(), 0, nanos);
    }

    /** Returns the counters of the calls that have succeeded so far. */
    public CallCounters counters() {
        return recorder.counter().counters();
    }

    void event(GroupEvent event) {
        recorder.event(event);
    }

    void stacks(String reason, List<ThreadStack> taken) {
        recorder.stacks(reason, taken);
    }

    void groupFailed() {
        recorder.groupFailed();
    }

    /** Writes the flight record of the rank into a folder. Returns the file. */
    public Path write(Path folder) throws IOException {
        return whole.write(folder, "asked for by the program");
    }

    @Override
    public Failed failure() {
        Failure why = facts.failure.get();
        return why == null ? null : Failed.of(why.code(), identity.rank(), -1, why.culprits(), why.known(), why.text());
    }

    @Override
    public RecordedStatus status() {
        RankStatus now = facts.status.get();
        return new RecordedStatus(now.sequence(), now.operation(), Set.of());
    }

    @Override
    public List<ThreadStack> stacks() {
        return facts.stacks.get();
    }

    @Override
    public void close() {
        recorder.close();
        FlightRecorder.release(context);
    }
}
