package ferro.tck.cells;

import ferro.Collective;

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
        return switch (cell.kind()) {
            case ALL_REDUCE -> allReduce(cell, at);
            case BROADCAST -> broadcast(cell, at);
            case REDUCE -> reduce(cell, at);
            case ALL_GATHER -> allGather(cell, at);
            case REDUCE_SCATTER -> reduceScatter(cell, at);
            case GATHER -> gather(cell, at);
            case SCATTER -> scatter(cell, at);
            case ALL_TO_ALL -> allToAll(cell, at);
            case SCAN -> scan(cell, at);
            case EXCLUSIVE_SCAN -> exclusiveScan(cell, at);
            default -> throw new IllegalArgumentException("the TCK has no cells of " + cell.kind());
        };
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

    private static CellCall allReduce(Cell cell, CallInstant at) {
        long[] inputs = at.values.inputs(at.rank, cell.length());
        Operand in = at.unwritten(cell, cell.length()).fill(inputs);
        Operand out = cell.inPlace() ? in : at.unwritten(cell, cell.length());
        Collective call = Collective.allReduce(in.tensor(), out.tensor(), cell.op());
        ExpectedElements answer = at.values.right(cell.op(), 0);
        return new CellCall(call, cell.inPlace() ? null : in, ExpectedElements.exactly(inputs), out, answer);
    }

    private static CellCall scan(Cell cell, CallInstant at) {
        long[] inputs = at.values.inputs(at.rank, cell.length());
        Operand in = at.unwritten(cell, cell.length()).fill(inputs);
        Operand out = cell.inPlace() ? in : at.unwritten(cell, cell.length());
        Collective call = Collective.scan(in.tensor(), out.tensor(), cell.op());
        ExpectedElements answer = at.values.rightOfFirst(at.rank + 1, cell.op());
        return new CellCall(call, cell.inPlace() ? null : in, ExpectedElements.exactly(inputs), out, answer);
    }

    private static CellCall exclusiveScan(Cell cell, CallInstant at) {
        long[] inputs = at.values.inputs(at.rank, cell.length());
        Operand in = at.unwritten(cell, cell.length()).fill(inputs);
        Operand out = cell.inPlace() ? in : at.unwritten(cell, cell.length());
        Collective call = Collective.exclusiveScan(in.tensor(), out.tensor(), cell.op());
        ExpectedElements answer = at.rank == 0
                ? ExpectedElements.exactly(at.values.identities(cell.op(), cell.length()))
                : at.values.rightOfFirst(at.rank, cell.op());
        return new CellCall(call, cell.inPlace() ? null : in, ExpectedElements.exactly(inputs), out, answer);
    }

    private static CellCall reduce(Cell cell, CallInstant at) {
        long[] inputs = at.values.inputs(at.rank, cell.length());
        Operand in = at.unwritten(cell, cell.length()).fill(inputs);
        boolean receives = at.rank == cell.root();
        Operand out = !receives ? null : cell.inPlace() ? in : at.unwritten(cell, cell.length());
        Collective call = receives
                ? Collective.reduce(in.tensor(), out.tensor(), cell.op(), cell.root())
                : Collective.reduce(in.tensor(), cell.op(), cell.root());
        ExpectedElements answer = at.values.right(cell.op(), 0);
        return new CellCall(call, in == out ? null : in, ExpectedElements.exactly(inputs), out, answer);
    }

    private static CellCall broadcast(Cell cell, CallInstant at) {
        long[] marks = at.values.marks(cell.root(), 0, cell.length());
        Operand data = at.unwritten(cell, cell.length());
        if (at.rank == cell.root()) {
            data.fill(marks);
        }
        Collective call = Collective.broadcast(data.tensor(), cell.root());
        return new CellCall(call, null, null, data, ExpectedElements.exactly(marks));
    }

    private static CellCall allGather(Cell cell, CallInstant at) {
        Operand out = at.unwritten(cell, cell.length() * at.worldSize);
        Operand in = own(cell, at, out);
        return gathered(cell, at, Collective.allGather(in.tensor(), out.tensor()), in, out);
    }

    private static CellCall gather(Cell cell, CallInstant at) {
        Operand out = at.rank == cell.root() ? at.unwritten(cell, cell.length() * at.worldSize) : null;
        Operand in = own(cell, at, out);
        Collective call = out == null
                ? Collective.gather(in.tensor(), cell.root())
                : Collective.gather(in.tensor(), out.tensor(), cell.root());
        return gathered(cell, at, call, in, out);
    }

    private static CellCall gathered(Cell cell, CallInstant at, Collective call, Operand in, Operand out) {
        long[] marks = at.values.marks(at.rank, 0, cell.length());
        in.fill(marks);
        ExpectedElements answer = out == null ? null : ExpectedElements.exactly(at.marksOfAll(cell.length(), 0));
        boolean shares = cell.inPlace() && out != null;
        return new CellCall(call, shares ? null : in, ExpectedElements.exactly(marks), out, answer);
    }

    private static CellCall reduceScatter(Cell cell, CallInstant at) {
        int n = cell.length();
        long[] inputs = at.values.inputs(at.rank, n * at.worldSize);
        Operand in = at.unwritten(cell, n * at.worldSize).fill(inputs);
        Operand out = own(cell, at, in);
        Collective call = Collective.reduceScatter(in.tensor(), out.tensor(), cell.op());
        ExpectedElements answer = at.values.right(cell.op(), at.rank * n);
        return new CellCall(call, cell.inPlace() ? null : in, ExpectedElements.exactly(inputs), out, answer);
    }

    private static CellCall scatter(Cell cell, CallInstant at) {
        int n = cell.length();
        long[] marks = at.values.marks(cell.root(), 0, n * at.worldSize);
        Operand in =
                at.rank == cell.root() ? at.unwritten(cell, n * at.worldSize).fill(marks) : null;
        Operand out = own(cell, at, in);
        Collective call = in == null
                ? Collective.scatter(out.tensor(), cell.root())
                : Collective.scatter(in.tensor(), out.tensor(), cell.root());
        ExpectedElements answer = ExpectedElements.exactly(at.values.marks(cell.root(), at.rank * n, n));
        return new CellCall(call, cell.inPlace() ? null : in, ExpectedElements.exactly(marks), out, answer);
    }

    private static CellCall allToAll(Cell cell, CallInstant at) {
        int n = cell.length();
        long[] marks = at.values.marks(at.rank, 0, n * at.worldSize);
        Operand in = at.unwritten(cell, n * at.worldSize).fill(marks);
        Operand out = at.unwritten(cell, n * at.worldSize);
        Collective call = Collective.allToAll(in.tensor(), out.tensor());
        ExpectedElements answer = ExpectedElements.exactly(at.marksOfAll(n, at.rank * n));
        return new CellCall(call, in, ExpectedElements.exactly(marks), out, answer);
    }

    /** Returns this rank's part of the full tensor if the cell is in place, otherwise separate memory. */
    private static Operand own(Cell cell, CallInstant at, Operand full) {
        boolean shares = cell.inPlace() && full != null;
        return shares ? full.part((long) at.rank * cell.length(), cell.length()) : at.unwritten(cell, cell.length());
    }
}
