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
import ferro.collectives.shared.Program;
import ferro.collectives.shared.SharedMachine;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Collectives of a group, in submission order: one is the current one, small ones may have begun behind it where nobody can
 * tell. Submitted by any thread, taken forward by whoever has the turn.
 *
 * <p>A blocking call that finds nothing queued and the turn free goes the direct way: it takes the turn and its number by one
 * instruction, lets the executor show its data, writes the books while that travels, and takes the result, with no object made,
 * no lock taken and no clock read beside the one for the recorder. What does not end within the time of a spin becomes the
 * current operation, like any other.
 */
final class OperationQueue {
    private static final System.Logger LOG = System.getLogger("ferro.group");

    private static final VarHandle ENDED;

    static {
        try {
            ENDED = MethodHandles.lookup().findVarHandle(OperationQueue.class, "ended", long.class);
        } catch (ReflectiveOperationException missing) {
            throw new ExceptionInInitializerError(missing);
        }
    }

    private final ProgressLoop loop;
    private final Turn turn;
    private final GroupControl control;
    private final Planner planner;
    private final Consumer<String> checkUsable;
    private final WholeAverages averages;
    private final WaitingOperations queue = new WaitingOperations();
    private final LinkExecutor overLinks;
    /** Null unless all ranks share memory. */
    private SharedMemoryExecutor overMemory;

    /** Runs the current operation, or the one before if there is none. */
    private Executor executor;

    private final OperationWatch watch;
    /** Positions when the group failed: of the current operation, and of those behind it that had begun. */
    private PendingWork.Position[] reached = {};
    /** How many of the queue have begun behind the current one, and the last of them; belongs to whoever has the turn. */
    private int begunBehind;

    private Operation lastBegun;
    /** Whether the next of the queue has to wait until the current one has ended. */
    private boolean heldBack;
    /** What stands for a blocking call, one after the other. */
    private final Operation direct;
    /** Goes before the queue; set and taken by whoever has the turn. */
    private volatile Operation next;

    private volatile Operation current;
    /** Number of the last operation that has ended; written by whoever has the turn. */
    private long ended;

    /**
     * Makes an empty one.
     *
     * @param checkUsable throws if the group takes no more calls; asked with the queue locked
     */
    OperationQueue(
            ProgressLoop loop,
            GroupControl control,
            LinkExecutor overLinks,
            Planner planner,
            Consumer<String> checkUsable) {
        this.loop = loop;
        this.turn = loop.turn();
        this.direct = new Operation(new PendingWork(loop), null, null, null);
        this.control = control;
        this.planner = planner;
        this.checkUsable = checkUsable;
        this.overLinks = overLinks;
        this.executor = overLinks;
        this.averages = new WholeAverages(loop.group().rank(), loop.group().worldSize());
        this.watch = new OperationWatch(loop.group(), control, this);
    }

    /** Queues a call, after a look at all that can be wrong with it: until then nothing has moved. */
    PendingWork submit(Collective call, Duration timeout) {
        return submit(planner.prepare(call), call, timeout);
    }

    private PendingWork submit(Prepared prepared, Collective call, Duration timeout) {
        int rank = loop.group().rank();
        HostTensor in = operand(call, rank);
        Operation.Staging products =
                isMultiplied(call) && in != null ? new Products(in, call.op().factor(), result(call, rank)) : null;
        return submit(prepared, in, result(call, rank), timeout, products);
    }

    /** Queues what was prepared; {@code staging} may be null. */
    PendingWork submit(Prepared prepared, HostTensor in, HostTensor out, Duration timeout, Operation.Staging staging) {
        loop.refuseInside(prepared.kind.label());
        PendingWork work = new PendingWork(loop, prepared.kind.label(), Turn.NONE, timeout);
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

    /** Says what runs programs in shared memory; before the first of them, with the turn held. */
    void share(SharedMemoryExecutor overSharedMemory) {
        overMemory = overSharedMemory;
    }

    private Executor of(Prepared prepared) {
        return prepared.program == null ? overLinks : overMemory;
    }

    /** Runs a call on this thread: at once if nothing is queued and the turn is free, else in its place. */
    void run(Collective call, Duration timeout, boolean noMessages) {
        Prepared prepared = planner.prepare(call);
        Objects.requireNonNull(timeout, "timeout");
        checkUsable.accept(prepared.kind.label());
        long seen = turn.look();
        boolean isNext = noMessages && !isMultiplied(call) && !prepared.isWidened() && isIdle();
        long sequence = isNext ? turn.tryEnterAsNext(seen) : Turn.NONE;
        if (sequence == Turn.NONE) {
            submit(prepared, call, timeout).await();
            return;
        }
        int rank = loop.group().rank();
        try {
            refuseIfSomebodyLeft(sequence, prepared);
            if (prepared.op != null && prepared.op.combiner() != null) {
                // what its code asks of this group is refused by whose turn it is
                turn.own();
            }
            HostTensor in = operand(call, rank);
            HostTensor out = result(call, rank);
            if (!endsAtOnce(prepared, sequence, in, out, timeout)) {
                direct.become(prepared, in, out);
                direct.number(sequence);
                next = direct;
                turn.own();
                loop.run(direct.work(), ProgressLoop.Until.DONE, 0);
                direct.work().throwFailure();
            }
        } finally {
            direct.forget();
            loop.leave();
        }
    }

    /** Tries the direct way, with turn and number in hand; where it does not end, the operation is the next of the loop. */
    private boolean endsAtOnce(Prepared prepared, long sequence, HostTensor in, HostTensor out, Duration timeout) {
        Program program = prepared.program;
        boolean shown = false;
        try {
            // what the others need of this rank is on its way while this rank writes its books
            shown = control.failure() == null
                    && (program == null ? overLinks.isAlone() : overMemory.show(program, sequence, prepared.call, in));
        } catch (RuntimeException | Error broken) {
            // its number is taken, so that the others wait for it: it goes on as an operation, which ends with the
            // group
            control.fail(Reasons.inside(loop.group(), broken));
        }
        control.called(sequence, prepared.call);
        long begunNanos = loop.nanoTime();
        int entry = loop.recorder().started(sequence, prepared.text(), prepared.bytes, begunNanos);
        int looks = SharedMachine.NOT_THERE;
        try {
            if (shown) {
                looks = program == null
                        ? overLinks.copyAll(prepared, in, out)
                        : overMemory.take(program, prepared.call, in, out, prepared.combining);
                average(prepared, looks == SharedMachine.NOT_THERE ? null : out);
            }
        } catch (RuntimeException | Error broken) {
            looks = SharedMachine.NOT_THERE;
            control.fail(Reasons.inside(loop.group(), broken));
        }
        if (looks == SharedMachine.NOT_THERE) {
            direct.work().become(prepared.kind.label(), begunNanos, timeout);
            direct.work().recordedAs(entry);
            return false;
        }
        // what ends within so few looks ends well below a microsecond after it began: no clock is read for it
        long endedNanos = looks < SharedMachine.LOOKS_IN_NO_TIME ? begunNanos : loop.nanoTime();
        loop.recorder().done(entry, endedNanos, prepared.steps, prepared.bytesMoved);
        ENDED.setOpaque(this, sequence);
        return true;
    }

    /** Takes no more calls; returns false if that was so already. */
    boolean close() {
        loop.refuseInside("close");
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
        return current == null || executor.usesLinks();
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

    /** Returns what runs the operation under way, which is begun if there was none; null if none waits. */
    Executor begin() {
        if (current == null && !beginNext()) {
            return null;
        }
        beginBehind();
        return executor;
    }

    /** Returns what runs the operation under way. */
    Executor executor() {
        return executor;
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
                positions[behind] = executor.position(behind);
            }
            reached = positions;
        } catch (RuntimeException | Error broken) {
            // the group has failed: that its operations end counts more than where this one was
            LOG.log(
                    Level.DEBUG,
                    "cannot tell how far an operation of \"" + loop.group().name() + "\" was",
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

    private boolean beginNext() {
        // what is polled must be seen as current at once, else the group would look idle in between
        Operation first = next;
        Operation operation = first == null ? queue.peek() : first;
        if (operation == null) {
            return false;
        }
        // memory may be exhausted: an operation that could not begin is at no step
        operation.stage();
        Executor runs = of(operation.prepared());
        runs.begin(operation);
        executor = runs;
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
        return true;
    }

    /** Begins what may begin before the current one has ended. */
    private void beginBehind() {
        while (!heldBack && queue.size() > begunBehind) {
            Operation waiting = queue.after(lastBegun);
            if (waiting == null || of(waiting.prepared()) != executor || !executor.beginBehind(waiting)) {
                heldBack = waiting != null;
                break;
            }
            waiting.work().runs();
            lastBegun = waiting;
            begunBehind++;
        }
    }

    /** Ends the operation under way, which is finished; unless it failed meanwhile, by the code of a reduction. */
    void finish() {
        Operation operation = current;
        if (operation == null) {
            return;
        }
        heldBack = false;
        Prepared prepared = operation.prepared();
        average(prepared, operation.out());
        operation.deliver();
        current = null;
        ENDED.setOpaque(this, operation.sequence());
        if (operation.isStaged()) {
            // what is staged for the next one would have to stand beside it
            executor.forget();
        }
        operation.work().succeed(prepared.steps, prepared.bytesMoved);
    }

    private void average(Prepared prepared, HostTensor out) {
        if (prepared.op == ReduceOp.AVG && out != null && !prepared.isWidened()) {
            int worldSize = loop.group().worldSize();
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
