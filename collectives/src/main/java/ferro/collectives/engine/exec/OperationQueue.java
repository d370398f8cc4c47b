package ferro.collectives.engine.exec;

import ferro.CallOptions;
import ferro.Collective;
import ferro.HostTensor;
import ferro.collectives.control.GroupControl;
import ferro.collectives.control.RankStatus;
import ferro.collectives.control.failure.Failure;
import ferro.collectives.control.failure.Failures;
import ferro.collectives.engine.operands.Prepared;
import ferro.collectives.engine.progress.CollectiveProgress;
import ferro.collectives.engine.progress.PendingWork;
import ferro.collectives.engine.progress.ProgressLock;
import ferro.collectives.engine.progress.ProgressLoop;
import ferro.collectives.engine.progress.RunLimit;
import ferro.collectives.shared.Program;
import ferro.collectives.shared.SharedMachine;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * Collectives of a group, in submission order. One is the current one; small ones may have begun behind it where this makes
 * no visible difference. Submitted by any thread; the thread with the progress lock makes progress on them.
 *
 * <p>A blocking call takes the fast path if no operation is queued and the progress lock is free. It takes the lock and its
 * number with one instruction, publishes its data, records the call while the data travels, then consumes the result. It
 * makes no object, takes no other lock, and reads no clock except the one for the recorder, if it ends after few polls. A
 * call that does not end within the time of a spin becomes the current operation, like any other.
 */
public final class OperationQueue implements CollectiveProgress {
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
    private final ProgressLock progressLock;
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
    /** Positions when the group failed: of the current operation, and of those that had begun behind it. */
    private PendingWork.Position[] reached = {};
    /**
     * How many queued operations have begun behind the current one, and the last of them; belongs to the thread that holds
     * the progress lock.
     */
    private int begunBehind;

    private Operation lastBegun;
    /** Whether the next queued operation has to wait until the current one has ended. */
    private boolean heldBack;
    /** The operation object of blocking calls, reused for one after the other. */
    private final Operation direct;
    /** Operation that goes before the queue; set and taken by the thread that holds the progress lock. */
    private volatile Operation next;

    private volatile Operation current;
    /** Number of the last operation that has ended; written by the thread that holds the progress lock. */
    private long ended;

    /**
     * Makes an empty one.
     *
     * @param checkUsable throws if the group takes no more calls; called with the queue locked or not
     */
    public OperationQueue(
            ProgressLoop loop,
            GroupControl control,
            LinkExecutor overLinks,
            Planner planner,
            Consumer<String> checkUsable) {
        this.loop = loop;
        this.progressLock = loop.lock();
        this.direct = new Operation(new PendingWork(loop), null, null, null);
        this.control = control;
        this.planner = planner;
        this.checkUsable = checkUsable;
        this.overLinks = overLinks;
        this.executor = overLinks;
        this.averages = new WholeAverages(loop.group().rank(), loop.group().worldSize());
        this.watch = new OperationWatch(loop.group(), control, () -> executor);
    }

    /** Queues a call, after checking all that can be wrong with it; nothing has moved until then. */
    public PendingWork submit(Collective call, String label, Duration timeout) {
        return submit(planner.prepare(call, label), call, timeout);
    }

    private PendingWork submit(Prepared prepared, Collective call, Duration timeout) {
        int rank = loop.group().rank();
        return submit(prepared, operand(call, rank), result(call, rank), timeout, null);
    }

    /** Queues a prepared call; {@code staging} may be null. */
    PendingWork submit(
            Prepared prepared, HostTensor in, HostTensor out, Duration timeout, Operation.OperandStaging staging) {
        loop.refuseInside(prepared.name);
        PendingWork work = new PendingWork(loop, prepared.name, ProgressLock.NONE, timeout);
        Operation.OperandStaging all = prepared.isWidened() ? averages.of(prepared, in, out, staging) : staging;
        Operation operation = new Operation(work, prepared, in, out, all);
        synchronized (queue) {
            checkUsable.accept(prepared.name);
            if (!queue.add(operation, progressLock)) {
                checkUsable.accept(prepared.name);
            }
            work.recorded(prepared.text(), prepared.bytes);
            control.called(operation.sequence(), prepared.call);
        }
        refuseIfSomebodyLeft(operation.sequence(), prepared);
        return work;
    }

    /**
     * Fails the group if a rank has left before this call. The number of the call is taken, and the others wait for it, so
     * that it ends with the group.
     */
    private void refuseIfSomebodyLeft(long sequence, Prepared prepared) {
        int gone = control.exits().before(sequence);
        if (gone >= 0) {
            OperationWatch.failForLeaver(control, gone, sequence, prepared);
        }
    }

    /** Returns the number of the last operation that has ended, 0 if none; any thread. */
    public long ended() {
        return (long) ENDED.getOpaque(this);
    }

    /** Sets the executor of programs in shared memory; called before the first of them, with the progress lock held. */
    public void share(SharedMemoryExecutor overSharedMemory) {
        overMemory = overSharedMemory;
    }

    private Executor of(Prepared prepared) {
        return prepared.program == null ? overLinks : overMemory;
    }

    /** Runs a call on this thread: at once if nothing is queued and the progress lock is free, else in its order. */
    public void run(Collective call, CallOptions options, boolean noMessages) {
        Prepared prepared = planner.prepare(call, options.label());
        Duration timeout = options.timeout();
        checkUsable.accept(prepared.name);
        long seen = progressLock.look();
        boolean isNext = noMessages && !prepared.isWidened() && isIdle();
        long sequence = isNext ? progressLock.tryEnterAsNext(seen) : ProgressLock.NONE;
        if (sequence == ProgressLock.NONE) {
            submit(prepared, call, timeout).await();
            return;
        }
        int rank = loop.group().rank();
        try {
            refuseIfSomebodyLeft(sequence, prepared);
            if (prepared.op != null && prepared.op.combiner() != null) {
                // calls on this group from the code of the op are refused by the owner of the progress lock
                progressLock.own();
            }
            HostTensor in = operand(call, rank);
            HostTensor out = result(call, rank);
            if (!endsAtOnce(prepared, sequence, in, out, timeout)) {
                direct.become(prepared, in, out);
                direct.number(sequence);
                next = direct;
                progressLock.own();
                loop.run(direct.work(), RunLimit.DONE, 0);
                direct.work().throwFailure();
            }
        } finally {
            direct.forget();
            loop.leave();
        }
    }

    /**
     * Tries the fast path, with the progress lock and a number taken; if the call does not end there, it is the next
     * operation of the loop.
     */
    private boolean endsAtOnce(Prepared prepared, long sequence, HostTensor in, HostTensor out, Duration timeout) {
        Program program = prepared.program;
        boolean published = false;
        Throwable broken = null;
        try {
            // the data that the others need travels while this rank records the call
            published = control.failure() == null && publishes(prepared, sequence, in);
        } catch (RuntimeException | Error failure) {
            broken = failure;
        }
        long begunNanos = loop.nanoTime();
        int entry = entered(prepared, sequence, begunNanos, broken);
        int looks = SharedMachine.NOT_THERE;
        try {
            if (published) {
                looks = program == null
                        ? overLinks.copyAll(prepared, in, out)
                        : overMemory.consume(program, prepared.call, in, out, prepared.completing);
            }
        } catch (RuntimeException | Error failure) {
            looks = SharedMachine.NOT_THERE;
            control.fail(Failures.inside(loop.group(), failure));
        }
        if (looks == SharedMachine.NOT_THERE) {
            direct.work().become(prepared.name, begunNanos, timeout);
            direct.work().recordedAs(entry);
            return false;
        }
        // a call that ends within so few polls takes well below a microsecond: no clock is read for it
        long endedNanos = looks < SharedMachine.LOOKS_IN_NO_TIME ? begunNanos : loop.nanoTime();
        loop.recorder().done(entry, endedNanos, prepared.steps, prepared.bytesMoved);
        ENDED.setOpaque(this, sequence);
        return true;
    }

    /**
     * Records a call, and then fails the group if its data could not be published: its number is taken, so it goes on as an
     * operation, ends with the group, and is in the recording of the failure.
     */
    private int entered(Prepared prepared, long sequence, long begunNanos, Throwable broken) {
        try {
            control.called(sequence, prepared.call);
            return loop.recorder().started(sequence, prepared.text(), prepared.bytes, begunNanos);
        } finally {
            if (broken != null) {
                control.fail(Failures.inside(loop.group(), broken));
            }
        }
    }

    /** Returns whether the call can end on the fast path; in shared memory, its data is there for the others then. */
    private boolean publishes(Prepared prepared, long sequence, HostTensor in) {
        return prepared.program == null
                ? overLinks.isAlone()
                : overMemory.publish(prepared.program, sequence, prepared.call, in, prepared.completing);
    }

    /** Refuses calls from now on; returns false if it did so already. */
    public boolean close() {
        loop.refuseInside("close");
        return progressLock.close();
    }

    /** Returns whether calls are refused because the group is closed; any thread. */
    public boolean isClosed() {
        return progressLock.isClosed();
    }

    /** Returns the handle of the last submitted operation, or null. */
    public PendingWork last() {
        return queue.last();
    }

    /** Returns whether the current operation moves over links, or nothing runs. */
    @Override
    public boolean usesLinks() {
        return current == null || executor.usesLinks();
    }

    @Override
    public boolean isIdle() {
        // in this order: an operation that leaves the queue, or the place before the queue, has become current before
        return queue.isEmpty() && next == null && current == null;
    }

    /** Returns the status of this rank, or null if it is in no collective; any thread. */
    public RankStatus status() {
        Operation running = current;
        return running == null ? null : watch.status(running);
    }

    /** Returns the executor of the operation under way, and begins the next one if there was none; null if none waits. */
    @Override
    public Executor begin() {
        if (current == null && !beginNext()) {
            return null;
        }
        beginBehind();
        return executor;
    }

    /** Checks deadlines and suspicions. */
    @Override
    public void check(long nowNanos) {
        Operation operation = current;
        if (operation != null) {
            watch.look(operation, queue.firstLate(nowNanos), nowNanos);
        }
    }

    /** Notes how far the operation under way was when the group failed; called before its links are left. */
    public void noteReached() {
        try {
            PendingWork.Position[] positions = new PendingWork.Position[current == null ? 0 : 1 + begunBehind];
            for (int behind = 0; behind < positions.length; behind++) {
                positions[behind] = executor.position(behind);
            }
            reached = positions;
        } catch (RuntimeException | Error broken) {
            // the group has failed: that its operations end matters more than the position of this one
            LOG.log(
                    Level.DEBUG,
                    "cannot tell how far an operation of \"" + loop.group().name() + "\" was",
                    broken);
        }
    }

    /** Tells ranks that may be reading or writing the caller's tensors that the operation under way ends here with a failure. */
    public void abandon() {
        if (overMemory != null && (current != null || next != null)) {
            overMemory.abandon();
        }
    }

    /** Ends all pending operations with a failure, and drops the references to their tensors. */
    public void settle(Failure failure) {
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
        overLinks.forgetAll();
        if (overMemory != null) {
            overMemory.forget();
        }
    }

    private PendingWork.Position reached(int behind) {
        return behind < reached.length ? reached[behind] : PendingWork.Position.NOWHERE;
    }

    private boolean beginNext() {
        // an operation that leaves the queue must already be visible as current, else the group would look idle in
        // between
        Operation first = next;
        Operation operation = first == null ? queue.peek() : first;
        if (operation == null) {
            return false;
        }
        // memory may be exhausted here: an operation that could not begin is at no step
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

    /** Begins operations that may begin before the current one has ended. */
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

    /** Ends the operation under way, which is finished, unless it failed meanwhile by the code of a reduction. */
    @Override
    public void finish() {
        Operation operation = current;
        if (operation == null) {
            return;
        }
        heldBack = false;
        Prepared prepared = operation.prepared();
        operation.deliver();
        current = null;
        ENDED.setOpaque(this, operation.sequence());
        // a tensor that its caller has dropped must be found unreachable even if no other operation comes
        executor.forget();
        operation.work().succeed(prepared.steps, prepared.bytesMoved);
    }

    private static HostTensor operand(Collective call, int rank) {
        return (HostTensor) (call instanceof Collective.Broadcast ? call.in() : call.reads(rank));
    }

    private static HostTensor result(Collective call, int rank) {
        return (HostTensor) (call instanceof Collective.Broadcast ? call.out() : call.writes(rank));
    }
}
