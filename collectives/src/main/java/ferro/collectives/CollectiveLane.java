package ferro.collectives;

import ferro.Collective;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.control.Failure;
import ferro.collectives.control.GroupControl;
import ferro.collectives.control.Standing;
import ferro.collectives.reduce.Elements;
import ferro.spi.CallHeader;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Collectives of a group: one at a time, in submission order. Submitted by any thread, moved by whoever drives.
 */
final class CollectiveLane {
    private static final System.Logger LOG = System.getLogger("ferro.group");

    private final Driver driver;
    private final GroupControl control;
    private final Planner planner;
    private final Consumer<String> checkUsable;
    private final OperationQueue queue = new OperationQueue();
    private final Runner runner;
    private final OperationWatch watch;
    private PendingWork.Position reached = PendingWork.Position.NOWHERE;
    private volatile Operation current;

    /**
     * Makes the lane.
     *
     * @param checkUsable throws if the group takes no more calls; asked with the queue locked
     */
    CollectiveLane(Driver driver, GroupControl control, Lanes lanes, Planner planner, Consumer<String> checkUsable) {
        this.driver = driver;
        this.control = control;
        this.planner = planner;
        this.checkUsable = checkUsable;
        this.runner = new PlanRunner(lanes);
        this.watch = new OperationWatch(driver.group(), control, runner);
    }

    Optional<String> unsupportedBecause(Collective call) {
        return planner.unsupportedBecause(call);
    }

    /** Queues a call, after a look at all that can be wrong with it: until then nothing has moved. */
    PendingWork submit(Collective call, Duration timeout) {
        int rank = driver.group().rank();
        int worldSize = driver.group().worldSize();
        call.check(rank, worldSize);
        Optional<String> refusal = planner.unsupportedBecause(call);
        if (refusal.isPresent()) {
            throw new UnsupportedOperationException(
                    call.kind() + " on group \"" + driver.group().name() + "\" rank " + rank + ": " + refusal.get());
        }
        Operands operands = Operands.of(call, rank, worldSize);
        Prepared prepared = planner.prepare(call, operands);
        synchronized (queue) {
            checkUsable.accept(call.kind());
            long sequence = queue.nextSequence();
            CallHeader header = planner.header(prepared, sequence);
            PendingWork work = new PendingWork(driver, call.kind(), sequence, timeout);
            work.recorded(prepared.text, prepared.bytes);
            control.called(header);
            queue.add(new Operation(work, prepared, operands, header));
            return work;
        }
    }

    /** Takes no more calls; returns false if that was so already. */
    boolean close() {
        return queue.close();
    }

    boolean isClosed() {
        return queue.isClosed();
    }

    /** Returns what was submitted last, or null. */
    PendingWork last() {
        return queue.last();
    }

    boolean isIdle() {
        return current == null && queue.isEmpty();
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
            reached = current == null ? PendingWork.Position.NOWHERE : runner.position();
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
        if (running != null) {
            current = null;
            running.work().fail(failure, reached);
        }
        for (Operation next = queue.poll(); next != null; next = queue.poll()) {
            next.work().fail(failure, PendingWork.Position.NOWHERE);
        }
    }

    private Operation begin() {
        // what is polled must be seen as current at once, else the group would look idle in between
        Operation operation = queue.peek();
        if (operation == null) {
            return null;
        }
        // memory may be exhausted: an operation that could not begin is at no step
        runner.begin(operation);
        current = operation;
        queue.poll();
        watch.begin();
        operation.work().runs();
        return operation;
    }

    private void finish(Operation operation) {
        HostTensor out = operation.operands().out();
        if (operation.operands().op() == ReduceOp.AVG && out != null) {
            int worldSize = driver.group().worldSize();
            Elements.divide(out.dataType(), out.memory(), Elements.at(out, 0), out.elementCount(), worldSize);
        }
        current = null;
        Prepared prepared = operation.prepared();
        operation.work().succeed(prepared.schedule.steps(), prepared.bytesMoved);
    }
}
