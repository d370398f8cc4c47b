package ferro.collectives.engine;

import ferro.HostTensor;
import ferro.collectives.engine.OperationQueue.Operation;
import ferro.collectives.reduce.KernelCache;
import ferro.collectives.shared.SegmentLayout;
import ferro.collectives.shared.SharedMemoryInterpreter;
import ferro.control.wire.RankSetFormat;
import ferro.spi.GroupSpec;
import ferro.spi.SharedMemory;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.util.BitSet;
import java.util.function.IntConsumer;

/**
 * A state machine that runs operations. An executor never waits, and after the first operations it allocates nothing.
 * One operation is the current operation. Later operations may begin before the current operation ends, and become the
 * current operation in their order. Links have one executor, and shared memory has another executor. Only the thread
 * that holds the progress lock uses an executor.
 */
interface OperationExecutor {
    /**
     * Makes an operation the current operation and begins it, unless it has already begun. The previous operation must
     * have ended.
     */
    void begin(Operation operation);

    /**
     * Begins an operation while earlier operations are in flight, if this changes no result. The operation ends after
     * the operations in flight. Returns false if the new operation must wait for the end of the current operation.
     */
    default boolean beginBehind(Operation operation) {
        return false;
    }

    /** Makes all progress that is possible without waiting. Returns whether anything moved. */
    boolean advance();

    /** Returns whether the current operation is finished. */
    boolean isFinished();

    /**
     * Drops the references to the memory of the current operation. The current operation must be finished, and no other
     * operation may be in flight.
     */
    void forget();

    /** Returns the ranks from which this rank waits for data, and ranks that have not yet taken data of this rank. */
    BitSet waitingFor();

    /** Describes the progress of the current operation, for example: step 3 of 14, 65536 of 262144 bytes received. */
    String progress();

    /**
     * Returns the progress of an operation, for the exception that ends the operation on this rank.
     *
     * @param behind number of operations in flight that precede the operation; 0 for the current operation
     */
    PendingWork.WorkProgress position(int behind);

    /** Returns whether the current operation uses links, which then must be polled. */
    boolean usesLinks();

    /**
     * An executor of schedules over links. The executor runs one operation and, at the same time, small later
     * operations whose memory does not overlap. One write then has the posts of several operations, which wait for the
     * latency to the other ranks only once. Operations end in their order.
     */
    final class LinkExecutor implements OperationExecutor {
        /**
         * Maximum number of operations in flight at once. With twice as many operations, two ranks were not faster, and
         * four ranks were a tenth faster.
         */
        static final int MAX_RUNS = 32;
        /**
         * Maximum size of the operand and of the result of an operation that shares the links. A larger operation fills
         * whole writes without other operations.
         */
        static final long MAX_SHARING_BYTES = 64L << 10;

        private final PeerLinks links;
        private final KernelCache kernels;
        private final PlanRun[] runs;
        /** The oldest operation in flight. */
        private PlanRun current;

        private int first;
        private int count;
        /** Whether the current operation may share the links. Later operations in flight always may share the links. */
        private boolean shares;

        LinkExecutor(Transport transport, int max) {
            this.links = new PeerLinks(transport, Lane.COLLECTIVE);
            this.kernels = new KernelCache(transport.worldSize());
            this.runs = new PlanRun[max];
            this.current = new PlanRun(links, kernels);
            this.runs[0] = current;
        }

        @Override
        public void begin(Operation operation) {
            if (count > 1) {
                first = (first + 1) % runs.length;
                count--;
                current = runs[first];
                if (current.call() != operation) {
                    throw new IllegalStateException(
                            "operation " + operation.sequence() + " must not begin before operation "
                                    + current.call().sequence() + ", which has already begun");
                }
                return;
            }
            // large operations begin alone, so that only one object of runs keeps much scratch memory
            first = 0;
            current = runs[0];
            shares = mayShare(operation);
            begin(current, operation, true);
            count = 1;
        }

        @Override
        public boolean beginBehind(Operation operation) {
            if (count == runs.length || !shares || !mayShare(operation)) {
                return false;
            }
            for (int i = 0; i < count; i++) {
                if (run(i).mayTouch(operation.in(), operation.out())) {
                    return false;
                }
            }
            PlanRun next = run(count);
            begin(next, operation, false);
            current.joined();
            count++;
            return true;
        }

        /**
         * Returns whether an operation may share the links. A barrier may not share the links, because an operation
         * after the barrier must begin after the end of the barrier.
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

        private static void begin(PlanRun run, Operation operation, boolean isAlone) {
            run.begin(operation, operation.prepared(), operation.in(), operation.out(), isAlone);
        }

        private PlanRun run(int behind) {
            int index = (first + behind) % runs.length;
            PlanRun run = runs[index];
            if (run == null) {
                run = new PlanRun(links, kernels);
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

        /** Returns whether this rank is the only one, so that no link is used. */
        boolean isAlone() {
            return links.isAlone();
        }

        /**
         * Does the copies of an operation in a world of one rank, where every operation consists of copies only.
         * Returns the number of polls without data, which is 0.
         */
        int copyAll(PreparedCall like, HostTensor in, HostTensor out) {
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
        public PendingWork.WorkProgress position(int behind) {
            PlanRun run = run(behind);
            return new PendingWork.WorkProgress(run.step(), run.bytesMoved(), RankSetFormat.numbers(run.waitingFor()));
        }
    }

    /** An executor of programs in shared memory: a {@link SharedMemoryInterpreter} that runs the engine's operations. */
    final class SharedMemoryExecutor extends SharedMemoryInterpreter implements OperationExecutor {
        /**
         * Creates an executor for the segments of all ranks. {@code spins} is the number of polls before a yield. The
         * number is 0 if ranks share cores, because a spinning rank would keep the other ranks from their core.
         */
        SharedMemoryExecutor(
                GroupSpec group,
                SegmentLayout layout,
                SharedMemory memory,
                Transport.Events events,
                IntConsumer wake,
                int spins) {
            super(group.rank(), group.worldSize(), layout, memory, events, wake, Math.max(1, spins));
        }

        @Override
        public void begin(Operation operation) {
            PreparedCall prepared = operation.prepared();
            begin(prepared.program, operation, operation.in(), operation.out(), prepared.completing);
        }

        @Override
        public PendingWork.WorkProgress position(int behind) {
            return new PendingWork.WorkProgress(step(), bytesMoved(), RankSetFormat.numbers(waitingFor()));
        }

        @Override
        public boolean usesLinks() {
            return false;
        }
    }
}
