package ferro.collectives.engine;

import ferro.HostTensor;
import ferro.collectives.reduce.KeptKernels;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.util.BitSet;

/**
 * An executor of schedules over links. The executor runs one operation, and behind this operation small ones whose
 * memory does not overlap. So one write has the posts of several operations, and the latency to the other ranks counts
 * once for all these operations. Operations end in their order.
 */
public final class LinkExecutor implements Executor {
    /**
     * Maximum number of operations in flight at once. With twice as many operations, two ranks gained nothing and four
     * ranks gained a tenth.
     */
    public static final int MAX_RUNS = 32;
    /**
     * Maximum size of the operand and of the result of an operation that shares the links. A larger operation fills its
     * writes alone.
     */
    public static final long MAX_SHARING_BYTES = 64L << 10;

    private final Lanes lanes;
    private final KeptKernels kernels;
    private final PlanRun[] runs;
    /** The oldest operation in flight. */
    private PlanRun current;

    private int first;
    private int count;

    /** Makes an executor with a maximum number of operations in flight at once. */
    public LinkExecutor(Transport transport, int max) {
        this.lanes = new Lanes(transport, Lane.COLLECTIVE);
        this.kernels = new KeptKernels(transport.worldSize());
        this.runs = new PlanRun[max];
        this.current = new PlanRun(lanes, kernels);
        this.runs[0] = current;
    }

    @Override
    public void begin(Operation operation) {
        if (count > 1) {
            first = (first + 1) % runs.length;
            count--;
            current = runs[first];
            if (current.operation() != operation) {
                throw new IllegalStateException(
                        "operation " + operation.sequence() + " must not begin before operation "
                                + current.operation().sequence() + ", which has already begun");
            }
            return;
        }
        // large operations begin alone, so that only one object of runs keeps much scratch memory
        first = 0;
        current = runs[0];
        current.begin(operation, true);
        count = 1;
    }

    @Override
    public boolean beginBehind(Operation operation) {
        if (count == runs.length || !mayShare(current.operation()) || !mayShare(operation)) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            if (touch(run(i).operation(), operation)) {
                return false;
            }
        }
        PlanRun next = run(count);
        next.begin(operation, false);
        current.joined();
        count++;
        return true;
    }

    /**
     * Returns whether an operation may share the links. A barrier may not share the links, because an operation after a
     * barrier must begin after it.
     */
    private static boolean mayShare(Operation operation) {
        return operation.prepared().type != null
                && !operation.isStaged()
                && bytes(operation.in()) <= MAX_SHARING_BYTES
                && bytes(operation.out()) <= MAX_SHARING_BYTES;
    }

    private static long bytes(HostTensor tensor) {
        return tensor == null ? 0 : tensor.byteCount();
    }

    private static boolean touch(Operation one, Operation other) {
        return TouchedMemory.mayAlias(one.out(), other.in())
                || TouchedMemory.mayAlias(one.out(), other.out())
                || TouchedMemory.mayAlias(one.in(), other.out());
    }

    private PlanRun run(int behind) {
        int index = (first + behind) % runs.length;
        PlanRun run = runs[index];
        if (run == null) {
            run = new PlanRun(lanes, kernels);
            runs[index] = run;
        }
        return run;
    }

    @Override
    public void forget() {
        current.forget();
    }

    /** Drops the references to the memory of all operations in flight, none of which continues. */
    void forgetAll() {
        for (PlanRun run : runs) {
            if (run != null) {
                run.forget();
            }
        }
    }

    @Override
    public boolean isFinished() {
        return current.isFinished();
    }

    /** Returns whether there is no other rank, so that no link is used. */
    boolean isAlone() {
        return lanes.isAlone();
    }

    /**
     * Does the copies of an operation in a world of one rank, where every operation consists of copies only. Returns
     * the number of polls without data, which is 0.
     */
    int copyAll(Prepared like, HostTensor in, HostTensor out) {
        current.copyAll(like, in, out);
        return 0;
    }

    @Override
    public boolean advance() {
        boolean moved = false;
        for (int i = 0; i < count; i++) {
            PlanRun run = run(i);
            while (run.collect() | run.post()) {
                moved = true;
            }
        }
        return moved;
    }

    @Override
    public boolean usesLinks() {
        return true;
    }

    @Override
    public BitSet waitingFor() {
        return current.waitingFor();
    }

    @Override
    public String progress() {
        return current.progress();
    }

    @Override
    public PendingWork.Position position(int behind) {
        return run(behind).position();
    }
}
