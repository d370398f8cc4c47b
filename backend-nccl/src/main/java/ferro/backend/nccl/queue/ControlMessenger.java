package ferro.backend.nccl.queue;

import ferro.GroupEvent;
import ferro.control.group.ControlledGroup;
import ferro.control.group.GracefulExit;
import ferro.control.group.GracefulExit.ExitCondition;
import ferro.control.group.GroupControl;
import ferro.control.group.MessageCounts;
import ferro.control.group.RankStatus;
import ferro.control.membership.Hashing;
import ferro.control.wire.RankSetFormat;
import ferro.recorder.ThreadStack;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The control messages between the ranks of a group, which are not sent through NCCL: failures, goodbyes, calls and
 * answers. Control messages never wait behind data.
 */
public final class ControlMessenger implements ControlledGroup {
    /** Maximum number of different call texts that are stored for reuse, because a program repeats its calls. */
    private static final int KEPT_CALLS = 256;

    private final GroupOrigin position;
    private final RankContext context;
    private final GroupControl control;
    private long lastSequence;
    private final Map<Supplier<String>, CallHeader.Call> calls = new ConcurrentHashMap<>();
    private GroupFailureState failures;
    private Runnable look;

    /**
     * Creates the control messages of a group with the group's default timeout. {@link #open} connects them to the
     * group's queue.
     */
    public ControlMessenger(GroupOrigin position, CommIdentity identity, Duration timeout, RankContext context) {
        this.position = position;
        this.context = context;
        GroupSpec group = GroupSpec.of(identity.group(), identity.rank(), identity.worldSize(), timeout);
        this.control = new GroupControl(position.lane(), group, context, this, position.joined());
    }

    /**
     * Begins to receive control messages. Called when the queue is complete. Each goodbye that arrives runs {@code
     * look}.
     */
    void open(GroupFailureState opened, Runnable look) {
        this.failures = opened;
        this.look = look;
        opened.recordedBy(new NcclRecorder(
                context,
                opened.identity(),
                position.ranks(),
                new NcclRecorder.RecordSuppliers(opened::get, this::status, control::stacks)));
        position.lane().events(control);
        position.membership().enter(control, position.ranks());
        control.open();
    }

    /** Returns the object with the failure, the exits and the agreements of the group. */
    public GroupControl group() {
        return control;
    }

    /** Returns the position of the group among the groups of the same join. */
    public GroupOrigin position() {
        return position;
    }

    /**
     * Records a call before it is passed to NCCL. The caller must hold the queue's lock, so that calls are recorded in
     * the order in which they are submitted.
     *
     * @return number of the collective in its group, or of the message to or from its peer, from 1
     */
    long called(OperationInfo title) {
        if (!title.isMessage()) {
            lastSequence++;
            control.called(lastSequence, callOf(title));
            return lastSequence;
        }
        MessageCounts.PeerCounts counts = control.exits().messages().of(title.peer());
        if (title.operation() == NcclOperation.SEND) {
            return counts.nextSent();
        }
        counts.countArrived();
        counts.countTaken();
        return counts.taken();
    }

    private CallHeader.Call callOf(OperationInfo title) {
        CallHeader.Call known = calls.get(title.words());
        if (known != null) {
            return known;
        }
        String text = title.print();
        CallHeader.Call made = new CallHeader.Call(position.identity(), Hashing.of(text), text);
        if (title.words() instanceof CollectiveFingerprint && calls.size() < KEPT_CALLS) {
            calls.put(title.words(), made);
        }
        return made;
    }

    /** Returns the header that is sent to other ranks to ask them about a collective. */
    CallHeader headerOf(NcclWork work) {
        return CallHeader.of(work.sequence(), callOf(work.title()));
    }

    /**
     * Sends a goodbye to the other ranks. Returns the exit of this rank. The exit is over when all other ranks have
     * also left, or have received the failure.
     */
    public GracefulExit leave() {
        BitSet others = new BitSet();
        others.set(0, position.ranks().length);
        others.clear(failures.identity().rank());
        position.membership().leave(control);
        return control.leave(
                others, control.failure() == null ? ExitCondition.ALL_HAVE_LEFT : ExitCondition.ALL_HAVE_HEARD);
    }

    /** Returns whether this rank receives control messages of the other ranks. */
    public boolean knowsOthers() {
        return position.isConnected();
    }

    /** Returns whether every other rank has left normally; true if this rank has no connection to the others. */
    public boolean haveAllLeft() {
        return !position.isConnected() || control.exits().haveAllLeft();
    }

    /** Ends the control messages of this group. */
    public void close(Duration within) {
        position.lane().close(within);
    }

    @Override
    public void failed() {
        failures.agreed();
    }

    @Override
    public void left() {
        look.run();
    }

    @Override
    public void event(GroupEvent event) {
        failures.event(event);
    }

    @Override
    public void log(GroupEvent event) {
        failures.log(event);
    }

    @Override
    public RankStatus status() {
        NcclWork oldest = failures.pending().oldest();
        if (oldest == null) {
            return RankStatus.IDLE;
        }
        BitSet waitedFor = new BitSet();
        if (oldest.title().isMessage()) {
            waitedFor.set(oldest.title().peer());
        } else {
            waitedFor.set(0, position.ranks().length);
            waitedFor.clear(failures.identity().rank());
        }
        return new RankStatus(
                Math.max(0, oldest.sequence()),
                oldest.title().print(),
                "",
                RankSetFormat.numbers(waitedFor),
                oldest.deadline().startNanos());
    }

    @Override
    public List<Thread> callers() {
        return failures.pending().all().stream()
                .flatMap(work -> work.waiters().stream())
                .toList();
    }

    @Override
    public void record(String reason, List<ThreadStack> stacks) {
        failures.recording().stacks(reason, stacks);
    }

    @Override
    public long ended() {
        return failures.pending().lastEnded();
    }

    @Override
    public long pausedSince(long sinceNanos) {
        return position.membership().pausedSince(sinceNanos);
    }
}
