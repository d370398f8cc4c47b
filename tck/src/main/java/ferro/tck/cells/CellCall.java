package ferro.tck.cells;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.CollectiveKind.DataShare;
import ferro.DataType;
import ferro.HostTensor;
import java.util.stream.LongStream;

/**
 * The call of one rank for a cell, with its data and its expected results.
 *
 * @param cell   parameters of the call
 * @param call   operation
 * @param in     operand that must not change; null if the call has no such operand or works in place
 * @param given  content of {@code in}
 * @param out    operand that is written; null if this rank receives nothing
 * @param answer expected content of {@code out}
 */
public record CellCall(
        Cell cell, Collective call, Operand in, ExpectedElements given, Operand out, ExpectedElements answer) {
    /** The memory of a call. */
    @FunctionalInterface
    public interface OperandAllocator {
        /** Returns an operand of unwritten elements, for the output of the call or for its input. */
        Operand unwritten(DataType type, int length, boolean isOutput);
    }

    /** Builds the call of a cell on one rank. Ranks and calls with adjacent numbers use different kinds of memory. */
    public static CellCall of(Cell cell, int rank, int worldSize, int number, Oracle oracle) {
        return of(cell, rank, worldSize, oracle, (type, length, isOutput) -> {
            // four calls use equal kinds for input and output, the next four use other pairs
            int kind = rank + number + (isOutput ? number / 4 : 0);
            return Operand.unwritten(type, length, Operand.OperandMemory.of(kind));
        });
    }

    /** Builds the call of a cell on one rank, in some memory. */
    public static CellCall of(Cell cell, int rank, int worldSize, Oracle oracle, OperandAllocator memory) {
        CollectiveKind kind = cell.kind();
        boolean isRoot = rank == cell.root();
        boolean isOne = CallFactory.isOneTensor(kind);
        long[] parts = cell.inCounts(rank, worldSize);
        long[] outParts = cell.outCounts(rank, worldSize);
        int first = first(cell, parts, rank);
        // a part in place is cut from the tensor of all parts, which is made first
        Operand in = isOne || kind.in().isAll(isRoot) ? memory.unwritten(cell.type(), all(cell, parts), false) : null;
        Operand out = isOne ? in : null;
        if (!isOne && kind.out().isAll(isRoot)) {
            boolean shares = cell.inPlace() && in != null;
            out = shares ? in : memory.unwritten(cell.type(), all(cell, outParts), true);
        }
        if (kind.in() == DataShare.PART || kind.out() == DataShare.PART) {
            Operand full = kind.in() == DataShare.PART ? out : in;
            int length = (int) parts[rank];
            Operand own = cell.inPlace() && full != null
                    ? full.part(first, length)
                    : memory.unwritten(cell.type(), length, kind.out() == DataShare.PART);
            in = kind.in() == DataShare.PART ? own : in;
            out = kind.out() == DataShare.PART ? own : out;
        }
        long[] elements = oracle.elements(kind, rank, 0, in == null ? 0 : in.length());
        if (kind.in().has(isRoot)) {
            in.fill(elements);
        }
        Collective call = cell.unequal() && kind == CollectiveKind.ALL_TO_ALL
                ? Collective.allToAll(in.tensor(), out.tensor(), parts, outParts)
                : CallFactory.of(
                        kind, tensor(in), tensor(out), cell.op(), cell.root(), cell.unequal() ? parts : new long[0]);
        ExpectedElements answer = out == null ? null : answer(cell, rank, worldSize, oracle, out.length());
        boolean shares = isOne || cell.inPlace() && out != null;
        return new CellCall(cell, call, shares ? null : in, ExpectedElements.exactly(elements), out, answer);
    }

    private static int all(Cell cell, long[] parts) {
        return cell.kind().hasParts() ? (int) LongStream.of(parts).sum() : cell.length();
    }

    /** Returns the index of the first element of a rank's part; 0 if the rank has all of the data or no data. */
    private static int first(Cell cell, long[] parts, int rank) {
        boolean isPart = cell.kind().in() == DataShare.PART || cell.kind().out() == DataShare.PART;
        return isPart ? (int) LongStream.of(parts).limit(rank).sum() : 0;
    }

    /**
     * Returns the expected output of a rank. Without a reduction, the output has one part of each rank, or data of the
     * root.
     */
    private static ExpectedElements answer(Cell cell, int rank, int worldSize, Oracle oracle, int length) {
        CollectiveKind kind = cell.kind();
        if (kind.combines()) {
            int first = first(cell, cell.inCounts(rank, worldSize), rank);
            return oracle.reduced(CallFactory.combined(kind, rank, worldSize), cell.op(), first, length);
        }
        boolean ofRoot = kind.in() == DataShare.ALL_ON_ROOT;
        boolean fromPart = kind.in() == DataShare.PART;
        long[] moved = new long[length];
        int done = 0;
        for (int from = ofRoot ? cell.root() : 0; from < (ofRoot ? cell.root() + 1 : worldSize); from++) {
            long[] parts = cell.inCounts(from, worldSize);
            long first = fromPart || !kind.hasParts()
                    ? 0
                    : LongStream.of(parts).limit(rank).sum();
            int count = (int) parts[fromPart ? from : rank];
            System.arraycopy(oracle.elements(kind, from, (int) first, count), 0, moved, done, count);
            done += count;
        }
        return ExpectedElements.exactly(moved);
    }

    private static HostTensor tensor(Operand operand) {
        return operand == null ? null : operand.tensor();
    }

    /** Returns a description of the first error of the call, or null if the call is right. */
    public String wrong() {
        String wrong = in == null ? null : wrong("input", in, given);
        return wrong != null || out == null ? wrong : wrong("output", out, answer);
    }

    /** Returns a description of the memory that a refused call has changed, or null if no memory has changed. */
    public String touched() {
        boolean written = in != null && out != null && !out.isUnwritten();
        return written ? "a refused call wrote its output" : in == null ? null : wrong("input", in, given);
    }

    private static String wrong(String name, Operand operand, ExpectedElements need) {
        long[] found = operand.bits();
        int wrong = need.firstWrong(found);
        if (wrong >= 0) {
            String unwritten = found[wrong] == operand.unwrittenBits() ? " (never written)" : "";
            return name + "[" + wrong + "]: " + need.wrong(wrong, found[wrong]) + unwritten;
        }
        return operand.guardsHold() ? null : name + ": elements outside the tensor were written";
    }
}
