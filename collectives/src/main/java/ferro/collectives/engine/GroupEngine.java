package ferro.collectives.engine;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.Medium;
import ferro.Tensor;
import ferro.Work;
import ferro.collectives.control.ControlOwner;
import ferro.collectives.control.GroupControl;
import ferro.collectives.control.RankStatus;
import ferro.collectives.control.failure.Failure;
import ferro.collectives.control.failure.FailurePolicy;
import ferro.collectives.engine.operands.Messages;
import ferro.collectives.shared.IntraNodeTransport;
import ferro.recorder.GroupRecorder;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.Listeners;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * A whole back end over a medium: collectives by {@link OperationQueue}, messages by {@link PointToPoint}, failures by
 * {@link GroupControl}; {@link ProgressLoop} makes progress on collectives and messages.
 */
public final class GroupEngine implements CollectiveBackend, ProgressLoop.LoopOwner, ControlOwner {
    private static final System.Logger LOG = System.getLogger("ferro.group");

    private final Transport transport;
    private final GroupSpec group;
    private final RankContext context;
    private final GroupIdentity place;
    private final boolean stepped;
    private final GroupControl control;
    private final ProgressLoop loop;
    private final OperationQueue collectives;
    private final PointToPoint pointToPoint;
    private final GroupRecording recording;
    private final Listeners listeners;
    private final Subgroups subgroups;
    private final Planner planner;
    private final LocalPeers neighbours;
    private final Closing closing;
    private volatile boolean settled;
    private volatile boolean mismatchUntold;

    /** Puts the engine on a transport; {@link #warm} and {@link #meet} come next. */
    public GroupEngine(Transport bare, GroupSpec group, RankContext context, GroupIdentity place) {
        this.group = group;
        this.context = context;
        this.place = place;
        this.stepped = place.manner().stepped();
        boolean mayBeNear =
                !stepped && group.worldSize() > 1 && bare.sharedMemory().isPresent();
        this.transport = mayBeNear ? new IntraNodeTransport(bare, group, context::nanoTime) : bare;
        this.loop = new ProgressLoop(this, transport, group, context, stepped);
        this.listeners = new Listeners(group.name(), loop::later, !stepped);
        this.control = new GroupControl(transport, group, context, this, place.control());
        this.planner = new Planner(group, context, place, transport.medium().far());
        LinkExecutor overLinks = new LinkExecutor(transport, place.manner().maxInFlight());
        this.collectives = new OperationQueue(loop, control, overLinks, planner, this::checkUsable);
        this.pointToPoint = new PointToPoint(loop, control, transport, place.identity());
        loop.serve(control, collectives, pointToPoint);
        this.neighbours = new LocalPeers(
                group, context, transport, new LocalPeers.Users(loop, control, planner, collectives, pointToPoint));
        this.recording = new GroupRecording(context, group, place, control, this::standing);
        this.subgroups = new Subgroups(transport, group, context, place, control.agreement());
        this.closing = new Closing(
                this, new Closing.ClosingParts(transport, group, context, place, loop, control, neighbours));
        place.left().enter(closing);
        transport.events(control);
        place.membership().enter(control, place.ranks());
        // control messages for parent and siblings come at any time: they must not reach a half-made engine
        control.open();
    }

    /** Runs the code of a failure once, so that the first failure does not wait for cold code. */
    public GroupEngine warm() {
        control.warm();
        return this;
    }

    /** Finds out together with the other ranks which ranks share memory, before the group is used. */
    public GroupEngine meet() {
        try {
            neighbours.meet(this, place.isJoined(group));
            WarmUp.run(this, group, context);
        } catch (RuntimeException | Error failure) {
            if (!Failures.isAbortOfAnother(group, control.failure())) {
                throw notMet(failure);
            }
        }
        return this;
    }

    /** Ends a group that could not be made. */
    private FerroException notMet(Throwable failure) {
        // a failure here after the group has failed is a consequence of that one
        Failure first = failure instanceof FerroException ? null : control.failure();
        FerroException told = Failures.notMet(group, first == null ? failure : Failures.exception(group, first));
        control.fail(Failures.failure(group, told));
        try {
            close(Duration.ZERO);
        } catch (RuntimeException second) {
            told.addSuppressed(second);
        }
        return told;
    }

    @Override
    public HostTensor allocate(DataType dataType, long elementCount, Duration timeout) {
        loop.refuseInside("allocate");
        checkUsable("allocate");
        try {
            return neighbours.allocate(this, dataType, elementCount, timeout);
        } catch (FerroException failure) {
            control.fail(Failures.failure(group, failure));
            throw failure;
        }
    }

    @Override
    public String linkReport() {
        return neighbours.report();
    }

    @Override
    public Medium medium() {
        return neighbours.medium();
    }

    private GroupEngine(Subgroups.Child child, RankContext context) {
        this(child.transport(), child.group(), context, child.place());
    }

    @Override
    public void failed() {
        loop.failed();
        recording.recorder().groupFailed();
    }

    @Override
    public void event(GroupEvent event) {
        recording.recorder().event(event);
        listeners.tell(event);
    }

    @Override
    public RankStatus standing() {
        RankStatus standing = collectives.standing();
        return standing == null ? pointToPoint.standing() : standing;
    }

    @Override
    public FailurePolicy rules() {
        return place.manner().rules();
    }

    @Override
    public int rank() {
        return group.rank();
    }

    @Override
    public int worldSize() {
        return group.worldSize();
    }

    @Override
    public Duration timeout() {
        return group.timeout();
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call) {
        return planner.unsupportedBecause(call);
    }

    @Override
    public Work submit(Collective call, Duration timeout) {
        PendingWork work = collectives.submit(call, timeout);
        loop.submitted();
        return work;
    }

    @Override
    public void run(Collective call, Duration timeout) {
        if (stepped) {
            throw Failures.wouldBlock(group, call.kind().label(), ": submit it and go on in completion()");
        }
        collectives.run(call, timeout, pointToPoint.isIdle());
    }

    @Override
    public void coalesced(List<Collective> calls, Duration timeout) {
        if (stepped) {
            throw Failures.wouldBlock(group, "coalesced", ": submit the calls and go on in completion()");
        }
        Work.all(queued(calls, timeout)).await();
    }

    @Override
    public Work submitCoalesced(List<Collective> calls, Duration timeout) {
        Work all = Work.all(queued(calls, timeout));
        loop.submitted();
        return all;
    }

    private List<PendingWork> queued(List<Collective> calls, Duration timeout) {
        try {
            return new CoalescedBlock(collectives, planner, group.worldSize()).submit(calls, timeout);
        } catch (RuntimeException | Error failure) {
            if (!collectives.isIdle()) {
                // some of the calls may be queued, and no caller waits for them
                loop.submitted();
            }
            throw failure;
        }
    }

    @Override
    public Work send(Tensor tensor, int to, int tag, Duration timeout) {
        return transfer(tensor, to, tag, true, timeout);
    }

    @Override
    public Work recv(Tensor tensor, int from, int tag, Duration timeout) {
        return transfer(tensor, from, tag, false, timeout);
    }

    @Override
    public void send(ByteBuffer message, int to, int tag, Duration timeout) {
        send(Messages.outgoing(message), to, tag, timeout).await();
    }

    @Override
    public void recv(ByteBuffer message, int from, int tag, Duration timeout) {
        Messages.receive(message, tensor -> recv(tensor, from, tag, timeout).await());
    }

    @Override
    public void barrier(Duration timeout) {
        run(new Collective.Barrier(), timeout);
    }

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        if (stepped) {
            throw Failures.wouldBlock(group, "newGroup(" + name + ")", "");
        }
        loop.refuseInside("newGroup(" + name + ")");
        checkUsable("newGroup(" + name + ")");
        return new GroupEngine(subgroups.reach(ranks, name, timeout), context).meet();
    }

    /** As {@link #newGroup}, without waiting. */
    public CompletionStage<GroupEngine> form(int[] ranks, String name, Duration timeout) {
        checkUsable("newGroup(" + name + ")");
        return subgroups.form(ranks, name, timeout).thenApply(child -> new GroupEngine(child, context));
    }

    @Override
    public Optional<FerroException> failure() {
        return Optional.ofNullable(control.failure()).map(failure -> Failures.exception(group, failure));
    }

    @Override
    public void onEvent(Consumer<GroupEvent> listener) {
        listeners.add(listener);
    }

    @Override
    public Set<Integer> lost() {
        return control.lostRanks();
    }

    @Override
    public Set<Integer> silentRanks(Duration within) {
        return stepped ? Set.of() : control.silentRanks(Deadlines.nanos(Objects.requireNonNull(within, "within")));
    }

    @Override
    public void abort(Throwable cause) {
        // the refusal of a call while the JVM exits is not a failure that the other ranks need to hear of
        if (!closing.isExit()) {
            control.failUnlessFailed(Failures.failure(group, cause));
        }
    }

    @Override
    public void close() {
        close(Duration.ofSeconds(5));
    }

    @Override
    public void close(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (!collectives.close()) {
            return;
        }
        try {
            closing.close(timeout, stepped);
        } finally {
            // it waits for a disk, which must not happen with the progress lock held
            recording.close();
        }
        Failure failure = control.failure();
        // a failure that came while the links ended may never have been settled: then no call has told it either
        if (failure != null && (settled ? mismatchUntold : isMismatch(failure))) {
            mismatchUntold = false;
            throw groupFailure("close", failure);
        }
    }

    private static boolean isMismatch(Failure failure) {
        return failure.code() == FerroException.Code.MISMATCH;
    }

    @Override
    public boolean settle() {
        Failure failure = control.failure();
        boolean isFirst = failure != null && !settled;
        if (failure != null) {
            settle(failure);
        }
        closing.settle();
        return isFirst;
    }

    @Override
    public long ended() {
        return collectives.ended();
    }

    private void settle(Failure failure) {
        try {
            if (!settled) {
                // pending calls tell it, messages included
                mismatchUntold = isMismatch(failure) && isIdle();
                settled = true;
                collectives.noteReached();
                if (place.manner().rules().abandonsLinks()) {
                    transport.abandon();
                }
            }
        } finally {
            collectives.settle(failure);
            pointToPoint.settle(failure);
        }
    }

    @Override
    public long pausedSince(long sinceNanos) {
        return place.membership().pausedSince(sinceNanos);
    }

    boolean isIdle() {
        return loop.isIdle();
    }

    @Override
    public boolean hasToSettle() {
        return closing.wantsTurn() || control.failure() != null && (!settled || !isIdle());
    }

    @Override
    public Path writeFlightRecord(Path folder) throws IOException {
        return recording.write(folder);
    }

    @Override
    public GroupRecorder recorder() {
        return recording.recorder();
    }

    /** Returns the loop that makes progress. */
    ProgressLoop loop() {
        return loop;
    }

    /** Does one iteration of the stepped form. */
    public boolean step() {
        return loop.step();
    }

    private Work transfer(Tensor tensor, int peer, int tag, boolean isSend, Duration timeout) {
        InvalidRankException.check(peer, group.worldSize());
        String kind = isSend ? "send" : "recv";
        if (tensor instanceof DeviceTensor) {
            throw new UnsupportedOperationException(planner.refusalOnDevice(kind));
        }
        checkUsable(kind);
        PendingWork work = pointToPoint.submit((HostTensor) tensor, peer, tag, isSend, timeout).work;
        loop.submitted();
        return work;
    }

    /** Refuses a call on a closed group, and repeats the failure of a failed one. */
    public void checkUsable(String what) {
        if (collectives.isClosed()) {
            throw closing.refusal(what);
        }
        Failure failure = control.failure();
        if (failure != null) {
            mismatchUntold = false;
            throw groupFailure(what, failure);
        }
    }

    private FerroException groupFailure(String what, Failure failure) {
        return new PendingWork(loop, what, -1, group.timeout()).exception(failure, PendingWork.Position.NOWHERE);
    }

    /** Refuses calls from now on; returns false if it did so already. */
    boolean refuseCalls() {
        return collectives.close();
    }

    /** Describes for people what is under way; empty if nothing is. Any thread. */
    String underWay() {
        if (isIdle() && !loop.lock().isHeld()) {
            return "";
        }
        RankStatus standing = standing();
        return standing.operation().isEmpty()
                ? "a call"
                : standing.operation() + (standing.sequence() > 0 ? " seq " + standing.sequence() : "");
    }

    /** Waits until all submitted operations have ended, the group has failed, or a time has come. */
    void finishQueued(long until) {
        // a call that bypassed the queue holds the progress lock
        loop.exclusively(() -> {}, until);
        PendingWork last = collectives.last();
        if (last != null && !last.isDone() && control.failure() == null) {
            loop.await(last, ProgressLoop.RunLimit.TIME, until);
        }
        while (!pointToPoint.isIdle() && control.failure() == null && context.nanoTime() - until < 0) {
            loop.exclusively(loop::step, until);
            Thread.yield();
        }
    }

    @Override
    public String toString() {
        return "group \"" + group.name() + "\" rank " + group.rank() + " of " + group.worldSize();
    }
}
