package ferro.collectives.engine;

import ferro.GroupEvent;
import ferro.collectives.engine.exec.LinkExecutor;
import ferro.collectives.engine.exec.OperationQueue;
import ferro.collectives.engine.exec.Planner;
import ferro.collectives.engine.p2p.PointToPoint;
import ferro.collectives.engine.progress.ProgressLoop;
import ferro.collectives.engine.shm.LocalPeers;
import ferro.collectives.plan.AlgorithmChoice;
import ferro.collectives.shared.IntraNodeTransport;
import ferro.control.failure.FailurePolicy;
import ferro.control.group.ControlOwner;
import ferro.control.group.GroupControl;
import ferro.control.group.RankStatus;
import ferro.recorder.GroupRecorder;
import ferro.recorder.ThreadStack;
import ferro.spi.GroupSpec;
import ferro.spi.Listeners;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import ferro.spi.Transport;
import java.util.List;

/**
 * The parts of a {@link GroupEngine}, made in the order in which they need each other, and what its loop and its control ask
 * of the group.
 */
final class EngineParts implements ProgressLoop.LoopOwner, ControlOwner {
    final Transport transport;
    final GroupControl control;
    final ProgressLoop loop;
    final Listeners listeners;
    final Planner planner;
    final OperationQueue collectives;
    final PointToPoint messages;
    final PendingCalls calls;
    final LocalPeers localPeers;
    final GroupRecording recording;
    final Closing closing;
    final FailureSettlement settlement;
    private final GroupIdentity identity;

    EngineParts(Transport bare, GroupSpec group, RankContext context, GroupIdentity identity) {
        this.identity = identity;
        boolean isStepped = identity.options().stepped();
        boolean mayShareMemory =
                !isStepped && group.worldSize() > 1 && bare.sharedMemory().isPresent();
        this.transport = mayShareMemory ? new IntraNodeTransport(bare, group, context::nanoTime) : bare;
        this.loop = new ProgressLoop(this, transport, group, context, isStepped);
        this.listeners = new Listeners(group.name(), loop::later, !isStepped);
        this.control = new GroupControl(transport, group, context, this, identity.control());
        this.planner = new Planner(group, context, identity.value(), choice(context));
        LinkExecutor overLinks = new LinkExecutor(transport, identity.options().maxInFlight());
        this.collectives = new OperationQueue(loop, control, overLinks, planner, this::checkUsable);
        this.messages =
                new PointToPoint(loop, control, transport, identity.value(), Settings.MESSAGE_BUFFER.of(context));
        loop.serve(control, collectives, messages);
        this.calls = new PendingCalls(context, control, loop, collectives, messages);
        this.localPeers = new LocalPeers(
                group, context, transport, new LocalPeers.Users(loop, control, planner, collectives, messages));
        this.recording = new GroupRecording(context, group, identity, control, calls::status);
        this.closing = new Closing(
                calls, new Closing.ClosingParts(transport, group, context, identity, loop, control, localPeers));
        this.settlement = new FailureSettlement(
                group,
                control,
                loop,
                collectives,
                new FailureSettlement.SettledParts(transport, rules().abandonsLinks(), calls, closing));
    }

    /** Begins to hear of the other ranks; called when the engine is whole. */
    void open() {
        identity.left().enter(closing);
        transport.events(control);
        identity.membership().enter(control, identity.ranks());
        // control messages for parent and siblings come at any time: they must not reach a half-made engine
        control.open();
    }

    private AlgorithmChoice choice(RankContext context) {
        return AlgorithmChoice.of(Settings.ALGORITHM.of(context))
                .far(transport.medium().far());
    }

    /** Refuses a call on a closed group, and repeats the failure of a failed one. */
    void checkUsable(String call) {
        settlement.checkUsable(call);
    }

    @Override
    public boolean settle() {
        return settlement.settle();
    }

    @Override
    public boolean hasToSettle() {
        return settlement.isDue();
    }

    @Override
    public GroupRecorder recorder() {
        return recording.recorder();
    }

    @Override
    public void failed() {
        loop.failed();
        recorder().groupFailed();
    }

    @Override
    public void left() {
        transport.wakeup();
    }

    @Override
    public void goAhead(int peer, long announcement) {
        messages.goAhead(peer, announcement);
        transport.wakeup();
    }

    @Override
    public void event(GroupEvent event) {
        recorder().event(event);
        listeners.tell(event);
    }

    @Override
    public void log(GroupEvent event) {
        listeners.log(event);
    }

    @Override
    public List<Thread> callers() {
        return loop.callers();
    }

    @Override
    public void record(String reason, List<ThreadStack> stacks) {
        recorder().stacks(reason, stacks);
    }

    @Override
    public RankStatus status() {
        return calls.status();
    }

    @Override
    public long ended() {
        return calls.ended();
    }

    @Override
    public long pausedSince(long sinceNanos) {
        return identity.membership().pausedSince(sinceNanos);
    }

    @Override
    public FailurePolicy rules() {
        return identity.options().rules();
    }

    @Override
    public int maxMesh() {
        return identity.options().maxMesh();
    }
}
