package ferro.tck.cells;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.CollectiveKind.Held;
import ferro.HostTensor;

/**
 * The call of one rank for a cell, with its data and its expected results.
 *
 * @param call   operation
 * @param in     operand that must not change; null if the call has no such operand or works in place
 * @param given  content of {@code in}
 * @param out    operand that is written; null if this rank receives nothing
 * @param answer expected content of {@code out}
 */
public record CellCall(Collective call, Operand in, ExpectedElements given, Operand out, ExpectedElements answer) {
    /** The rank of a call, its world size, its number and the values of its operands. */
    public record CallInstant(int rank, int worldSize, int number, Values values) {
        Operand unwritten(Cell cell, int length) {
            // ranks and adjacent cells use different kinds of memory
            return Operand.unwritten(cell.type(), length, Operand.OperandMemory.of(rank + number));
        }

        /** Returns the length of a rank's input or output that is all of the data, or a part. */
        private int length(Cell cell, Held held) {
            return cell.length() * (held == Held.PART || !cell.kind().hasParts() ? 1 : worldSize);
        }

        /** Returns the elements of this rank's operand. */
        private long[] elements(Cell cell) {
            int length = length(cell, cell.kind().in());
            return cell.kind().combines() ? values.inputs(rank, length) : values.marks(rank, 0, length);
        }

        /** Returns the expected elements of this rank's result. */
        private ExpectedElements answer(Cell cell) {
            CollectiveKind kind = cell.kind();
            int own = rank * cell.length();
            if (kind.combines()) {
                Calls.RankSpan ranks = Calls.combined(kind, rank, worldSize);
                return ranks.isEmpty()
                        ? ExpectedElements.exactly(values.identities(cell.op(), cell.length()))
                        : values.right(ranks, cell.op(), kind.out() == Held.PART ? own : 0);
            }
            int from = kind.hasParts() && kind.in() != Held.PART ? own : 0;
            boolean ofRoot = kind.in() == Held.ALL_ON_ROOT;
            return ExpectedElements.exactly(
                    ofRoot ? values.marks(cell.root(), from, cell.length()) : marksOfAll(cell.length(), from));
        }

        /** Returns {@code count} marks of each rank from index {@code from} on, in rank order. */
        long[] marksOfAll(int count, int from) {
            long[] all = new long[worldSize * count];
            for (int each = 0; each < worldSize; each++) {
                System.arraycopy(values.marks(each, from, count), 0, all, each * count, count);
            }
            return all;
        }
    }

    /** Builds the call of a cell on one rank. */
    public static CellCall of(Cell cell, CallInstant at) {
        CollectiveKind kind = cell.kind();
        boolean isRoot = at.rank == cell.root();
        boolean isOne = Calls.isOneTensor(kind);
        int all = at.length(cell, Held.ALL);
        // a part in place is cut from the tensor of all parts, which is made first
        Operand in = isOne || kind.in().isAll(isRoot) ? at.unwritten(cell, all) : null;
        Operand out = isOne ? in : null;
        if (!isOne && kind.out().isAll(isRoot)) {
            out = cell.inPlace() && in != null ? in : at.unwritten(cell, all);
        }
        if (kind.in() == Held.PART) {
            in = own(cell, at, out);
        } else if (kind.out() == Held.PART) {
            out = own(cell, at, in);
        }
        long[] elements = at.elements(cell);
        if (kind.in().has(isRoot)) {
            in.fill(elements);
        }
        Collective call = Calls.of(kind, tensor(in), tensor(out), cell.op(), cell.root());
        boolean shares = isOne || cell.inPlace() && out != null;
        ExpectedElements answer = out == null ? null : at.answer(cell);
        return new CellCall(call, shares ? null : in, ExpectedElements.exactly(elements), out, answer);
    }

    private static HostTensor tensor(Operand operand) {
        return operand == null ? null : operand.tensor();
    }

    /** Returns this rank's part of the full tensor if the cell is in place, otherwise separate memory. */
    private static Operand own(Cell cell, CallInstant at, Operand full) {
        boolean shares = cell.inPlace() && full != null;
        return shares ? full.part((long) at.rank * cell.length(), cell.length()) : at.unwritten(cell, cell.length());
    }

    /** Returns a description of the first error of the call, or null if the call is right. */
    public String wrong() {
        String wrong = in == null ? null : wrong("input", in, given);
        return wrong != null || out == null ? wrong : wrong("output", out, answer);
    }

    /** Returns a description of what a refused call has written, or null if it has written nothing. */
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
