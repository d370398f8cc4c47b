package ferro.tck.cells;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The calls of one rank that use one memory for operand and result. The calls cover every collective in each legal
 * form.
 */
public final class InPlaceCalls {
    private final Operand memory;
    private final int rank;
    private final int size;
    private final int part;
    private final int root;
    private final ReferenceOracle values;
    private final Consumer<InPlaceCall> runs;

    /**
     * A call with its expected result.
     *
     * @param name  name for messages
     * @param call  operation
     * @param wrong returns a description of the first error after the call, or null if the result is right
     */
    public record InPlaceCall(String name, Collective call, Supplier<String> wrong) {}

    /** Creates the calls on memory of {@link #length} elements. {@code runs} must run each call immediately. */
    public InPlaceCalls(Operand memory, ProcessGroup group, int part, Consumer<InPlaceCall> runs) {
        this.memory = memory;
        this.rank = group.rank();
        this.size = group.worldSize();
        this.part = part;
        this.root = size - 1;
        this.values = new ReferenceOracle(DataType.INT32, size);
        this.runs = runs;
    }

    /** Returns how many elements all calls together need. */
    public static int length(int size, int part) {
        return 2 * size * part;
    }

    /** Makes the calls of all kinds and checks their results. */
    public void run() {
        inPlace();
        sideBySide();
        ignored();
        nothing();
    }

    private void run(String how, Collective call, Supplier<String> wrong) {
        String name = call.kind() + " on rank " + rank + " of " + size + ", parts of " + part + ", " + how;
        runs.accept(new InPlaceCall(name, call, wrong));
        memory.unwrite();
    }

    private CellCall call(CollectiveKind kind, boolean inPlace, boolean unequal, CellCall.OperandAllocator cut) {
        Cell cell = new Cell(kind, DataType.INT32, kind.combines() ? ReduceOp.SUM : null, part, root, inPlace, unequal);
        return CellCall.of(cell, rank, size, values, cut);
    }

    /** Returns the same call on other tensors that have the same elements. Separate buffers stay separate objects. */
    private Collective again(Collective call) {
        return call.on(memory.again(call.in()), memory.again(call.out()));
    }

    /** Runs calls in place. A part is the slice of the full tensor at its offset. */
    private void inPlace() {
        for (CollectiveKind kind : CallFactory.kinds(Cell::mayBeInPlace)) {
            for (boolean unequal : kind.hasParts() ? new boolean[] {false, true} : new boolean[] {false}) {
                for (boolean again : new boolean[] {false, true}) {
                    CellCall made = call(kind, true, unequal, (type, length, isOutput) -> memory.part(0, length));
                    Collective call = made.call();
                    run(
                            (unequal ? "unequal parts" : "in place") + (again ? ", tensors made again" : ""),
                            again ? again(call) : call,
                            made::wrong);
                }
            }
        }
    }

    /** Runs calls whose result begins where the operand ends. */
    private void sideBySide() {
        int total = size * part;
        for (CollectiveKind kind : Cell.KINDS) {
            CellCall made = call(
                    kind,
                    false,
                    false,
                    (type, length, isOutput) -> memory.part(isOutput ? total : total - length, length));
            run("side by side", again(made.call()), made::wrong);
        }
    }

    /** Runs calls in which a rank only sends or only receives. The rank's unused tensor is ignored and may overlap. */
    private void ignored() {
        int total = size * part;
        for (CollectiveKind kind : List.of(CollectiveKind.REDUCE, CollectiveKind.GATHER, CollectiveKind.SCATTER)) {
            boolean isRoot = rank == root;
            CellCall made = call(kind, false, false, (type, length, isOutput) -> {
                int onRoot = isOutput ? total : 0;
                return memory.part(isRoot ? onRoot : 1, length);
            });
            Collective call = made.call();
            if (!isRoot) {
                HostTensor other = memory.cut(0, kind.hasParts() ? total : part);
                boolean sends = kind.in().has(false);
                call = CallFactory.of(kind, sends ? call.in() : other, sends ? other : call.out(), ReduceOp.SUM, root);
            }
            run("ignored tensor", again(call), made::wrong);
        }
    }

    private void nothing() {
        HostTensor none = memory.cut(part / 2, 0);
        HostTensor other = memory.cut(0, 0);
        List<Collective> calls = List.of(
                Collective.allReduce(none, other, ReduceOp.SUM),
                Collective.allGather(none, other),
                Collective.reduceScatter(none, other, ReduceOp.SUM),
                Collective.allToAll(none, none));
        for (Collective call : calls) {
            run("nothing", call, () -> memory.isUnwritten() && memory.guardsHold() ? null : "memory was written");
        }
    }
}
