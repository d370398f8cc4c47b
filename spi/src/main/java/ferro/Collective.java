package ferro;

/**
 * One group operation as data; its fingerprint (kind, counts, type, op name, root) travels, the object never does.
 *
 * <p>Parts: {@code counts} null means equal parts; otherwise one count per rank, equal on all ranks (v-form). Send and
 * receive are not here: they are matched by peer and tag and have no place in the sequence.
 */
public sealed interface Collective {
    /**
     * Checks shapes, counts and root before anything moves.
     *
     * @param rank      this rank
     * @param worldSize number of ranks
     * @throws IllegalArgumentException naming the value and the world size ({@link InvalidRankException} for a root)
     */
    void check(int rank, int worldSize);

    /**
     * Returns the name of the operation, as the method of {@code ProcessGroup} has it.
     *
     * @return for example {@code allReduce}
     */
    String kind();

    /**
     * Returns a tensor of the call that every rank has, for its type.
     *
     * @return tensor; null for a barrier
     */
    Tensor operand();

    /**
     * All-reduce; {@code in == out} is in place.
     *
     * @param in  operand
     * @param out result, same type and length
     * @param op  how
     */
    record AllReduce(Tensor in, Tensor out, ReduceOp op) implements Collective {
        @Override
        public void check(int rank, int worldSize) {
            CallChecks.sameType(kind(), in, out);
            CallChecks.length(kind(), "output", out, in.elementCount(), "input");
        }

        @Override
        public String kind() {
            return "allReduce";
        }

        @Override
        public Tensor operand() {
            return in;
        }
    }

    /**
     * Broadcast.
     *
     * @param data read on the root, written elsewhere
     * @param root owner
     */
    record Broadcast(Tensor data, int root) implements Collective {
        @Override
        public void check(int rank, int worldSize) {
            InvalidRankException.check(root, worldSize);
        }

        @Override
        public String kind() {
            return "broadcast";
        }

        @Override
        public Tensor operand() {
            return data;
        }
    }

    /**
     * Reduce; off the root {@code out} is null and {@code in} stays untouched.
     *
     * @param in   operand
     * @param out  result on the root, may be {@code in}
     * @param op   how
     * @param root receiver
     */
    record Reduce(Tensor in, Tensor out, ReduceOp op, int root) implements Collective {
        @Override
        public void check(int rank, int worldSize) {
            InvalidRankException.check(root, worldSize);
            if (rank == root) {
                CallChecks.present(kind(), "output", out, root);
                CallChecks.sameType(kind(), in, out);
                CallChecks.length(kind(), "output", out, in.elementCount(), "input");
            }
        }

        @Override
        public String kind() {
            return "reduce";
        }

        @Override
        public Tensor operand() {
            return in;
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
        @Override
        public void check(int rank, int worldSize) {
            CallChecks.sameType(kind(), in, out);
            CallChecks.parts(kind(), in, out, new CallChecks.Parts(counts, rank, worldSize));
        }

        @Override
        public String kind() {
            return "allGather";
        }

        @Override
        public Tensor operand() {
            return in;
        }
    }

    /**
     * Reduce-scatter.
     *
     * @param in     all parts
     * @param out    own reduced part
     * @param op     how
     * @param counts part lengths or null
     */
    record ReduceScatter(Tensor in, Tensor out, ReduceOp op, long[] counts) implements Collective {
        @Override
        public void check(int rank, int worldSize) {
            CallChecks.sameType(kind(), in, out);
            CallChecks.parts(kind(), out, in, new CallChecks.Parts(counts, rank, worldSize));
        }

        @Override
        public String kind() {
            return "reduceScatter";
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
     * @param out    all parts, null off the root
     * @param root   receiver
     * @param counts part lengths or null
     */
    record Gather(Tensor in, Tensor out, int root, long[] counts) implements Collective {
        @Override
        public void check(int rank, int worldSize) {
            InvalidRankException.check(root, worldSize);
            if (rank == root) {
                CallChecks.present(kind(), "output", out, root);
                CallChecks.sameType(kind(), in, out);
                CallChecks.parts(kind(), in, out, new CallChecks.Parts(counts, rank, worldSize));
            }
        }

        @Override
        public String kind() {
            return "gather";
        }

        @Override
        public Tensor operand() {
            return in;
        }
    }

    /**
     * Scatter.
     *
     * @param in     all parts, null off the root
     * @param out    own part
     * @param root   owner
     * @param counts part lengths or null
     */
    record Scatter(Tensor in, Tensor out, int root, long[] counts) implements Collective {
        @Override
        public void check(int rank, int worldSize) {
            InvalidRankException.check(root, worldSize);
            if (rank == root) {
                CallChecks.present(kind(), "input", in, root);
                CallChecks.sameType(kind(), in, out);
                CallChecks.parts(kind(), out, in, new CallChecks.Parts(counts, rank, worldSize));
            }
        }

        @Override
        public String kind() {
            return "scatter";
        }

        @Override
        public Tensor operand() {
            return out;
        }
    }

    /**
     * All-to-all; each rank knows its own row and column only, so no algorithm may depend on bytes.
     *
     * @param in         parts to send
     * @param out        parts received
     * @param sendCounts lengths by destination or null
     * @param recvCounts lengths by source or null
     */
    record AllToAll(Tensor in, Tensor out, long[] sendCounts, long[] recvCounts) implements Collective {
        @Override
        public void check(int rank, int worldSize) {
            CallChecks.sameType(kind(), in, out);
            CallChecks.total(kind(), "input", in, sendCounts, worldSize);
            CallChecks.total(kind(), "output", out, recvCounts, worldSize);
            if (sendCounts == null && recvCounts == null) {
                CallChecks.length(kind(), "output", out, in.elementCount(), "input");
            }
        }

        @Override
        public String kind() {
            return "allToAll";
        }

        @Override
        public Tensor operand() {
            return in;
        }
    }

    /** Barrier. */
    record Barrier() implements Collective {
        @Override
        public void check(int rank, int worldSize) {
            // a barrier has nothing that could be wrong
        }

        @Override
        public String kind() {
            return "barrier";
        }

        @Override
        public Tensor operand() {
            return null;
        }
    }

    /**
     * Returns whether a call has part lengths of its own.
     *
     * @param call operation
     * @return true for a v-form
     */
    static boolean hasCounts(Collective call) {
        if (call instanceof AllToAll each) {
            return each.sendCounts != null || each.recvCounts != null;
        }
        long[] counts = call instanceof AllGather all
                ? all.counts
                : call instanceof ReduceScatter reduce
                        ? reduce.counts
                        : call instanceof Gather gather
                                ? gather.counts
                                : call instanceof Scatter scatter ? scatter.counts : null;
        return counts != null;
    }
}
