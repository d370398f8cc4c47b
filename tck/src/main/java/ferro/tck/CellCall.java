package ferro.tck;

import ferro.Collective;
import ferro.HostTensor;
import ferro.Tensor;

/**
 * One rank's call of a cell, with its data and its right answers.
 *
 * @param call   operation
 * @param in     what must stay as it was; null if there is none or the call works in place
 * @param given  what {@code in} holds
 * @param out    what is written; null if this rank receives nothing
 * @param answer what must stand in {@code out}
 */
record CellCall(Collective call, Operand in, Answer given, Operand out, Answer answer) {
    /** What an element must be. */
    @FunctionalInterface
    interface Answer {
        /** Returns what is wrong with the bits found at an index, or null. */
        String wrong(int index, long found);
    }

    /** Where a call is made. */
    record Place(int rank, int worldSize, int number, Values values) {
        Operand unwritten(Cell cell, int length) {
            // ranks and neighbouring cells take different kinds of memory
            return Operand.unwritten(cell.type(), length, Operand.Placement.of(rank + number));
        }
    }

    /** Builds the call of a cell on one rank. */
    static CellCall of(Cell cell, Place at) {
        return switch (cell.kind()) {
            case ALL_REDUCE -> allReduce(cell, at);
            case BROADCAST -> broadcast(cell, at);
            case REDUCE -> reduce(cell, at);
            case ALL_GATHER -> allGather(cell, at);
            case REDUCE_SCATTER -> reduceScatter(cell, at);
            case GATHER -> gather(cell, at);
            case SCATTER -> scatter(cell, at);
            case ALL_TO_ALL -> allToAll(cell, at);
            default -> throw new IllegalArgumentException("the kit has no cells of " + cell.kind());
        };
    }

    /** Returns what the call did wrong, or null. */
    String wrong() {
        String wrong = in == null ? null : wrong("input", in, given);
        return wrong != null || out == null ? wrong : wrong("output", out, answer);
    }

    /** Returns what a refused call has touched, or null. */
    String touched() {
        boolean written = in != null && out != null && !out.isUnwritten();
        return written ? "a refused call wrote its output" : in == null ? null : wrong("input", in, given);
    }

    private static String wrong(String name, Operand operand, Answer answer) {
        long[] found = operand.bits();
        for (int index = 0; index < found.length; index++) {
            String wrong = answer.wrong(index, found[index]);
            if (wrong != null) {
                String unwritten = found[index] == operand.unwrittenBits() ? " (never written)" : "";
                return name + "[" + index + "]: " + wrong + unwritten;
            }
        }
        return operand.guardsHold() ? null : name + ": elements outside the tensor were written";
    }

    private static CellCall allReduce(Cell cell, Place at) {
        Operand in = at.unwritten(cell, cell.length()).fill(index -> at.values.input(at.rank, index));
        Operand out = cell.inPlace() ? in : at.unwritten(cell, cell.length());
        Collective call = new Collective.AllReduce(in.tensor(), out.tensor(), cell.op());
        return reducing(cell, at, new CellCall(call, in, null, out, null));
    }

    private static CellCall reduce(Cell cell, Place at) {
        Operand in = at.unwritten(cell, cell.length()).fill(index -> at.values.input(at.rank, index));
        boolean receives = at.rank == cell.root();
        Operand out = !receives ? null : cell.inPlace() ? in : at.unwritten(cell, cell.length());
        Collective call = new Collective.Reduce(in.tensor(), tensor(out), cell.op(), cell.root());
        return reducing(cell, at, new CellCall(call, in, null, out, null));
    }

    private static CellCall reducing(Cell cell, Place at, CellCall bare) {
        Answer given = (index, found) -> exact(at.values.input(at.rank, index), found);
        Answer answer = at.values.right(cell.op());
        return new CellCall(bare.call, bare.in == bare.out ? null : bare.in, given, bare.out, answer);
    }

    private static CellCall broadcast(Cell cell, Place at) {
        Operand data = at.unwritten(cell, cell.length());
        if (at.rank == cell.root()) {
            data.fill(index -> at.values.mark(at.rank, index));
        }
        Collective call = new Collective.Broadcast(data.tensor(), cell.root());
        return new CellCall(call, null, null, data, (index, found) -> exact(at.values.mark(cell.root(), index), found));
    }

    private static CellCall allGather(Cell cell, Place at) {
        Operand out = at.unwritten(cell, cell.length() * at.worldSize);
        Operand in = own(cell, at, out).fill(index -> at.values.mark(at.rank, index));
        return gathered(
                cell, at, new CellCall(new Collective.AllGather(in.tensor(), out.tensor(), null), in, null, out, null));
    }

    private static CellCall gather(Cell cell, Place at) {
        Operand out = at.rank == cell.root() ? at.unwritten(cell, cell.length() * at.worldSize) : null;
        Operand in = own(cell, at, out).fill(index -> at.values.mark(at.rank, index));
        Collective call = new Collective.Gather(in.tensor(), tensor(out), cell.root(), null);
        return gathered(cell, at, new CellCall(call, in, null, out, null));
    }

    private static CellCall gathered(Cell cell, Place at, CellCall bare) {
        int n = cell.length();
        Answer answer = (index, found) -> exact(at.values.mark(index / n, index % n), found);
        boolean shares = cell.inPlace() && bare.out != null;
        Answer given = (index, found) -> exact(at.values.mark(at.rank, index), found);
        return new CellCall(bare.call, shares ? null : bare.in, given, bare.out, answer);
    }

    private static CellCall reduceScatter(Cell cell, Place at) {
        int n = cell.length();
        Operand in = at.unwritten(cell, n * at.worldSize).fill(index -> at.values.input(at.rank, index));
        Operand out = own(cell, at, in);
        Collective call = new Collective.ReduceScatter(in.tensor(), out.tensor(), cell.op(), null);
        Answer given = (index, found) -> exact(at.values.input(at.rank, index), found);
        Answer right = at.values.right(cell.op());
        Answer answer = (index, found) -> right.wrong(at.rank * n + index, found);
        return new CellCall(call, cell.inPlace() ? null : in, given, out, answer);
    }

    private static CellCall scatter(Cell cell, Place at) {
        int n = cell.length();
        Operand in = null;
        if (at.rank == cell.root()) {
            in = at.unwritten(cell, n * at.worldSize).fill(index -> at.values.mark(at.rank, index));
        }
        Operand out = own(cell, at, in);
        Collective call = new Collective.Scatter(tensor(in), out.tensor(), cell.root(), null);
        Answer given = (index, found) -> exact(at.values.mark(at.rank, index), found);
        Answer answer = (index, found) -> exact(at.values.mark(cell.root(), at.rank * n + index), found);
        return new CellCall(call, cell.inPlace() ? null : in, given, out, answer);
    }

    private static CellCall allToAll(Cell cell, Place at) {
        int n = cell.length();
        Operand in = at.unwritten(cell, n * at.worldSize).fill(index -> at.values.mark(at.rank, index));
        Operand out = at.unwritten(cell, n * at.worldSize);
        Collective call = new Collective.AllToAll(in.tensor(), out.tensor(), null, null);
        Answer given = (index, found) -> exact(at.values.mark(at.rank, index), found);
        Answer answer = (index, found) -> exact(at.values.mark(index / n, at.rank * n + index % n), found);
        return new CellCall(call, in, given, out, answer);
    }

    /** This rank's part of the tensor of all parts where the cell is in place, else memory of its own. */
    private static Operand own(Cell cell, Place at, Operand whole) {
        boolean shares = cell.inPlace() && whole != null;
        return shares ? whole.part((long) at.rank * cell.length(), cell.length()) : at.unwritten(cell, cell.length());
    }

    private static String exact(long need, long found) {
        return need == found ? null : "need bits " + Long.toHexString(need) + ", found " + Long.toHexString(found);
    }

    private static Tensor tensor(Operand operand) {
        HostTensor none = null;
        return operand == null ? none : operand.tensor();
    }
}
