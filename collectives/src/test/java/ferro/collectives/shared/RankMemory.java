package ferro.collectives.shared;

import java.util.Arrays;

/** Operand and result of one rank, which may be parts of one memory, and each of which all ranks may share. */
final class RankMemory {
    /** What a caller writes into its memory after its call. */
    private static final int OVERWRITTEN = -2;

    private final int[] in;
    private final int[] out;
    private final int inStart;
    private final int outStart;
    private SharedArea inArea;
    private SharedArea outArea;

    private RankMemory(int[] in, int inStart, int[] out, int outStart) {
        this.in = in;
        this.inStart = inStart;
        this.out = out;
        this.outStart = outStart;
    }

    /** Makes the memory of all ranks, operands filled. */
    static RankMemory[] of(ProgramProof.Operation operation, int ranks, int number, Values values) {
        RankMemory[] memory = new RankMemory[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            memory[rank] = of(operation, ranks, rank);
            for (int i = 0; memory[rank].in != null && i < memory[rank].operandLength(operation, ranks); i++) {
                memory[rank].in[memory[rank].inStart + i] = values.operand(number, rank, i);
            }
            memory[rank].share(operation, rank, ranks);
        }
        return memory;
    }

    private int operandLength(ProgramProof.Operation operation, int ranks) {
        return switch (operation.kind()) {
            case ALL_GATHER, GATHER -> operation.elements() / ranks;
            default -> operation.elements();
        };
    }

    private static RankMemory of(ProgramProof.Operation operation, int ranks, int rank) {
        int all = operation.elements();
        int part = all / ranks;
        boolean isRoot = rank == operation.root();
        int[] whole = fresh(all);
        int[] other = fresh(operation.inPlace() ? 0 : all);
        return switch (operation.kind()) {
            case BARRIER -> new RankMemory(null, 0, null, 0);
            case ALL_REDUCE -> new RankMemory(whole, 0, operation.inPlace() ? whole : other, 0);
            case ALL_TO_ALL -> new RankMemory(whole, 0, fresh(all), 0);
            case BROADCAST -> isRoot ? new RankMemory(whole, 0, whole, 0) : new RankMemory(null, 0, whole, 0);
            case REDUCE -> new RankMemory(whole, 0, !isRoot ? null : operation.inPlace() ? whole : other, 0);
            case ALL_GATHER ->
                operation.inPlace() ? new RankMemory(whole, rank * part, whole, 0) : new RankMemory(other, 0, whole, 0);
            case GATHER ->
                operation.inPlace() && isRoot
                        ? new RankMemory(whole, rank * part, whole, 0)
                        : new RankMemory(fresh(part), 0, isRoot ? whole : null, 0);
            case SCATTER ->
                operation.inPlace() && isRoot
                        ? new RankMemory(whole, 0, whole, rank * part)
                        : new RankMemory(isRoot ? whole : null, 0, fresh(part), 0);
            default ->
                operation.inPlace()
                        ? new RankMemory(whole, 0, whole, rank * part)
                        : new RankMemory(whole, 0, fresh(part), 0);
        };
    }

    private static int[] fresh(int length) {
        int[] memory = new int[length];
        Arrays.fill(memory, -1);
        return memory;
    }

    private void share(ProgramProof.Operation operation, int rank, int ranks) {
        if (in != null && operation.isShared(rank)) {
            inArea = new SharedArea(ranks, in.length);
            outArea = out == in ? inArea : null;
        }
        if (out != null && outArea == null && operation.sharesResults() && operation.isShared(rank)) {
            outArea = new SharedArea(ranks, out.length);
        }
    }

    /** The caller has written its memory before it called. */
    void begin(int rank, int[] clock) {
        for (int i = 0; inArea != null && i < in.length; i++) {
            inArea.write(i, rank, clock, in[i]);
        }
    }

    /** The caller may read and write its memory when its call has ended. */
    void end(int rank, int[] clock) {
        for (int i = 0; inArea != null && i < in.length; i++) {
            in[i] = inArea.read(i, rank, clock);
            inArea.write(i, rank, clock, OVERWRITTEN);
        }
        for (int i = 0; outArea != null && outArea != inArea && i < out.length; i++) {
            out[i] = outArea.read(i, rank, clock);
            outArea.write(i, rank, clock, OVERWRITTEN);
        }
    }

    /** Returns whether others may read the operand. */
    boolean hasSharedOperand() {
        return inArea != null;
    }

    /** Returns whether others may write the result. */
    boolean hasSharedResult() {
        return outArea != null;
    }

    /** Returns whether an element of the operand and one of the result are the same memory. */
    boolean isOne(long from, long to) {
        return in == out && inStart + from == outStart + to;
    }

    /** Reads an element of the operand, at a time of a rank. */
    int in(long element, int rank, int[] clock) {
        return inArea == null ? in(element) : inArea.read(inStart + (int) element, rank, clock);
    }

    /** Reads an element of the result, at a time of a rank. */
    int out(long element, int rank, int[] clock) {
        return outArea == null ? out(element) : outArea.read(outStart + (int) element, rank, clock);
    }

    /** Writes an element of the result, at a time of a rank. */
    void out(long element, int rank, int[] clock, int value) {
        if (outArea == null) {
            out(element, value);
            return;
        }
        if (value < 0) {
            throw new ProgramProof.Refuted("copies what was never written");
        }
        outArea.write(outStart + (int) element, rank, clock, value);
    }

    int in(long element) {
        if (in == null) {
            throw new ProgramProof.Refuted("reads an operand that this rank has not");
        }
        return in[inStart + (int) element];
    }

    int out(long element) {
        if (out == null) {
            throw new ProgramProof.Refuted("touches a result that this rank has not");
        }
        return out[outStart + (int) element];
    }

    private void out(long element, int value) {
        out(element);
        if (value < 0) {
            throw new ProgramProof.Refuted("copies what was never written");
        }
        out[outStart + (int) element] = value;
    }

    /** Returns whether the operand must be as it was. */
    boolean keepsOperand() {
        return in != null && in != out;
    }

    boolean hasResult() {
        return out != null;
    }
}
