package ferro;

/** The records behind {@link Collective}, one for each kind. Only the static methods of {@code Collective} make them. */
final class CollectiveRecords {
    private CollectiveRecords() {}

    /**
     * All-reduce: combines the operands of all ranks on every rank. The call is in place if {@code in == out}.
     *
     * @param in  operand
     * @param out result, same type and length
     * @param op  reduction
     */
    record AllReduce(Tensor in, Tensor out, ReduceOp op) implements Collective {
        AllReduce {
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
        Broadcast {
            CallChecks.given(CollectiveKind.BROADCAST, "data", data);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.usable(this, rank);
            InvalidRankException.check(kind().label(), "root", root, worldSize);
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
     * Reduce: combines the operands of all ranks on the root. On ranks other than the root, neither tensor is changed.
     *
     * @param in   operand
     * @param out  result on the root, may be {@code in}
     * @param op   reduction
     * @param root rank that receives the result
     */
    record Reduce(Tensor in, Tensor out, ReduceOp op, int root) implements Collective {
        Reduce {
            CallChecks.given(CollectiveKind.REDUCE, "input", in);
            CallChecks.given(CollectiveKind.REDUCE, "op", op);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.usable(this, rank);
            InvalidRankException.check(kind().label(), "root", root, worldSize);
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
     * @param counts length of each part; empty if all are equal
     */
    record AllGather(Tensor in, Tensor out, long[] counts) implements Collective {
        AllGather {
            CallChecks.given(CollectiveKind.ALL_GATHER, in, out);
            CallChecks.given(CollectiveKind.ALL_GATHER, "counts", counts);
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
     * @param counts length of each part; empty if all are equal
     */
    record ReduceScatter(Tensor in, Tensor out, ReduceOp op, long[] counts) implements Collective {
        ReduceScatter {
            CallChecks.given(CollectiveKind.REDUCE_SCATTER, in, out);
            CallChecks.given(CollectiveKind.REDUCE_SCATTER, "op", op);
            CallChecks.given(CollectiveKind.REDUCE_SCATTER, "counts", counts);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.usable(this, rank);
            CallChecks.sameType(kind(), in, out);
            CallChecks.op(kind(), op, in);
            CallChecks.partsOfRecords(kind(), op, out, counts);
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
     * @param out    all parts; may be null on ranks other than the root
     * @param root   rank that receives the result
     * @param counts length of each part; empty if all are equal
     */
    record Gather(Tensor in, Tensor out, int root, long[] counts) implements Collective {
        Gather {
            CallChecks.given(CollectiveKind.GATHER, "input", in);
            CallChecks.given(CollectiveKind.GATHER, "counts", counts);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.usable(this, rank);
            InvalidRankException.check(kind().label(), "root", root, worldSize);
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
     * @param in     all parts; may be null on ranks other than the root
     * @param out    own part
     * @param root   rank that has the data
     * @param counts length of each part; empty if all are equal
     */
    record Scatter(Tensor in, Tensor out, int root, long[] counts) implements Collective {
        Scatter {
            CallChecks.given(CollectiveKind.SCATTER, "output", out);
            CallChecks.given(CollectiveKind.SCATTER, "counts", counts);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.usable(this, rank);
            InvalidRankException.check(kind().label(), "root", root, worldSize);
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
     * @param sendCounts length of each part by destination rank; empty if all are equal
     * @param recvCounts length of each part by source rank; empty if all are equal
     */
    record AllToAll(Tensor in, Tensor out, long[] sendCounts, long[] recvCounts) implements Collective {
        AllToAll {
            CallChecks.given(CollectiveKind.ALL_TO_ALL, in, out);
            CallChecks.given(CollectiveKind.ALL_TO_ALL, "sendCounts", sendCounts);
            CallChecks.given(CollectiveKind.ALL_TO_ALL, "recvCounts", recvCounts);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.usable(this, rank);
            CallChecks.sameType(kind(), in, out);
            CallChecks.total(kind(), "input", in, sendCounts, worldSize);
            CallChecks.total(kind(), "output", out, recvCounts, worldSize);
            CallChecks.ownParts(
                    in,
                    out,
                    sendCounts,
                    recvCounts,
                    new CallChecks.PartLengths(CallChecks.EQUAL_PARTS, rank, worldSize));
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

    /**
     * Scan: combines the operands of the ranks up to each rank, in rank order. The call is in place if {@code in == out}.
     *
     * @param in  operand
     * @param out result, same type and length
     * @param op  reduction
     */
    record Scan(Tensor in, Tensor out, ReduceOp op) implements Collective {
        Scan {
            CallChecks.given(CollectiveKind.SCAN, in, out);
            CallChecks.given(CollectiveKind.SCAN, "op", op);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.scan(this, rank);
        }

        @Override
        public Collective on(Tensor otherIn, Tensor otherOut) {
            return new Scan(otherIn, otherOut, op);
        }

        @Override
        public CollectiveKind kind() {
            return CollectiveKind.SCAN;
        }
    }

    /**
     * Exclusive scan: combines the operands of the ranks before each rank, in rank order. Rank 0 gets the identity of a
     * built-in op. A user-defined op leaves the result of rank 0 unchanged.
     *
     * @param in  operand
     * @param out result, same type and length
     * @param op  reduction
     */
    record ExclusiveScan(Tensor in, Tensor out, ReduceOp op) implements Collective {
        ExclusiveScan {
            CallChecks.given(CollectiveKind.EXCLUSIVE_SCAN, in, out);
            CallChecks.given(CollectiveKind.EXCLUSIVE_SCAN, "op", op);
        }

        @Override
        public void check(int rank, int worldSize) {
            CallChecks.scan(this, rank);
        }

        @Override
        public Collective on(Tensor otherIn, Tensor otherOut) {
            return new ExclusiveScan(otherIn, otherOut, op);
        }

        @Override
        public CollectiveKind kind() {
            return CollectiveKind.EXCLUSIVE_SCAN;
        }
    }

    /** Barrier: waits until every rank has made the call. */
    record Barrier() implements Collective {
        static final Barrier CALL = new Barrier();

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
