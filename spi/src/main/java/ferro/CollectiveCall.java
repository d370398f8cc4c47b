package ferro;

import ferro.CollectiveKind.DataShare;

/**
 * The implementation of {@link Collective} for all kinds of call. Only the static methods of {@code Collective} create
 * objects of this record. {@link CollectiveKind} defines which ranks have which tensor, and which arguments a kind
 * needs.
 *
 * @param kind      kind of collective
 * @param in        operand; a broadcast has only one tensor, which is operand and result
 * @param out       result
 * @param op        reduction; null if nothing is combined
 * @param root      rank of the root; -1 for a kind without root
 * @param inCounts  lengths of the parts of the operand; empty if all are equal
 * @param outCounts lengths of the parts of the result; empty if all are equal
 */
record CollectiveCall(
        CollectiveKind kind, Tensor in, Tensor out, ReduceOp op, int root, long[] inCounts, long[] outCounts)
        implements Collective {
    static final Collective BARRIER = of(CollectiveKind.BARRIER, null, null, null);

    static final int NO_ROOT = -1;

    CollectiveCall {
        if (isOneTensor(kind)) {
            CallChecks.given(kind, "data", in);
        }
        if (isOfEveryRank(kind.in())) {
            CallChecks.given(kind, "input", in);
        }
        if (isOfEveryRank(kind.out())) {
            CallChecks.given(kind, "output", out);
        }
        if (kind.combines()) {
            CallChecks.given(kind, "op", op);
        }
        boolean exchanges = kind == CollectiveKind.ALL_TO_ALL;
        CallChecks.given(kind, exchanges ? "sendCounts" : "counts", inCounts);
        CallChecks.given(kind, exchanges ? "recvCounts" : "counts", outCounts);
    }

    static Collective of(CollectiveKind kind, Tensor in, Tensor out, ReduceOp op) {
        return of(kind, in, out, op, NO_ROOT);
    }

    static Collective of(CollectiveKind kind, Tensor in, Tensor out, ReduceOp op, int root) {
        return new CollectiveCall(kind, in, out, op, root, CallChecks.EQUAL_PARTS, CallChecks.EQUAL_PARTS);
    }

    static Collective inPlace(CollectiveKind kind, Tensor data, ReduceOp op, int root) {
        CallChecks.given(kind, "data", data);
        return of(kind, data, data, op, root);
    }

    /** Makes a call whose parts have the same lengths on all ranks. */
    static Collective inParts(CollectiveKind kind, Tensor in, Tensor out, ReduceOp op, int root, long[] counts) {
        return new CollectiveCall(kind, in, out, op, root, counts, counts);
    }

    private static boolean isOfEveryRank(DataShare held) {
        return held.has(true) && held.has(false);
    }

    private static boolean isOneTensor(CollectiveKind kind) {
        return kind.out() == DataShare.ALL_OFF_ROOT;
    }

    @Override
    public Tensor operand() {
        return kind.out() == DataShare.PART ? out : in;
    }

    @Override
    public Tensor reads(int rank) {
        return kind.in().has(rank == root) ? in : null;
    }

    @Override
    public Tensor writes(int rank) {
        return kind.out().has(rank == root) ? out : null;
    }

    @Override
    public boolean hasCounts() {
        return inCounts.length > 0 || outCounts.length > 0;
    }

    @Override
    public void check(int rank, int worldSize) {
        CallChecks.usable(this, rank);
        if (kind.in() == DataShare.NONE) {
            return;
        }
        if (kind.isRooted()) {
            checkRoot(rank, worldSize);
            if (rank != root || isOneTensor(kind)) {
                return;
            }
            CallChecks.present(kind, "input", in, root);
            CallChecks.present(kind, "output", out, root);
        }
        CallChecks.sameType(kind, in, out);
        if (!kind.isRooted() && kind.combines()) {
            CallChecks.op(kind, op, in);
        }
        if (kind == CollectiveKind.ALL_TO_ALL) {
            CallChecks.allToAll(this, rank, worldSize);
        } else if (kind.hasParts()) {
            CallChecks.parts(this, rank, worldSize);
        } else {
            CallChecks.length(kind, "output", out, in.elementCount(), "input");
            CallChecks.overlapButIdentical(kind, in, out);
        }
    }

    /** Checks those arguments of a call with a root that every rank has. */
    private void checkRoot(int rank, int worldSize) {
        InvalidRankException.check(kind.label(), "root", root, worldSize);
        if (kind.hasParts()) {
            CallChecks.ownPart(this, rank, worldSize);
        } else if (kind.combines()) {
            CallChecks.op(kind, op, in);
        }
    }

    @Override
    public Collective on(Tensor otherIn, Tensor otherOut) {
        if (kind.in() == DataShare.NONE) {
            return this;
        }
        Tensor operand = otherIn == null && isOneTensor(kind) ? otherOut : otherIn;
        return new CollectiveCall(kind, operand, isOneTensor(kind) ? operand : otherOut, op, root, inCounts, outCounts);
    }
}
