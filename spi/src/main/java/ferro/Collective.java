package ferro;

/**
 * The description of one collective operation: its tensors, op, root and counts. Other ranks receive only its
 * fingerprint, which consists of kind, counts, type, op name, root and label. The object itself is not sent.
 *
 * <p>A tensor or op that every rank must have cannot be null: the constructor throws a NullPointerException that names
 * it. A tensor that only the root needs may be null on the other ranks; {@link #check} requires it on the root.
 *
 * <p>Parts: if {@code counts} is null, all parts have equal length. If {@code counts} is not null, it has one length
 * per rank and is the same on all ranks (v-form). Send and receive are not collectives: they are matched by peer and
 * tag, and have no sequence number.
 */
public sealed interface Collective extends Operands {
    /**
     * Checks shapes, counts, root and memory before any data moves.
     *
     * <p>The input and output of this rank must not overlap, except in place. An in-place allReduce or reduce has the
     * identical range as input and output. In other calls in place, the rank's own part begins at the offset of that
     * part in the tensor of all parts. An overlap of two different buffers is detected only if the JVM gives their
     * addresses.
     *
     * @param rank      this rank
     * @param worldSize number of ranks
     * @throws IllegalArgumentException if a check fails; the message contains the value and the world size; {@link
     *     InvalidRankException} if the root is not a rank
     */
    void check(int rank, int worldSize);

    /**
     * Returns the kind of the operation.
     *
     * @return kind; messages name it by its label
     */
    CollectiveKind kind();

    /**
     * Returns the same call on other tensors. A decorator uses this method to replace the caller's memory by its own
     * memory.
     *
     * @param in  operand, or null if this rank has none
     * @param out result, or null if this rank has none; a call with one tensor uses {@code in}, or {@code out} if
     *     {@code in} is null
     * @return call of the same kind, op and root
     */
    Collective on(Tensor in, Tensor out);

    /**
     * All-reduce: combines the operands of all ranks on every rank. The call is in place if {@code in == out}.
     *
     * @param in  operand
     * @param out result, same type and length
     * @param op  reduction
     */
    record AllReduce(Tensor in, Tensor out, ReduceOp op) implements Collective {
        /**
         * Checks that no required argument is null.
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
            CallChecks.usable(this, rank);
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
     * Broadcast: copies the data of the root to every rank.
     *
     * @param data read on the root, written on the other ranks
     * @param root rank that has the data
     */
    record Broadcast(Tensor data, int root) implements Collective {
        /**
         * Checks that no required argument is null.
         *
         * @param data read on the root, written on the other ranks
         * @param root rank that has the data
         */
        public Broadcast {
            CallChecks.given(CollectiveKind.BROADCAST, "data", data);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.usable(this, rank);
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
     * Reduce: combines the operands of all ranks on the root. On ranks other than the root, {@code out} is null, and
     * {@code in} is not changed.
     *
     * @param in   operand
     * @param out  result on the root, may be {@code in}
     * @param op   reduction
     * @param root rank that receives the result
     */
    record Reduce(Tensor in, Tensor out, ReduceOp op, int root) implements Collective {
        /**
         * Checks that no required argument is null.
         *
         * @param in   operand
         * @param out  result on the root, may be {@code in}
         * @param op   reduction
         * @param root rank that receives the result
         */
        public Reduce {
            CallChecks.given(CollectiveKind.REDUCE, "input", in);
            CallChecks.given(CollectiveKind.REDUCE, "op", op);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.usable(this, rank);
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
     * All-gather: joins the parts of all ranks on every rank.
     *
     * @param in     own part
     * @param out    all parts in rank order
     * @param counts length of each part, or null if all are equal
     */
    record AllGather(Tensor in, Tensor out, long[] counts) implements Collective {
        /**
         * Checks that no required argument is null.
         *
         * @param in     own part
         * @param out    all parts in rank order
         * @param counts length of each part, or null if all are equal
         */
        public AllGather {
            CallChecks.given(CollectiveKind.ALL_GATHER, in, out);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.usable(this, rank);
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
     * Reduce-scatter: combines the operands of all ranks, and gives each rank its part of the result.
     *
     * @param in     all parts
     * @param out    part of the result for this rank
     * @param op     reduction
     * @param counts length of each part, or null if all are equal
     */
    record ReduceScatter(Tensor in, Tensor out, ReduceOp op, long[] counts) implements Collective {
        /**
         * Checks that no required argument is null.
         *
         * @param in     all parts
         * @param out    part of the result for this rank
         * @param op     reduction
         * @param counts length of each part, or null if all are equal
         */
        public ReduceScatter {
            CallChecks.given(CollectiveKind.REDUCE_SCATTER, in, out);
            CallChecks.given(CollectiveKind.REDUCE_SCATTER, "op", op);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.usable(this, rank);
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
     * Gather: joins the parts of all ranks on the root.
     *
     * @param in     own part
     * @param out    all parts, null except on the root
     * @param root   rank that receives the result
     * @param counts length of each part, or null if all are equal
     */
    record Gather(Tensor in, Tensor out, int root, long[] counts) implements Collective {
        /**
         * Checks that no required argument is null.
         *
         * @param in     own part
         * @param out    all parts, null except on the root
         * @param root   rank that receives the result
         * @param counts length of each part, or null if all are equal
         */
        public Gather {
            CallChecks.given(CollectiveKind.GATHER, "input", in);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.usable(this, rank);
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
     * Scatter: gives each rank its part of the root's data.
     *
     * @param in     all parts, null except on the root
     * @param out    own part
     * @param root   rank that has the data
     * @param counts length of each part, or null if all are equal
     */
    record Scatter(Tensor in, Tensor out, int root, long[] counts) implements Collective {
        /**
         * Checks that no required argument is null.
         *
         * @param in     all parts, null except on the root
         * @param out    own part
         * @param root   rank that has the data
         * @param counts length of each part, or null if all are equal
         */
        public Scatter {
            CallChecks.given(CollectiveKind.SCATTER, "output", out);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.usable(this, rank);
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
     * All-to-all: sends part j to rank j, and receives part i from rank i. A rank knows only the counts of its own
     * sends and receives, not the counts of other ranks. Therefore the choice of algorithm must not depend on the
     * number of bytes.
     *
     * @param in         parts to send
     * @param out        parts received
     * @param sendCounts length of each part by destination rank, or null if all are equal
     * @param recvCounts length of each part by source rank, or null if all are equal
     */
    record AllToAll(Tensor in, Tensor out, long[] sendCounts, long[] recvCounts) implements Collective {
        /**
         * Checks that no required argument is null.
         *
         * @param in         parts to send
         * @param out        parts received
         * @param sendCounts length of each part by destination rank, or null if all are equal
         * @param recvCounts length of each part by source rank, or null if all are equal
         */
        public AllToAll {
            CallChecks.given(CollectiveKind.ALL_TO_ALL, in, out);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.usable(this, rank);
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

    /** Barrier: waits until every rank has made the call. */
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
