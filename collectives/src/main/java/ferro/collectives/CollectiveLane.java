package ferro.collectives;

import ferro.Collective;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.control.Failure;
import ferro.collectives.control.GroupControl;
import ferro.collectives.control.Standing;
import ferro.collectives.reduce.Division;
import ferro.collectives.reduce.Elements;
import ferro.collectives.reduce.Multiplied;
import ferro.recorder.GroupRecorder;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Collectives of a group, in submission order: one is the current one, small ones may have begun behind it where nobody can
 * tell. Submitted by any thread, moved by whoever drives.
 *
 * <p>A blocking call that finds nothing queued and nobody driving goes the direct way: it takes the turn and its number by one
 * instruction, lets the runner show its data, writes the books while that travels, and takes the result, with no object made, no
 * lock taken and no clock read beside the one for the recorder. What does not end within the time of a spin becomes the current
 * operation, like any other.
 */
final class CollectiveLane {
    private static final System.Logger LOG = System.getLogger("ferro.group");

    /** What ends within so many looks ends well below a microsecond after it began: no clock is read for it. */
    private static final int LOOKS_IN_NO_TIME = 100;

    private static final VarHandle ENDED;

    static {
        try {
            ENDED = MethodHandles.lookup().findVarHandle(CollectiveLane.class, "ended", long.class);
        } catch (ReflectiveOperationException missing) {
            throw new ExceptionInInitializerError(missing);
        }
    }

    private final Driver driver;
    private final Turn turn;
    private final GroupControl control;
    private final Planner planner;
    private final Consumer<String> checkUsable;
    private final WholeAverages averages;
    private final OperationQueue queue = new OperationQueue();
    private final Runner runner;
    private final OperationWatch watch;
    /** Positions when the group failed: of the current operation, and of those behind it that had begun. */
    private PendingWork.Position[] reached = {};
    /** How many of the queue have begun behind the current one, and the last of them; belongs to whoever drives. */
    private int begunBehind;

    private Operation lastBegun;
    /** Whether the next of the queue has to wait until the current one has ended. */
    private boolean heldBack;
    /** What stands for a blocking call, one after the other. */
    private final Operation direct;
    /** Goes before the queue; set and taken by whoever drives. */
    private volatile Operation next;

    private volatile Operation current;
    /** Number of the last operation that has ended; written by whoever drives. */
    private long ended;

    /**
     * Makes the lane.
     *
     * @param checkUsable throws if the group takes no more calls; asked with the queue locked
     */
    CollectiveLane(Driver driver, GroupControl control, Runner runner, Planner planner, Consumer<String> checkUsable) {
        this.driver = driver;
        this.turn = driver.turn();
        this.direct = new Operation(new PendingWork(driver), null, null, null);
        this.control = control;
        this.planner = planner;
        this.checkUsable = checkUsable;
        this.runner = runner;
        this.averages = new WholeAverages(driver.group().rank(), driver.group().worldSize());
        this.watch = new OperationWatch(driver.group(), control, runner);
    }

    Optional<String> unsupportedBecause(Collective call) {
        return planner.unsupportedBecause(call);
    }

    /** Queues a call, after a look at all that can be wrong with it: until then nothing has moved. */
    PendingWork submit(Collective call, Duration timeout) {
        return submit(planner.prepare(call), call, timeout);
    }

    private PendingWork submit(Prepared prepared, Collective call, Duration timeout) {
        int rank = driver.group().rank();
        HostTensor in = operand(call, rank);
        Operation.Staging products =
                isMultiplied(call) && in != null ? new Products(in, call.op().factor(), result(call, rank)) : null;
        return submit(prepared, in, result(call, rank), timeout, products);
    }

    /** Queues what was prepared; {@code staging} may be null. */
    PendingWork submit(Prepared prepared, HostTensor in, HostTensor out, Duration timeout, Operation.Staging staging) {
        driver.refuseInside(prepared.kind.label());
        PendingWork work = new PendingWork(driver, prepared.kind.label(), Turn.NONE, timeout);
        Operation.Staging all = prepared.isWidened() ? averages.of(prepared, in, out, staging) : staging;
        Operation operation = new Operation(work, prepared, in, out, all);
        synchronized (queue) {
            checkUsable.accept(prepared.kind.label());
            if (!queue.add(operation, turn)) {
                checkUsable.accept(prepared.kind.label());
            }
            work.recorded(prepared.text(), prepared.bytes);
            control.called(operation.sequence(), prepared.call);
        }
        refuseIfSomebodyLeft(operation.sequence(), prepared);
        return work;
    }

    /** Its number is taken, so that the others wait for it: it ends with the group. */
    private void refuseIfSomebodyLeft(long sequence, Prepared prepared) {
        int gone = control.leaves().before(sequence);
        if (gone >= 0) {
            OperationWatch.failForLeaver(control, gone, sequence, prepared);
        }
    }

    /** Returns the number of the last operation that has ended, 0 if none; any thread. */
    long ended() {
        return (long) ENDED.getOpaque(this);
    }

    /** Runs a call on this thread: at once if nothing is queued and nobody drives, else in its place. */
    void run(Collective call, Duration timeout, boolean noMessages) {
        Prepared prepared = planner.prepare(call);
        Objects.requireNonNull(timeout, "timeout");
        checkUsable.accept(prepared.kind.label());
        long seen = turn.look();
        boolean direct = noMessages && !isMultiplied(call) && !prepared.isWidened() && isIdle();
        long sequence = direct ? turn.tryEnterAsNext(seen) : Turn.NONE;
        if (sequence == Turn.NONE) {
            submit(prepared, call, timeout).await();
            return;
        }
        int rank = driver.group().rank();
        try {
            runNow(prepared, sequence, operand(call, rank), result(call, rank), timeout);
        } finally {
            driver.leave();
        }
    }

    /** Runs an operation with the turn and its number in hand. */
    private void runNow(Prepared prepared, long sequence, HostTensor in, HostTensor out, Duration timeout) {
        refuseIfSomebodyLeft(sequence, prepared);
        if (prepared.op != null && prepared.op.combiner() != null) {
            // what its code asks of this group is refused by whose turn it is
            turn.own();
        }
        // what the others need of this rank is on its way while this rank writes its books
        boolean shown = shows(prepared, sequence, in);
        control.called(sequence, prepared.call);
        long begunNanos = driver.nanoTime();
        GroupRecorder recorder = driver.recorder();
        int entry = recorder.started(sequence, prepared.text(), prepared.bytes, begunNanos);
        int look = shown ? taken(prepared, sequence, in, out) : -1;
        if (look >= 0) {
            long endedNanos = look < LOOKS_IN_NO_TIME ? begunNanos : driver.nanoTime();
            recorder.done(entry, endedNanos, prepared.steps, prepared.bytesMoved);
            ENDED.setOpaque(this, sequence);
            return;
        }
        PendingWork work = direct.work();
        work.become(prepared.kind.label(), begunNanos, timeout);
        work.recordedAs(entry);
        direct.become(prepared, in, out);
        direct.number(sequence);
        next = direct;
        try {
            driver.driveHolding(work);
            work.throwFailure();
        } finally {
            direct.forget();
        }
    }

    private boolean shows(Prepared prepared, long sequence, HostTensor in) {
        try {
            return control.failure() == null && runner.show(prepared, sequence, in);
        } catch (RuntimeException | Error broken) {
            // its number is taken, so that the others wait for it: it goes on as an operation, which ends with the
            // group
            control.fail(Reasons.inside(driver.group(), broken));
            return false;
        }
    }

    /** Ends it if that can be done at once; returns after how many looks, or -1. */
    private int taken(Prepared prepared, long sequence, HostTensor in, HostTensor out) {
        try {
            int look = looks(prepared, sequence, in, out);
            if (look >= 0) {
                average(prepared, out);
            }
            return look;
        } catch (RuntimeException | Error broken) {
            control.fail(Reasons.inside(driver.group(), broken));
            return -1;
        }
    }

    /** Looks until it is done or the time for looking is over; returns how often in vain, or -1. */
    private int looks(Prepared prepared, long sequence, HostTensor in, HostTensor out) {
        // where ranks share cores, whoever is waited for may need this one
        int most = driver.spins() == 0 ? 1 : driver.spins();
        for (int look = 0; look < most; look++) {
            if (runner.take(prepared, sequence, in, out)) {
                return look;
            }
            if (look >= LOOKS_IN_NO_TIME) {
                Thread.onSpinWait();
            }
        }
        return -1;
    }

    /** Takes no more calls; returns false if that was so already. */
    boolean close() {
        driver.refuseInside("close");
        return turn.close();
    }

    boolean isClosed() {
        return turn.isClosed();
    }

    /** Returns what was submitted last, or null. */
    PendingWork last() {
        return queue.last();
    }

    /** Returns whether what runs moves over links, or nothing runs. */
    boolean usesLinks() {
        return current == null || runner.usesLinks();
    }

    boolean isIdle() {
        // in this order: what leaves the queue is current before, what goes before the queue is current before too
        return queue.isEmpty() && next == null && current == null;
    }

    /** Returns where this rank stands, or null if it is in no collective; any thread. */
    Standing standing() {
        Operation running = current;
        return running == null ? null : watch.standing(running);
    }

    /** Does what can be done now; returns whether anything moved. */
    boolean advance() {
        boolean moved = false;
        while (true) {
            Operation operation = current;
            if (operation == null) {
                operation = begin();
                if (operation == null) {
                    return moved;
                }
            }
            moved |= beginBehind();
            moved |= runner.advance();
            if (!runner.isFinished()) {
                return moved;
            }
            finish(operation);
            moved = true;
        }
    }

    /** Looks at deadlines and suspicions. */
    void check(long nowNanos) {
        Operation operation = current;
        if (operation != null) {
            watch.look(operation, queue.firstLate(nowNanos), nowNanos);
        }
    }

    /** Notes how far the operation under way had come when the group failed; before its links are left. */
    void noteReached() {
        try {
            PendingWork.Position[] positions = new PendingWork.Position[current == null ? 0 : 1 + begunBehind];
            for (int behind = 0; behind < positions.length; behind++) {
                positions[behind] = runner.position(behind);
            }
            reached = positions;
        } catch (RuntimeException | Error broken) {
            // the group has failed: that its operations end counts more than where this one was
            LOG.log(
                    Level.DEBUG,
                    "cannot tell how far an operation of \"" + driver.group().name() + "\" was",
                    broken);
        }
    }

    /** Ends everything that is pending. */
    void settle(Failure failure) {
        Operation running = current;
        begunBehind = 0;
        lastBegun = null;
        if (running != null) {
            current = null;
            running.work().fail(failure, reached(0));
        }
        Operation first = next;
        if (first != null) {
            next = null;
            first.work().fail(failure, PendingWork.Position.NOWHERE);
        }
        int behind = 0;
        for (Operation queued = queue.poll(); queued != null; queued = queue.poll()) {
            queued.work().fail(failure, reached(++behind));
        }
    }

    private PendingWork.Position reached(int behind) {
        return behind < reached.length ? reached[behind] : PendingWork.Position.NOWHERE;
    }

    private Operation begin() {
        // what is polled must be seen as current at once, else the group would look idle in between
        Operation first = next;
        Operation operation = first == null ? queue.peek() : first;
        if (operation == null) {
            return null;
        }
        // memory may be exhausted: an operation that could not begin is at no step
        operation.stage();
        runner.begin(operation);
        current = operation;
        watch.begin();
        if (first == null) {
            queue.poll();
            if (begunBehind == 0) {
                operation.work().runs();
            } else if (--begunBehind == 0) {
                lastBegun = null;
            }
        } else {
            next = null;
        }
        return operation;
    }

    /** Begins what may begin before the current one has ended. */
    private boolean beginBehind() {
        boolean any = false;
        while (!heldBack && queue.size() > begunBehind) {
            Operation waiting = queue.after(lastBegun);
            if (waiting == null || !runner.beginBehind(waiting)) {
                heldBack = waiting != null;
                break;
            }
            waiting.work().runs();
            lastBegun = waiting;
            begunBehind++;
            any = true;
        }
        return any;
    }

    private void finish(Operation operation) {
        heldBack = false;
        Prepared prepared = operation.prepared();
        average(prepared, operation.out());
        operation.deliver();
        current = null;
        ENDED.setOpaque(this, operation.sequence());
        if (operation.isStaged()) {
            // what is staged for the next one would have to stand beside it
            runner.forget();
        }
        operation.work().succeed(prepared.steps, prepared.bytesMoved);
    }

    private void average(Prepared prepared, HostTensor out) {
        if (prepared.op == ReduceOp.AVG && out != null && !prepared.isWidened()) {
            int worldSize = driver.group().worldSize();
            Division.divide(out.dataType(), out.memory(), Elements.at(out, 0), out.elementCount(), worldSize);
        }
    }

    private static HostTensor operand(Collective call, int rank) {
        return (HostTensor) (call instanceof Collective.Broadcast ? call.in() : call.reads(rank));
    }

    private static boolean isMultiplied(Collective call) {
        return call.op() != null && call.op().factor() != 1;
    }

    /** The operand of a sum of multiplied inputs. */
    private record Products(HostTensor given, double factor, HostTensor result) implements Operation.Staging {
        @Override
        public HostTensor operand() {
            return Multiplied.of(given, factor);
        }

        @Override
        public void deliver() {
            // the result is where it belongs
        }
    }

    private static HostTensor result(Collective call, int rank) {
        return (HostTensor) (call instanceof Collective.Broadcast ? call.out() : call.writes(rank));
    }
}
