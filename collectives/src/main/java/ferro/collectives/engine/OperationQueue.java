package ferro.collectives.engine;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveKind;
import ferro.HostTensor;
import ferro.collectives.engine.OperandStager.AverageStager;
import ferro.collectives.engine.OperandStager.IdentityStager;
import ferro.collectives.engine.OperationExecutor.LinkExecutor;
import ferro.collectives.engine.OperationExecutor.SharedMemoryExecutor;
import ferro.collectives.engine.PendingWork.StopCondition;
import ferro.collectives.shared.SharedMemoryInterpreter;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Failure;
import ferro.control.failure.FailureFactory;
import ferro.control.group.CallWatch;
import ferro.control.group.GroupControl;
import ferro.control.group.RankStatus;
import ferro.control.group.TimeoutProbe;
import ferro.control.wire.RankSetFormat;
import ferro.recorder.CallCounter;
import ferro.spi.CallHeader;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.BitSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The collectives of a group, in submission order. One operation is the current operation. Small later operations may
 * begin before the current operation ends, if this makes no visible difference. Any thread may submit an operation. The
 * thread with the progress lock makes progress on all operations.
 *
 * <p>A blocking call takes the fast path if no operation is queued and the progress lock is free. On the fast path, a
 * call takes the progress lock and a sequence number with one instruction, publishes its data, records the call while
 * the data travels, then consumes the result. The fast path makes no object and takes no other lock. The fast path
 * reads the clock when the call begins. Of small calls that end within a few polls, one of 16 also reads the clock at
 * its end. All other calls read the clock at their end. A call that does not end within the time of a spin becomes the
 * current operation and continues like a queued operation.
 */
final class OperationQueue implements CallWatch.CallAccess<OperationQueue.Operation> {
    /**
     * Maximum length in bytes of a call that publishes its data before the call reads the clock. Publishing first gives
     * the data to the other ranks earlier. The measured time then lacks only the copy of a few bytes.
     */
    private static final int MAX_BYTES_BEFORE_CLOCK = 4096;

    /**
     * Number of quick calls of one kind for each measured call. The time of the measured call counts for all these
     * quick calls. The first calls of a kind are all measured. Reading the clock takes 25 ns, a quick call takes 400
     * ns.
     */
    private static final int CALLS_PER_SAMPLE = 16;

    /**
     * Time above which a quick call must have been interrupted. A longer time counts only for the measured call itself.
     */
    private static final long MAX_SAMPLE_NANOS = 10_000;

    /** Maximum age of the stored status of this rank. */
    private static final long SNAPSHOT_NANOS = 20_000_000L;

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
    private final AverageStager averages;
    private final LinkExecutor overLinks;
    /** Executor for shared memory; null unless all ranks share memory. */
    private SharedMemoryExecutor overMemory;

    /** Executor of the current operation, or of the last operation if no operation is current. */
    private OperationExecutor executor;

    /** The calls whose deadlines are watched. The progress lock guards this field and the next five fields. */
    private final CallWatch<Operation> watch;
    /** Time at which the status was stored, or at which the operation began to wait if no status was stored yet. */
    private long storedNanos;
    /** Whether the current operation waits, so that its status will be stored. */
    private boolean isWaiting;
    /** Whether the status was stored after the last progress. */
    private boolean isStored;
    /** Bytes that the operation had moved when the status was stored. */
    private long movedBytes;
    /** Time of the last observation at which more bytes had moved than before; 0 if no bytes have moved. */
    private long movedNanos;

    private volatile RankStatus snapshot = RankStatus.IDLE;
    /** Progress of the operations in flight when the group failed. Guarded by the progress lock. */
    private PendingWork.WorkProgress[] reached = {};

    /**
     * Number of queued operations that have begun before the end of the current operation. The progress lock guards
     * this field and {@code lastBegun}, the last of these operations.
     */
    private int begunBehind;

    private Operation lastBegun;
    /** Whether the next queued operation must wait until the current operation has ended. */
    private boolean heldBack;
    /** The operation object that all blocking calls reuse. */
    private final Operation direct;
    /** Operation that runs before the queued operations. Only a holder of the progress lock writes this field. */
    private volatile Operation next;

    private volatile Operation current;
    /** Number of the last operation that has ended. Only a thread that holds the progress lock writes this field. */
    private long ended;

    /**
     * Creates an empty queue. {@code checkUsable} throws an exception if the group accepts no more calls. The queue may
     * be locked during this check.
     */
    OperationQueue(
            ProgressLoop loop,
            GroupControl control,
            LinkExecutor overLinks,
            Planner planner,
            Consumer<String> checkUsable) {
        this.loop = loop;
        this.progressLock = loop.lock();
        this.direct = new Operation(new PendingWork(loop), null, null, null, null);
        this.control = control;
        this.planner = planner;
        this.checkUsable = checkUsable;
        this.overLinks = overLinks;
        this.executor = overLinks;
        this.averages = new AverageStager(loop.group().rank(), loop.group().worldSize());
        this.watch = new CallWatch<>(control, this);
    }

    /** Queues a call after checking its arguments. No data moves before the check. */
    PendingWork submit(Collective call, String label, Duration timeout) {
        return submit(planner.prepare(call, label), call, timeout);
    }

    private PendingWork submit(PreparedCall prepared, Collective call, Duration timeout) {
        int rank = loop.group().rank();
        return submit(prepared, operand(call, rank), result(call, rank), timeout, null);
    }

    /** Queues a prepared call; {@code staging} may be null. */
    PendingWork submit(PreparedCall prepared, HostTensor in, HostTensor out, Duration timeout, OperandStager staging) {
        loop.refuseInside(prepared.name);
        PendingWork work = new PendingWork(loop, prepared.name, ProgressLock.NONE, timeout);
        Operation operation = new Operation(work, prepared, in, out, staging(prepared, in, out, staging));
        synchronized (progressLock) {
            checkUsable.accept(prepared.name);
            if (!progressLock.add(operation)) {
                checkUsable.accept(prepared.name);
            }
            work.recorded(prepared.text(), prepared.bytes);
            count(work, prepared, in);
            control.called(operation.sequence(), prepared.call);
        }
        // the call has a number and the other ranks wait for the call, so a refusal fails the group
        control.exits().refuse(operation.sequence(), prepared.call);
        return work;
    }

    private OperandStager staging(PreparedCall prepared, HostTensor in, HostTensor out, OperandStager own) {
        if (prepared.isWidened()) {
            return averages.of(prepared, in, out, own);
        }
        return writesIdentity(prepared) ? new IdentityStager(prepared.op, in, out) : own;
    }

    /** Returns whether this rank's result is the identity of the op. */
    private boolean writesIdentity(PreparedCall prepared) {
        return prepared.kind == CollectiveKind.EXCLUSIVE_SCAN
                && loop.group().rank() == 0
                && prepared.op.combiner() == null;
    }

    private void count(PendingWork work, PreparedCall prepared, HostTensor in) {
        int calls = prepared.joined == null ? 1 : prepared.joined.length;
        long bytes = prepared.contributedBytes(in, loop.group().rank());
        work.counted(CallCounter.indexOf(prepared.kind), calls, bytes);
    }

    /** Returns the number of the last operation that has ended, or 0. Thread-safe. */
    long ended() {
        return (long) ENDED.getOpaque(this);
    }

    /**
     * Sets the executor of programs in shared memory. The caller holds the progress lock and calls this method before
     * the first program runs.
     */
    void share(SharedMemoryExecutor overSharedMemory) {
        overMemory = overSharedMemory;
    }

    private OperationExecutor of(PreparedCall prepared) {
        return prepared.program == null ? overLinks : overMemory;
    }

    /** Runs a call on this thread: at once if no operation is queued and the lock is free, else in its order. */
    void run(Collective call, CallOptions options, boolean noMessages) {
        PreparedCall prepared = planner.prepare(call, options.label());
        Duration timeout = options.timeout();
        checkUsable.accept(prepared.name);
        long seen = progressLock.look();
        boolean isNext = noMessages && !prepared.isWidened() && !writesIdentity(prepared) && isIdle();
        long sequence = isNext ? progressLock.tryEnterAsNext(seen) : ProgressLock.NONE;
        if (sequence == ProgressLock.NONE) {
            submit(prepared, call, timeout).await();
            return;
        }
        int rank = loop.group().rank();
        try {
            control.exits().refuse(sequence, prepared.call);
            if (runsCode(prepared)) {
                // the progress lock gets an owner, so that calls on this group from the code of the op are refused
                progressLock.own();
            }
            HostTensor in = operand(call, rank);
            HostTensor out = result(call, rank);
            if (!endsAtOnce(prepared, sequence, in, out, timeout)) {
                direct.become(prepared, in, out);
                direct.number(sequence);
                next = direct;
                progressLock.own();
                loop.run(direct.work(), StopCondition.DONE, 0);
                direct.work().throwFailure();
            }
        } finally {
            direct.forget();
            loop.leave();
        }
    }

    /**
     * Tries the fast path, after the progress lock and a number are taken. A call that does not end on the fast path
     * becomes the next operation of the progress loop.
     */
    private boolean endsAtOnce(PreparedCall prepared, long sequence, HostTensor in, HostTensor out, Duration timeout) {
        boolean isLong = prepared.bytes > MAX_BYTES_BEFORE_CLOCK;
        long callNanos = isLong ? loop.nanoTime() : 0;
        boolean published = false;
        Throwable broken = null;
        try {
            // the data that the other ranks need travels while this rank records the call
            published = control.failure() == null && publishes(prepared, sequence, in);
        } catch (RuntimeException | Error failure) {
            broken = failure;
        }
        long begunNanos = isLong ? callNanos : loop.nanoTime();
        int entry = entered(prepared, sequence, begunNanos, broken);
        int polls = SharedMemoryInterpreter.NOT_THERE;
        try {
            if (published) {
                polls = prepared.program == null
                        ? overLinks.copyAll(prepared, in, out)
                        : overMemory.consume(prepared.program, prepared.call, in, out, prepared.completing);
            }
        } catch (RuntimeException | Error failure) {
            polls = SharedMemoryInterpreter.NOT_THERE;
            control.fail(FailureFactory.inside(loop.group(), control.self(), failure));
        }
        if (polls == SharedMemoryInterpreter.NOT_THERE) {
            direct.work().become(prepared.name, begunNanos, timeout);
            direct.work().recordedAs(entry);
            count(direct.work(), prepared, in);
            return false;
        }
        boolean isQuick = !isLong && polls < SharedMemoryInterpreter.LOOKS_WITHOUT_HINT && !runsCode(prepared);
        recordEnd(prepared, in, entry, begunNanos, isQuick);
        ENDED.setOpaque(this, sequence);
        return true;
    }

    private void recordEnd(PreparedCall prepared, HostTensor in, int entry, long begunNanos, boolean isQuick) {
        CallCounter counter = loop.recorder().counter();
        int index = CallCounter.indexOf(prepared.kind);
        long before = isQuick ? counter.calls(index) : 0;
        boolean isMeasured = before < CALLS_PER_SAMPLE || before % CALLS_PER_SAMPLE == 0;
        long endedNanos = isMeasured ? loop.nanoTime() : begunNanos;
        long spentNanos = endedNanos - begunNanos;
        boolean countsForAll = before >= CALLS_PER_SAMPLE && spentNanos < MAX_SAMPLE_NANOS;
        long countedNanos = countsForAll ? CALLS_PER_SAMPLE * spentNanos : spentNanos;
        long bytes = prepared.contributedBytes(in, loop.group().rank());
        counter.ended(index, 1, bytes, begunNanos, begunNanos + countedNanos);
        loop.recorder().done(entry, endedNanos, prepared.steps, prepared.bytesMoved);
    }

    /** Returns whether a call runs code of the program, which may take any time. */
    private static boolean runsCode(PreparedCall prepared) {
        return prepared.op != null && prepared.op.combiner() != null;
    }

    /**
     * Records a call, and then fails the group if the data could not be published. The call already has its number. So
     * the call continues as an operation, ends with the failure of the group, and appears in the recording of the
     * failure.
     */
    private int entered(PreparedCall prepared, long sequence, long begunNanos, Throwable broken) {
        try {
            control.called(sequence, prepared.call);
            return loop.recorder().started(sequence, prepared.text(), prepared.bytes, begunNanos);
        } finally {
            if (broken != null) {
                control.fail(FailureFactory.inside(loop.group(), control.self(), broken));
            }
        }
    }

    /**
     * Returns whether the call can end on the fast path. If the call runs in shared memory and the result is true, the
     * data of the call is visible to the other ranks.
     */
    private boolean publishes(PreparedCall prepared, long sequence, HostTensor in) {
        return prepared.program == null
                ? overLinks.isAlone()
                : overMemory.publish(prepared.program, sequence, prepared.call, in, prepared.completing);
    }

    /** Refuses calls from now on. Returns false if calls were already refused. */
    boolean close() {
        loop.refuseInside("close");
        return progressLock.close();
    }

    /** Returns whether calls are refused because the group is closed. Thread-safe. */
    boolean isClosed() {
        return progressLock.isClosed();
    }

    /** Returns the handle of the last submitted operation, or null. */
    PendingWork last() {
        return progressLock.last();
    }

    /**
     * Returns whether the current operation uses links, or true without an operation. The caller holds the progress
     * lock.
     */
    boolean usesLinks() {
        return current == null || executor.usesLinks();
    }

    /** Returns whether nothing is pending. Thread-safe. */
    boolean isIdle() {
        // the order matters: an operation becomes current before it leaves the queue or the field next
        return progressLock.isEmpty() && next == null && current == null;
    }

    /** Returns the status of this rank; null outside a collective or while the operation changes. Thread-safe. */
    RankStatus status() {
        Operation running = current;
        if (running == null) {
            return null;
        }
        RankStatus last = snapshot;
        long sequence = running.sequence();
        if (last.sequence() == sequence) {
            return last;
        }
        RankStatus now = status(running, "", Set.of());
        VarHandle.loadLoadFence();
        // the object may have become another operation, whose status is unknown
        return sequence == ProgressLock.NONE || running.sequence() != sequence ? null : now;
    }

    private static RankStatus status(Operation running, String progress, Set<Integer> waitingFor) {
        String text = running.prepared().text();
        return new RankStatus(
                running.sequence(), text, progress, waitingFor, running.work().begunNanos());
    }

    /**
     * Returns the executor of the current operation. If no operation is current, begins the next operation. Returns
     * null if no operation waits.
     */
    OperationExecutor begin() {
        if (current == null && !beginNext()) {
            return null;
        }
        beginBehind();
        return executor;
    }

    /**
     * Checks the deadlines, checks whether ranks left without the current call, and stores the status of this rank. The
     * caller holds the progress lock.
     */
    void check(long nowNanos) {
        Operation running = current;
        if (running == null || control.failure() != null) {
            return;
        }
        if (!isWaiting || nowNanos - storedNanos >= SNAPSHOT_NANOS) {
            if (isWaiting) {
                snapshot = status(running, executor.progress(), RankSetFormat.numbers(executor.waitingFor()));
                noteMoved(nowNanos);
            }
            isStored = isWaiting;
            isWaiting = true;
            storedNanos = nowNanos;
        }
        watch.poll(running, progressLock.firstLate(nowNanos), nowNanos);
    }

    private void noteMoved(long nowNanos) {
        long moved = executor.position(0).bytesMoved();
        if (moved != movedBytes) {
            movedBytes = moved;
            movedNanos = nowNanos;
        }
    }

    /**
     * Returns the time in nanoseconds until {@link #check} may have something to do. The caller has called
     * {@link #check} with the same time. The status is stored once more after the last progress, because the other
     * ranks judge this rank by its status.
     *
     * @param isQuiet whether nothing has moved since the last call
     */
    long untilNext(long nowNanos, boolean isQuiet) {
        Operation running = current;
        if (running == null) {
            return Long.MAX_VALUE;
        }
        isStored &= isQuiet || storedNanos == nowNanos;
        long next = watch.untilNext(running, progressLock.firstToEnd(running), nowNanos);
        return isStored ? next : Math.min(next, storedNanos + SNAPSHOT_NANOS - nowNanos);
    }

    @Override
    public CallHeader header(Operation call) {
        return call;
    }

    @Override
    public long begunNanos(Operation call) {
        return call.work().begunNanos();
    }

    @Override
    public long deadlineNanos(Operation call) {
        return call.work().deadlineNanos();
    }

    @Override
    public BitSet waitingFor(Operation call) {
        return executor.waitingFor();
    }

    @Override
    public Diagnosis.Blame judge(TimeoutProbe asked, Operation running) {
        long begunNanos = begunNanos(running);
        long within = TimeoutProbe.movedWithin(deadlineNanos(running) - begunNanos, movedNanos, storedNanos);
        return asked.collective(running.sequence(), begunNanos, executor.waitingFor(), within);
    }

    @Override
    public String describe(Operation running, Operation late) {
        return running.prepared().text() + " seq " + running.sequence() + ", " + executor.progress();
    }

    @Override
    public String alone() {
        return "because its own work is slow (it waits for no rank)";
    }

    /**
     * Stores the progress of the operations in flight when the group fails. The caller calls this method before this
     * rank leaves its links.
     */
    void noteReached() {
        try {
            PendingWork.WorkProgress[] now = new PendingWork.WorkProgress[current == null ? 0 : 1 + begunBehind];
            for (int behind = 0; behind < now.length; behind++) {
                now[behind] = executor.position(behind);
            }
            reached = now;
        } catch (RuntimeException | Error broken) {
            // the group has failed, and the end of its operations matters more than the progress of one operation
            String group = loop.group().name();
            LOG.log(Level.DEBUG, "cannot get the progress of an operation of \"" + group + "\"", broken);
        }
    }

    /** Returns the progress of an operation when the group failed, by the number of operations before it. */
    private PendingWork.WorkProgress reached(int behind) {
        return behind < reached.length ? reached[behind] : PendingWork.WorkProgress.NOWHERE;
    }

    /** Marks the current operation as failed for ranks that may access the caller's tensors in shared memory. */
    void abandon() {
        if (overMemory != null && (current != null || next != null)) {
            overMemory.abandon();
        }
    }

    /** Ends all pending operations with a failure and drops the references to their tensors. */
    void failPending(Failure failure) {
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
            first.work().fail(failure, PendingWork.WorkProgress.NOWHERE);
        }
        int behind = 0;
        for (Operation queued = progressLock.poll(); queued != null; queued = progressLock.poll()) {
            queued.work().fail(failure, reached(++behind));
        }
        overLinks.forgetAll();
        if (overMemory != null) {
            overMemory.forget();
        }
    }

    private boolean beginNext() {
        // an operation that leaves the queue must already be visible as current, else the group would seem idle in
        // between
        Operation first = next;
        Operation operation = first == null ? progressLock.peek() : first;
        if (operation == null) {
            return false;
        }
        // staging may run out of memory, and an operation that could not begin has no progress
        operation.stage();
        OperationExecutor runs = of(operation.prepared());
        runs.begin(operation);
        executor = runs;
        current = operation;
        isWaiting = false;
        isStored = false;
        movedBytes = 0;
        movedNanos = 0;
        watch.begin();
        if (first == null) {
            progressLock.poll();
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

    private void beginBehind() {
        while (!heldBack && progressLock.size() > begunBehind) {
            Operation waiting = progressLock.after(lastBegun);
            if (waiting == null || of(waiting.prepared()) != executor || !executor.beginBehind(waiting)) {
                heldBack = waiting != null;
                break;
            }
            waiting.work().runs();
            lastBegun = waiting;
            begunBehind++;
        }
    }

    /**
     * Ends the current operation, which is finished. Does nothing if the code of a reduction has failed the operation.
     * The caller holds the progress lock.
     */
    void finish() {
        Operation operation = current;
        if (operation == null) {
            return;
        }
        heldBack = false;
        PreparedCall prepared = operation.prepared();
        operation.deliver();
        current = null;
        ENDED.setOpaque(this, operation.sequence());
        // a tensor that its caller no longer uses must be unreachable, even if no other operation follows
        executor.forget();
        operation.work().succeed(prepared.steps, prepared.bytesMoved);
    }

    private static HostTensor operand(Collective call, int rank) {
        return (HostTensor) (call.kind() == CollectiveKind.BROADCAST ? call.in() : call.reads(rank));
    }

    private static HostTensor result(Collective call, int rank) {
        return (HostTensor) (call.kind() == CollectiveKind.BROADCAST ? call.out() : call.writes(rank));
    }

    /**
     * One collective: its kind, its memory and its position in the order. The object of a blocking call is reused for
     * the next blocking call, so that a call allocates no object. A thread that reads the object of a blocking call
     * checks by {@link #sequence} whether the object is still the same operation.
     */
    static final class Operation implements CallHeader {
        private final PendingWork work;
        private final OperandStager staging;
        private PreparedCall prepared;
        private HostTensor in;
        private HostTensor out;
        private volatile long sequence;
        /** The operation that waits behind this operation; only the queue uses this field. */
        Operation following;

        /** Creates an operation without a number. {@code staging} is work before and after the operation, or null. */
        Operation(PendingWork work, PreparedCall prepared, HostTensor in, HostTensor out, OperandStager staging) {
            this.work = work;
            this.staging = staging;
            this.prepared = prepared;
            this.in = in;
            this.out = out;
        }

        PendingWork work() {
            return work;
        }

        PreparedCall prepared() {
            return prepared;
        }

        /** Returns the operand, or null. */
        HostTensor in() {
            return in;
        }

        /** Returns the result, or null. */
        HostTensor out() {
            return out;
        }

        /** Returns whether this operation uses memory other than operand and result. */
        boolean isStaged() {
            return staging != null;
        }

        /** Makes the operand; called when the operation begins. */
        void stage() {
            if (staging != null) {
                in = staging.operand();
                out = staging.result();
            }
        }

        /** Delivers the result; called after the collective has ended. */
        void deliver() {
            if (staging != null) {
                staging.deliver();
            }
        }

        /** Returns the number of this operation in the order; 0 before the operation has a number. */
        @Override
        public long sequence() {
            return sequence;
        }

        void number(long number) {
            work.number(number);
            sequence = number;
        }

        /** Turns this object into another operation, without a number in the order. */
        void become(PreparedCall next, HostTensor operand, HostTensor result) {
            sequence = 0;
            VarHandle.storeStoreFence();
            prepared = next;
            in = operand;
            out = result;
        }

        /** Drops the references to the caller's memory. */
        void forget() {
            in = null;
            out = null;
        }

        @Override
        public Call call() {
            return prepared.call;
        }
    }
}
