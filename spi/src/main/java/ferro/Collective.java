package ferro;

/**
 * One group operation as data. Its fingerprint (kind, counts, type, op name, root, and the label beside it) is sent to other
 * ranks; the object is not.
 *
 * <p>A tensor or op that every rank must have cannot be null: the constructor throws a NullPointerException that names it. A
 * tensor that only the root needs may be null elsewhere; {@link #check} requires it on the root.
 *
 * <p>Parts: if {@code counts} is null, all parts are equal. Otherwise it has one count per rank, the same on all ranks
 * (v-form). Send and receive are not collectives: they are matched by peer and tag, and have no sequence number.
 */
public sealed interface Collective extends Operands {
    /**
     * Checks shapes, counts, root and memory before anything moves.
     *
     * <p>Input and output that this rank uses must not overlap, except in place. In place, allReduce and reduce have the
     * identical range as input and output; a call with one own part has that part at its place in the tensor of all parts.
     * Two different buffers are compared if the JVM gives their addresses.
     *
     * @param rank      this rank
     * @param worldSize number of ranks
     * @throws IllegalArgumentException with the value and the world size ({@link InvalidRankException} for a root)
     */
    void check(int rank, int worldSize);

    /**
     * Returns the kind of the operation.
     *
     * @return kind; messages name it by its label
     */
    CollectiveKind kind();

    /**
     * Returns the same call on other tensors; a decorator uses it to replace the caller's memory by its own.
     *
     * @param in  operand, or null if this rank has none
     * @param out result, or null if this rank has none; a call with one tensor takes {@code in} unless it is null, else
     *     {@code out}
     * @return call of the same kind, op and root
     */
    Collective on(Tensor in, Tensor out);

    /**
     * All-reduce; {@code in == out} is in place.
     *
     * @param in  operand
     * @param out result, same type and length
     * @param op  reduction
     */
    record AllReduce(Tensor in, Tensor out, ReduceOp op) implements Collective {
        /**
         * Refuses null.
         *
         * @param in  operand
         * @param out result, same type and length
         * @param op  reduction
         */
        public AllReduce {
            CallChecks.given(CollectiveKind.ALL_REDUCE, in, out);
            CallChecks.given(CollectiveKind.ALL_REDUCE, "op", op);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.sameType(kind(), in, out);
            CallChecks.op(kind(), op, in);
            CallChecks.length(kind(), "output", out, in.elementCount(), "input");
            Overlaps.refuseButIdentical(kind(), in, out);
        }

        @Override
        public Collective on(Tensor otherIn, Tensor otherOut) {
            return new AllReduce(otherIn, otherOut, op);
        }

        @Override
        public CollectiveKind kind() {
            return CollectiveKind.ALL_REDUCE;
        }
    }

    /**
     * Broadcast.
     *
     * @param data read on the root, written elsewhere
     * @param root owner
     */
    record Broadcast(Tensor data, int root) implements Collective {
        /**
         * Refuses null.
         *
         * @param data read on the root, written elsewhere
         * @param root owner
         */
        public Broadcast {
            CallChecks.given(CollectiveKind.BROADCAST, "data", data);
        }

        @Override
        public void check(int rank, int worldSize) {
            InvalidRankException.check(root, worldSize);
        }

        @Override
        public Tensor in() {
            return data;
        }

        @Override
        public Tensor out() {
            return data;
        }

        @Override
        public Tensor reads(int rank) {
            return rank == root ? data : null;
        }

        @Override
        public Tensor writes(int rank) {
            return rank == root ? null : data;
        }

        @Override
        public Collective on(Tensor otherIn, Tensor otherOut) {
            return new Broadcast(otherIn == null ? otherOut : otherIn, root);
        }

        @Override
        public CollectiveKind kind() {
            return CollectiveKind.BROADCAST;
        }
    }

    /**
     * Reduce; on ranks other than the root {@code out} is null and {@code in} is not changed.
     *
     * @param in   operand
     * @param out  result on the root, may be {@code in}
     * @param op   reduction
     * @param root receiver
     */
    record Reduce(Tensor in, Tensor out, ReduceOp op, int root) implements Collective {
        /**
         * Refuses null.
         *
         * @param in   operand
         * @param out  result on the root, may be {@code in}
         * @param op   reduction
         * @param root receiver
         */
        public Reduce {
            CallChecks.given(CollectiveKind.REDUCE, "input", in);
            CallChecks.given(CollectiveKind.REDUCE, "op", op);
        }

        @Override
        public void check(int rank, int worldSize) {
            InvalidRankException.check(root, worldSize);
            CallChecks.op(kind(), op, in);
            if (rank == root) {
                CallChecks.present(kind(), "output", out, root);
                CallChecks.sameType(kind(), in, out);
                CallChecks.length(kind(), "output", out, in.elementCount(), "input");
                Overlaps.refuseButIdentical(kind(), in, out);
            }
        }

        @Override
        public Tensor writes(int rank) {
            return rank == root ? out : null;
        }

        @Override
        public Collective on(Tensor otherIn, Tensor otherOut) {
            return new Reduce(otherIn, otherOut, op, root);
        }

        @Override
        public CollectiveKind kind() {
            return CollectiveKind.REDUCE;
        }
    }

    /**
     * All-gather.
     *
     * @param in     own part
     * @param out    all parts in rank order
     * @param counts part lengths or null
     */
    record AllGather(Tensor in, Tensor out, long[] counts) implements Collective {
        /**
         * Refuses null.
         *
         * @param in     own part
         * @param out    all parts in rank order
         * @param counts part lengths or null
         */
        public AllGather {
            CallChecks.given(CollectiveKind.ALL_GATHER, in, out);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.sameType(kind(), in, out);
            CallChecks.parts(kind(), in, out, new CallChecks.PartLengths(counts, rank, worldSize));
        }

        @Override
        public long[] inCounts() {
            return counts;
        }

        @Override
        public Collective on(Tensor otherIn, Tensor otherOut) {
            return new AllGather(otherIn, otherOut, counts);
        }

        @Override
        public CollectiveKind kind() {
            return CollectiveKind.ALL_GATHER;
        }
    }

    /**
     * Reduce-scatter.
     *
     * @param in     all parts
     * @param out    own reduced part
     * @param op     reduction
     * @param counts part lengths or null
     */
    record ReduceScatter(Tensor in, Tensor out, ReduceOp op, long[] counts) implements Collective {
        /**
         * Refuses null.
         *
         * @param in     all parts
         * @param out    own reduced part
         * @param op     reduction
         * @param counts part lengths or null
         */
        public ReduceScatter {
            CallChecks.given(CollectiveKind.REDUCE_SCATTER, in, out);
            CallChecks.given(CollectiveKind.REDUCE_SCATTER, "op", op);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.sameType(kind(), in, out);
            CallChecks.op(kind(), op, in);
            CallChecks.parts(kind(), out, in, new CallChecks.PartLengths(counts, rank, worldSize));
        }

        @Override
        public long[] inCounts() {
            return counts;
        }

        @Override
        public Collective on(Tensor otherIn, Tensor otherOut) {
            return new ReduceScatter(otherIn, otherOut, op, counts);
        }

        @Override
        public CollectiveKind kind() {
            return CollectiveKind.REDUCE_SCATTER;
        }

        @Override
        public Tensor operand() {
            return out;
        }
    }

    /**
     * Gather.
     *
     * @param in     own part
     * @param out    all parts, null except on the root
     * @param root   receiver
     * @param counts part lengths or null
     */
    record Gather(Tensor in, Tensor out, int root, long[] counts) implements Collective {
        /**
         * Refuses null.
         *
         * @param in     own part
         * @param out    all parts, null except on the root
         * @param root   receiver
         * @param counts part lengths or null
         */
        public Gather {
            CallChecks.given(CollectiveKind.GATHER, "input", in);
        }

        @Override
        public void check(int rank, int worldSize) {
            InvalidRankException.check(root, worldSize);
            CallChecks.ownPart(kind(), "input", in, new CallChecks.PartLengths(counts, rank, worldSize));
            if (rank == root) {
                CallChecks.present(kind(), "output", out, root);
                CallChecks.sameType(kind(), in, out);
                CallChecks.parts(kind(), in, out, new CallChecks.PartLengths(counts, rank, worldSize));
            }
        }

        @Override
        public Tensor writes(int rank) {
            return rank == root ? out : null;
        }

        @Override
        public long[] inCounts() {
            return counts;
        }

        @Override
        public Collective on(Tensor otherIn, Tensor otherOut) {
            return new Gather(otherIn, otherOut, root, counts);
        }

        @Override
        public CollectiveKind kind() {
            return CollectiveKind.GATHER;
        }
    }

    /**
     * Scatter.
     *
     * @param in     all parts, null except on the root
     * @param out    own part
     * @param root   owner
     * @param counts part lengths or null
     */
    record Scatter(Tensor in, Tensor out, int root, long[] counts) implements Collective {
        /**
         * Refuses null.
         *
         * @param in     all parts, null except on the root
         * @param out    own part
         * @param root   owner
         * @param counts part lengths or null
         */
        public Scatter {
            CallChecks.given(CollectiveKind.SCATTER, "output", out);
        }

        @Override
        public void check(int rank, int worldSize) {
            InvalidRankException.check(root, worldSize);
            CallChecks.ownPart(kind(), "output", out, new CallChecks.PartLengths(counts, rank, worldSize));
            if (rank == root) {
                CallChecks.present(kind(), "input", in, root);
                CallChecks.sameType(kind(), in, out);
                CallChecks.parts(kind(), out, in, new CallChecks.PartLengths(counts, rank, worldSize));
            }
        }

        @Override
        public Tensor reads(int rank) {
            return rank == root ? in : null;
        }

        @Override
        public long[] inCounts() {
            return counts;
        }

        @Override
        public Collective on(Tensor otherIn, Tensor otherOut) {
            return new Scatter(otherIn, otherOut, root, counts);
        }

        @Override
        public CollectiveKind kind() {
            return CollectiveKind.SCATTER;
        }

        @Override
        public Tensor operand() {
            return out;
        }
    }

    /**
     * All-to-all. Each rank knows only its own row and column of counts, so the choice of algorithm must not depend on
     * bytes.
     *
     * @param in         parts to send
     * @param out        parts received
     * @param sendCounts lengths by destination or null
     * @param recvCounts lengths by source or null
     */
    record AllToAll(Tensor in, Tensor out, long[] sendCounts, long[] recvCounts) implements Collective {
        /**
         * Refuses null.
         *
         * @param in         parts to send
         * @param out        parts received
         * @param sendCounts lengths by destination or null
         * @param recvCounts lengths by source or null
         */
        public AllToAll {
            CallChecks.given(CollectiveKind.ALL_TO_ALL, in, out);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.sameType(kind(), in, out);
            CallChecks.total(kind(), "input", in, sendCounts, worldSize);
            CallChecks.total(kind(), "output", out, recvCounts, worldSize);
            CallChecks.ownParts(in, out, sendCounts, recvCounts, new CallChecks.PartLengths(null, rank, worldSize));
            Overlaps.refuse(kind(), in, out);
        }

        @Override
        public long[] inCounts() {
            return sendCounts;
        }

        @Override
        public long[] outCounts() {
            return recvCounts;
        }

        @Override
        public Collective on(Tensor otherIn, Tensor otherOut) {
            return new AllToAll(otherIn, otherOut, sendCounts, recvCounts);
        }

        @Override
        public CollectiveKind kind() {
            return CollectiveKind.ALL_TO_ALL;
        }
    }

    /** Barrier. */
    record Barrier() implements Collective {
        @Override
        public void check(int rank, int worldSize) {
            // a barrier has no arguments to check
        }

        @Override
        public Tensor in() {
            return null;
        }

        @Override
        public Tensor out() {
            return null;
        }

        @Override
        public Collective on(Tensor otherIn, Tensor otherOut) {
            return this;
        }

        @Override
        public CollectiveKind kind() {
            return CollectiveKind.BARRIER;
        }
    }
}
