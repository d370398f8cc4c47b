package ferro.collectives.engine;

import ferro.FerroException;
import ferro.GroupEvent;
import ferro.collectives.engine.OperationExecutor.LinkExecutor;
import ferro.collectives.plan.AlgorithmChooser;
import ferro.collectives.shared.IntraNodeTransport;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.control.group.ControlledGroup;
import ferro.control.group.GracefulExit;
import ferro.control.group.GroupControl;
import ferro.control.group.GroupDeparture;
import ferro.control.group.GroupRegistry;
import ferro.control.group.RankStatus;
import ferro.recorder.FlightRecorder;
import ferro.recorder.GroupRecorder;
import ferro.recorder.RecordedGroup;
import ferro.recorder.ThreadStack;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.Listeners;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The parts of a {@link GroupEngine}, made in the order of their dependencies, and the life of the group.
 * {@link GroupLifecycle} answers the requests of the progress loop and of {@code GroupControl}, ends calls when the group
 * fails, and closes the group.
 *
 * <p>A failure ends the calls in flight with the cause, and later calls are refused with the same cause. Closing the
 * group throws a failure of code MISMATCH that no call has thrown.
 *
 * <p>A close waits for queued work, sends a goodbye, ends the links in an orderly way, and releases the transport.
 * The release waits until no other rank can lose data by the release. Only the close of the last group of a rank waits
 * for the release.
 */
final class GroupLifecycle
        implements ProgressLoop.LoopOwner, ControlledGroup, GroupDeparture.OpenCalls, GroupRegistry.OpenGroup {
    private static final long LOOK_NANOS = 1_000_000L;
    /** Time that an ended call gets to release the progress lock when the JVM exits. */
    private static final long OVER_NANOS = 20_000_000L;

    private static final long LOCK_NANOS = 2_000_000_000L;
    /**
     * Part of the time limit of a close that is reserved for the release of the transport, which waits for its last
     * frames and for the store. If the time limit is less than twice the reserved part, half of the limit is reserved.
     */
    private static final long RELEASE_NANOS = 250_000_000L;

    final GroupSpec group;
    final RankContext context;
    final GroupIdentity identity;
    final Transport transport;
    final GroupControl control;
    final ProgressLoop loop;
    final Listeners listeners;
    final Planner planner;
    final OperationQueue collectives;
    final PointToPointQueue messages;
    final LocalPeers localPeers;
    final GroupDeparture ending;

    private final FlightRecorder whole;
    private final GroupRecorder recorder;
    private volatile boolean settled;
    private volatile boolean mismatchUntold;
    private volatile boolean asked;
    private volatile boolean linksEnded;
    /** Whether the close has returned before the links have ended, so that no thread waits for the end of the links. */
    private boolean late;
    /**
     * Whether this group was the last one of this rank. {@code needed} is whether other ranks may still need this
     * group.
     */
    private boolean last;

    private boolean needed;
    private GracefulExit leaving;

    GroupLifecycle(Transport bare, GroupSpec group, RankContext context, GroupIdentity identity) {
        this.group = group;
        this.context = context;
        this.identity = identity;
        boolean isStepped = identity.options().stepped();
        boolean mayShareMemory =
                !isStepped && group.worldSize() > 1 && bare.sharedMemory().isPresent();
        this.transport = mayShareMemory ? new IntraNodeTransport(bare, group, context::nanoTime) : bare;
        this.loop = new ProgressLoop(this, transport, group, context, isStepped);
        this.listeners = new Listeners(group.name(), loop::later, !isStepped);
        this.control = new GroupControl(transport, group, context, this, identity.control());
        this.planner = new Planner(group, context, identity.value(), choice());
        LinkExecutor overLinks = new LinkExecutor(transport, identity.options().maxInFlight());
        this.collectives = new OperationQueue(loop, control, overLinks, planner, this::checkUsable);
        this.messages =
                new PointToPointQueue(loop, control, transport, identity.value(), Settings.MESSAGE_BUFFER.of(context));
        loop.serve(control, collectives, messages);
        this.localPeers = new LocalPeers(this);
        this.whole = FlightRecorder.of(context, group);
        this.recorder = whole.enter(group.name(), group.rank(), identity.ranks(), new RecorderSource());
        this.ending = new GroupDeparture(control, this);
    }

    /** The group in the flight recorder of this rank. The recorder calls this object when it writes a recording. */
    private final class RecorderSource implements RecordedGroup {
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
            return identity.value();
        }

        @Override
        public RecordedStatus status() {
            RankStatus now = GroupLifecycle.this.status();
            // a recording cannot show a rank that waits for any of several ranks
            return new RecordedStatus(now.sequence(), now.progress(), now.isAny() ? Set.of() : now.waitingFor());
        }

        @Override
        public List<ThreadStack> stacks() {
            return control.stacks();
        }
    }

    /** Starts to receive events and control messages of the other ranks, when the engine is complete. */
    void open() {
        identity.left().enter(this);
        transport.events(control);
        identity.membership().enter(control, identity.ranks());
        // control messages for parent and siblings come at any time, and must not reach an incomplete engine
        control.open();
    }

    private AlgorithmChooser choice() {
        return AlgorithmChooser.of(Settings.ALGORITHM.of(context))
                .far(transport.medium().far());
    }

    Path writeFlightRecord(Path folder) throws IOException {
        return whole.write(folder, "asked for by the program");
    }

    /** Removes the group from the flight recorder. Removing the last group of a rank ends the recorder. */
    void endRecording() {
        recorder.close();
        FlightRecorder.release(context);
    }

    @Override
    public GroupRecorder recorder() {
        return recorder;
    }

    @Override
    public void failed() {
        loop.failed();
        recorder.groupFailed();
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
        recorder.event(event);
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
        recorder.stacks(reason, stacks);
    }

    /** Returns the status of this rank. Thread-safe. */
    @Override
    public RankStatus status() {
        RankStatus status = collectives.status();
        return status == null ? messages.status() : status;
    }

    @Override
    public long ended() {
        return collectives.ended();
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

    /** Refuses a call on a closed group. Throws the failure of a failed group. */
    void checkUsable(String call) {
        if (collectives.isClosed()) {
            throw ending.refusal(call);
        }
        Failure failure = control.failure();
        if (failure != null) {
            mismatchUntold = false;
            throw exception(call, failure);
        }
    }

    /** Ends all operations after a failure, and the links after a close. */
    @Override
    public boolean settle() {
        Failure failure = control.failure();
        boolean isFirst = failure != null && !settled;
        if (failure != null) {
            settle(failure);
        }
        settleClose();
        return isFirst;
    }

    private void settle(Failure failure) {
        try {
            if (!settled) {
                // pending calls, messages included, throw the mismatch
                mismatchUntold = isMismatch(failure) && isIdle();
                settled = true;
                collectives.noteReached();
                if (rules().abandonsLinks()) {
                    transport.abandon();
                }
            }
        } finally {
            endCalls(failure);
        }
    }

    private void endCalls(Failure failure) {
        try {
            collectives.abandon();
        } finally {
            collectives.failPending(failure);
            messages.settle(failure);
        }
    }

    @Override
    public boolean hasToSettle() {
        return wantsLock() || control.failure() != null && (!settled || !isIdle());
    }

    /** Throws a MISMATCH that no call has thrown, after the group has been closed. */
    void throwUntold() {
        Failure failure = control.failure();
        // a failure that came while the links ended may have ended no call, so no call has thrown it either
        if (failure != null && (settled ? mismatchUntold : isMismatch(failure))) {
            mismatchUntold = false;
            throw exception("close", failure);
        }
    }

    private static boolean isMismatch(Failure failure) {
        return failure.code() == FerroException.Code.MISMATCH;
    }

    private FerroException exception(String call, Failure failure) {
        return new PendingWork(loop, call, -1, group.timeout()).exception(failure, PendingWork.WorkProgress.NOWHERE);
    }

    @Override
    public boolean isIdle() {
        return loop.isIdle();
    }

    @Override
    public boolean refuse() {
        return collectives.close();
    }

    /** Waits a short time for a call that has ended but has not released the progress lock. */
    @Override
    public String callInFlight() {
        look(OVER_NANOS, () -> isIdle() && !text().isEmpty(), () -> {});
        return text();
    }

    /** Polls while a condition holds, at most for {@code nanos}, because no thread signals the change. */
    private void look(long nanos, BooleanSupplier holds, Runnable again) {
        long until = context.nanoTime() + nanos;
        while (holds.getAsBoolean() && context.nanoTime() - until < 0) {
            LockSupport.parkNanos(this, LOOK_NANOS);
            again.run();
        }
    }

    private String text() {
        if (isIdle() && !loop.lock().isHeld()) {
            return "";
        }
        RankStatus status = status();
        return status.operation().isEmpty()
                ? "a call"
                : status.operation() + (status.sequence() > 0 ? " seq " + status.sequence() : "");
    }

    /** Waits until all submitted operations have ended, the group has failed, or {@code untilNanos} has come. */
    @Override
    public void finish(long untilNanos) {
        // a call that bypassed the queue holds the progress lock
        loop.exclusively(() -> {}, untilNanos);
        PendingWork newest = collectives.last();
        if (newest != null && !newest.isDone() && control.failure() == null) {
            loop.await(newest, PendingWork.StopCondition.TIME, untilNanos);
        }
        while (!messages.isIdle() && control.failure() == null && context.nanoTime() - untilNanos < 0) {
            loop.exclusively(loop::step, untilNanos);
            Thread.yield();
        }
    }

    /** Ends the group. Calls are already refused. */
    void close(Duration timeout) {
        long nanos = Deadlines.nanos(timeout);
        long end = context.nanoTime() + nanos;
        long until = end - Math.min(RELEASE_NANOS, nanos / 2);
        boolean stepped = identity.options().stepped();
        if (stepped) {
            ending.failUnfinished(timeout);
        } else {
            ending.finish(timeout, until);
        }
        loop.close();
        asked = true;
        settleWithLock(end);
        synchronized (this) {
            late = !linksEnded;
        }
        if (last) {
            identity.left().await(this, until).forEach(other -> other.release(timeLeft(end)));
        } else if (stepped && needed) {
            releaseLater(until);
        }
    }

    /** Releases the group later, by a timer, because no thread of a stepped group can wait. */
    private void releaseLater(long until) {
        long nanos = until - context.nanoTime();
        Future<?> timer = context.background().schedule(this::over, nanos, TimeUnit.NANOSECONDS);
        leaving.whenOver(() -> timer.cancel(false));
    }

    /** Returns the time until the end of a close, but at least {@link #RELEASE_NANOS} for the last frames. */
    private Duration timeLeft(long end) {
        return Duration.ofNanos(Math.max(RELEASE_NANOS, end - context.nanoTime()));
    }

    /** Ends the links on the thread that holds the progress lock, so that no call is inside them. */
    private void settleWithLock(long end) {
        loop.failed();
        look(Math.min(LOCK_NANOS, timeLeft(end).toNanos()), () -> !linksEnded, loop::failed);
    }

    @Override
    public boolean hasFailed() {
        return control.failure() != null;
    }

    /** Returns whether the thread with the progress lock still has to end the links. Thread-safe. */
    private boolean wantsLock() {
        return asked && !linksEnded;
    }

    /** Ends the links if a close has requested the end. The caller holds the progress lock. */
    private void settleClose() {
        if (wantsLock()) {
            try {
                leave();
            } finally {
                if (endedLate()) {
                    long now = context.nanoTime();
                    identity.left().await(this, now).forEach(other -> other.release(timeLeft(now)));
                }
            }
        }
    }

    private synchronized boolean endedLate() {
        linksEnded = true;
        return late && last;
    }

    private void leave() {
        try {
            identity.membership().leave(control);
        } finally {
            endLinks();
        }
    }

    private void endLinks() {
        try {
            leaving = control.leave(losers(), until());
            needed = transport.leave();
        } finally {
            last = identity.left().leave(this, needed);
            try {
                localPeers.close();
            } finally {
                if (needed) {
                    leaving.whenOver(this::over);
                } else {
                    transport.close();
                }
            }
        }
    }

    private GracefulExit.ExitCondition until() {
        if (control.failure() != null) {
            return GracefulExit.ExitCondition.ALL_HAVE_HEARD;
        }
        return transport.servesOthers()
                ? GracefulExit.ExitCondition.ALL_HAVE_LEFT
                : GracefulExit.ExitCondition.ALL_HAVE_ALL;
    }

    @Override
    public GracefulExit exit(String signal) {
        return ending.exit(signal) ? control.leave(losers(), until()) : null;
    }

    /** Returns the ranks that may lose data if this process ends, because they have not taken data of collectives. */
    private BitSet losers() {
        BitSet losers = new BitSet();
        for (int peer = 0; peer < group.worldSize(); peer++) {
            losers.set(peer, peer != group.rank() && transport.mayLose(peer, Lane.COLLECTIVE));
        }
        return losers;
    }

    private void over() {
        if (identity.left().isOver(this)) {
            transport.close();
        }
    }

    @Override
    public void release(Duration within) {
        transport.close(within);
    }
}
