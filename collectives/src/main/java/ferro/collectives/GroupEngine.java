package ferro.collectives;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import ferro.collectives.control.Failure;
import ferro.collectives.control.GroupControl;
import ferro.collectives.control.Rules;
import ferro.collectives.control.Standing;
import ferro.collectives.reduce.Elements;
import ferro.recorder.GroupRecorder;
import ferro.spi.CallHeader;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.Listeners;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A whole back end over a medium: queue and sequence numbers here, plans run by {@link PlanRunner}, turns by {@link Driver},
 * point-to-point by {@link PointToPoint}, failure by {@link GroupControl}.
 */
final class GroupEngine implements CollectiveBackend, Driver.Machine, GroupControl.Owner {
    private static final System.Logger LOG = System.getLogger("ferro.group");
    private static final long CLOSE_NANOS = 2_000_000_000L;
    private static final long CLOSE_LOOK_NANOS = 1_000_000L;

    private final Transport transport;
    private final GroupSpec group;
    private final RankContext context;
    private final Place place;
    private final boolean stepped;
    private final GroupControl control;
    private final Driver driver;
    private final Planner planner;
    private final OperationQueue queue = new OperationQueue();
    private final PlanRunner runner;
    private final OperationWatch watch;
    private final PointToPoint pointToPoint;
    private final Recording recording;
    private final Scratch scratch = new Scratch();
    private final Listeners listeners;
    private final Subgroups subgroups;
    private PendingWork.Position reached = PendingWork.Position.NOWHERE;
    private volatile Operation current;
    private volatile boolean settled;
    private volatile boolean closing;
    private volatile boolean closed;
    private volatile boolean mismatchUntold;

    GroupEngine(Transport transport, GroupSpec group, RankContext context, Place place) {
        this.transport = transport;
        this.group = group;
        this.context = context;
        this.place = place;
        this.stepped = place.manner().stepped();
        this.driver = new Driver(this, transport, group, context, stepped);
        this.listeners = new Listeners(group.name(), driver::later, !stepped);
        this.control = new GroupControl(transport, group, context, this, place.control());
        this.planner = new Planner(group, context);
        this.runner = new PlanRunner(new Lanes(transport, Lane.COLLECTIVE));
        this.pointToPoint =
                new PointToPoint(driver, control, new Lanes(transport, Lane.POINT_TO_POINT), place.identity());
        this.watch = new OperationWatch(group, control, runner);
        this.recording = new Recording(context, group, place, control, this::standing);
        this.subgroups = new Subgroups(transport, group, context, place, control.agreement());
        transport.events(control);
        place.membership().enter(control, place.ranks());
        // questions to parent and siblings come at any time: they must not meet a half-made engine
        control.open();
    }

    /** Runs once what a failure needs, so that the first one does not wait for cold code. */
    GroupEngine warm() {
        control.warm();
        return this;
    }

    private GroupEngine(Subgroups.Child child, RankContext context) {
        this(child.transport(), child.group(), context, child.place());
    }

    @Override
    public void failed() {
        driver.failed();
        recording.recorder().groupFailed();
    }

    @Override
    public void event(GroupEvent event) {
        recording.recorder().event(event);
        listeners.tell(event);
    }

    @Override
    public Standing standing() {
        Operation running = current;
        return running == null ? pointToPoint.standing() : watch.standing(running);
    }

    @Override
    public Rules rules() {
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
        PendingWork work = enqueue(call, timeout).work();
        driver.submitted();
        return work;
    }

    @Override
    public void run(Collective call, Duration timeout) {
        if (stepped) {
            throw Reasons.wouldBlock(group, call.kind(), ": submit it and go on in completion()");
        }
        enqueue(call, timeout).work().await();
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
            throw Reasons.wouldBlock(group, "newGroup(" + name + ")", "");
        }
        checkUsable("newGroup(" + name + ")");
        return new GroupEngine(subgroups.reach(ranks, name, timeout), context);
    }

    /** As {@link #newGroup}, without waiting. */
    CompletionStage<GroupEngine> form(int[] ranks, String name, Duration timeout) {
        checkUsable("newGroup(" + name + ")");
        return subgroups.form(ranks, name, timeout).thenApply(child -> new GroupEngine(child, context));
    }

    @Override
    public Optional<FerroException> failure() {
        return Optional.ofNullable(control.failure()).map(failure -> Reasons.exception(group, failure));
    }

    @Override
    public void onEvent(Consumer<GroupEvent> listener) {
        listeners.add(listener);
    }

    @Override
    public Set<Integer> silentRanks(Duration within) {
        return stepped ? Set.of() : control.silentRanks(Deadlines.nanos(within));
    }

    @Override
    public void abort(Throwable cause) {
        control.fail(Reasons.failure(group, cause));
    }

    @Override
    public void close() {
        close(Duration.ofSeconds(5));
    }

    @Override
    public void close(Duration timeout) {
        if (!queue.close()) {
            return;
        }
        long begun = context.nanoTime();
        long bound = Deadlines.nanos(timeout);
        if (!stepped) {
            finishQueued(begun + bound);
        }
        if (control.failure() == null && !isIdle()) {
            control.fail(Reasons.closedTooEarly(group, timeout));
        }
        try {
            control.sayGoodbye();
            driver.close();
            closeTransport();
        } finally {
            // it waits for a disk, which is nothing to do with the turn held
            recording.close();
        }
        if (mismatchUntold) {
            mismatchUntold = false;
            throw groupFailure("close", control.failure());
        }
    }

    /** Has whoever holds the turn close the transport: nobody may be inside it meanwhile. */
    private void closeTransport() {
        closing = true;
        long until = context.nanoTime() + CLOSE_NANOS;
        driver.failed();
        while (!closed && context.nanoTime() - until < 0) {
            LockSupport.parkNanos(this, CLOSE_LOOK_NANOS);
            driver.failed();
        }
    }

    @Override
    public boolean advance() {
        if (control.failure() != null) {
            boolean first = !settled;
            settle();
            return first;
        }
        try {
            boolean moved = advanceCurrent();
            if (!pointToPoint.isIdle()) {
                moved |= pointToPoint.advance();
            }
            return transport.poll() | moved;
        } catch (RuntimeException | Error broken) {
            control.fail(Reasons.inside(group, broken));
        }
        return true;
    }

    @Override
    public void check(long nowNanos) {
        try {
            Operation operation = current;
            if (operation != null) {
                watch.look(operation, queue.firstLate(nowNanos), nowNanos);
            }
            pointToPoint.check(nowNanos);
        } catch (RuntimeException | Error broken) {
            control.fail(Reasons.inside(group, broken));
        }
    }

    @Override
    public void interrupted(PendingWork work) {
        if (!work.isDone() && !pointToPoint.interrupted(work)) {
            Failure interrupt = Reasons.interrupted(group, work);
            // this call alone says so: for the group, and on the other ranks, this rank aborted
            work.interrupted(interrupt);
            control.fail(interrupt);
        }
    }

    @Override
    public void settle() {
        Failure failure = control.failure();
        if (failure != null) {
            settle(failure);
        }
        if (closing && !closed) {
            closed = true;
            try {
                place.membership().leave(control);
            } finally {
                transport.close();
            }
        }
    }

    private void leaveLinks() {
        try {
            reached = current == null ? PendingWork.Position.NOWHERE : runner.position();
        } catch (RuntimeException | Error broken) {
            // the group has failed: that its operations end counts more than where this one was
            LOG.log(Level.DEBUG, "cannot tell how far an operation of " + this + " was", broken);
        } finally {
            if (place.manner().rules().abandonsLinks()) {
                transport.abandon();
            }
        }
    }

    private void settle(Failure failure) {
        try {
            if (!settled) {
                settled = true;
                mismatchUntold = failure.code() == FerroException.Code.MISMATCH && current == null && queue.isEmpty();
                leaveLinks();
            }
        } finally {
            Operation running = current;
            if (running != null) {
                current = null;
                running.work().fail(failure, reached);
            }
            for (Operation next = queue.poll(); next != null; next = queue.poll()) {
                next.work().fail(failure, PendingWork.Position.NOWHERE);
            }
            pointToPoint.settle(failure);
        }
    }

    @Override
    public long pausedSince(long sinceNanos) {
        return place.membership().pausedSince(sinceNanos);
    }

    @Override
    public boolean isIdle() {
        return current == null && queue.isEmpty() && pointToPoint.isIdle();
    }

    @Override
    public boolean hasFailed() {
        return closing && !closed || control.failure() != null && (!settled || !isIdle());
    }

    @Override
    public Path writeFlightRecord(Path folder) throws IOException {
        return recording.write(folder);
    }

    @Override
    public GroupRecorder recorder() {
        return recording.recorder();
    }

    /** One turn of the stepped form. */
    boolean step() {
        return driver.step();
    }

    private Operation enqueue(Collective call, Duration timeout) {
        call.check(group.rank(), group.worldSize());
        Optional<String> refusal = planner.unsupportedBecause(call);
        if (refusal.isPresent()) {
            throw new UnsupportedOperationException(
                    call.kind() + " on group \"" + group.name() + "\" rank " + group.rank() + ": " + refusal.get());
        }
        Operands operands = Operands.of(call, group.rank(), group.worldSize());
        Prepared prepared = planner.prepare(call, operands);
        synchronized (queue) {
            checkUsable(call.kind());
            long sequence = queue.nextSequence();
            CallHeader header = new CallHeader(place.identity(), sequence, prepared.fingerprint, prepared.text);
            PendingWork work = new PendingWork(driver, call.kind(), sequence, timeout);
            Operation operation = new Operation(work, prepared, operands, header);
            work.recorded(prepared.text, prepared.bytes);
            control.called(header);
            queue.add(operation);
            return operation;
        }
    }

    private Work transfer(Tensor tensor, int peer, int tag, boolean isSend, Duration timeout) {
        InvalidRankException.check(peer, group.worldSize());
        String kind = isSend ? "send" : "recv";
        if (tensor instanceof DeviceTensor) {
            throw new UnsupportedOperationException(kind + " on group \"" + group.name() + "\": " + Planner.ON_DEVICE);
        }
        checkUsable(kind);
        PendingWork work = pointToPoint.submit((HostTensor) tensor, peer, tag, isSend, timeout).work;
        driver.submitted();
        return work;
    }

    /** Refuses a call of a closed group, and repeats the failure of a failed one. */
    void checkUsable(String what) {
        if (queue.isClosed()) {
            throw new IllegalStateException(
                    what + " on group \"" + group.name() + "\" rank " + group.rank() + ": the group is closed");
        }
        int gone = control.departed();
        if (gone >= 0 && control.failure() == null) {
            control.lostByClosing(gone);
        }
        Failure failure = control.failure();
        if (failure != null) {
            mismatchUntold = false;
            throw groupFailure(what, failure);
        }
    }

    private FerroException groupFailure(String what, Failure failure) {
        return new PendingWork(driver, what, -1, group.timeout()).exception(failure, PendingWork.Position.NOWHERE);
    }

    private boolean advanceCurrent() {
        boolean moved = false;
        while (true) {
            Operation operation = current;
            if (operation == null) {
                operation = begin();
                if (operation == null) {
                    return moved;
                }
            }
            moved |= runner.advance();
            if (!runner.isFinished()) {
                return moved;
            }
            finish(operation);
            moved = true;
        }
    }

    private Operation begin() {
        // what is polled must be seen as current at once, else the group would look idle in between
        Operation operation = queue.peek();
        if (operation == null) {
            return null;
        }
        Schedule schedule = operation.prepared().schedule;
        // memory may be exhausted: an operation that has not begun is at no step
        HostTensor room = scratch.of(operation.prepared().type, schedule.scratchElements);
        current = operation;
        queue.poll();
        runner.begin(schedule, operation.header(), operation.operands(), room);
        watch.begin();
        operation.work().runs();
        return operation;
    }

    private void finish(Operation operation) {
        Operands operands = operation.operands();
        HostTensor out = operands.out();
        if (operands.op() == ReduceOp.AVG && out != null) {
            Elements.divide(out.dataType(), out.memory(), Elements.at(out, 0), out.elementCount(), group.worldSize());
        }
        current = null;
        Prepared prepared = operation.prepared();
        operation.work().succeed(prepared.schedule.steps(), prepared.bytesMoved);
    }

    private void finishQueued(long until) {
        PendingWork last = queue.last();
        if (last != null && !last.isDone() && control.failure() == null) {
            driver.look(last, until);
        }
        while (!pointToPoint.isIdle() && control.failure() == null && context.nanoTime() - until < 0) {
            driver.exclusively(this::advance, until);
            Thread.yield();
        }
    }

    @Override
    public String toString() {
        return "group \"" + group.name() + "\" rank " + group.rank() + " of " + group.worldSize();
    }
}
