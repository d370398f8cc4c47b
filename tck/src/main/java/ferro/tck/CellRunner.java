package ferro.tck;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.tck.cells.CallFactory;
import ferro.tck.cells.Cell;
import ferro.tck.cells.CellCall;
import ferro.tck.cells.Operand;
import ferro.tck.cells.ReferenceMath;
import ferro.tck.cells.ReferenceOracle;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Stream;

/** A run of test cells on all ranks of one group, one cell after the other. Each wrong result is reported. */
final class CellRunner {
    private static final int SHOWN = 20;
    /** Number of cells per call of {@link Ranks#run}. A rank that exceeds the time limit of a call counts as hung. */
    private static final int AT_ONCE = 10;

    private final TestedBackend subject;
    private final List<Cell> cells;
    private final Map<DataType, ReferenceOracle> values = new EnumMap<>(DataType.class);
    private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    /** The hashes of all results by rank, for the ranks of this process. */
    private final Map<Integer, long[]> hashes = new ConcurrentSkipListMap<>();

    private CellRunner(TestedBackend subject, int worldSize, List<Cell> cells) {
        this.subject = subject;
        this.cells = cells;
        for (Cell cell : cells) {
            values.computeIfAbsent(cell.type(), type -> new ReferenceOracle(type, worldSize));
        }
    }

    /**
     * Runs all cells or selected cells of one collective kind in a fresh group. Fails with a list of the wrong results.
     */
    static void check(TestedBackend subject, int worldSize, CollectiveKind kind) {
        check(subject, worldSize, subject.runsSelection() ? Cell.selected(kind, worldSize) : Cell.of(kind, worldSize));
    }

    /** Runs cells in a fresh group. Fails with a list of the wrong results. */
    static void check(TestedBackend subject, int worldSize, List<Cell> cells) {
        CellRunner run = new CellRunner(subject, worldSize, cells);
        try (Ranks ranks = subject.group(worldSize)) {
            for (int from = 0; from < cells.size(); from += AT_ONCE) {
                int first = from;
                ranks.run(group -> run.rank(group, first, Math.min(first + AT_ONCE, cells.size())));
            }
        }
        run.agree();
        if (!run.wrong.isEmpty()) {
            StringBuilder text = new StringBuilder(
                    run.wrong.size() + " wrong results in " + cells.size() + " cells x " + worldSize + " ranks:");
            run.wrong.stream().limit(SHOWN).forEach(line -> text.append("\n  ").append(line));
            throw new AssertionError(text.toString());
        }
    }

    /**
     * Makes the call of a cell on one rank, with operands in host memory. The call is blocking if {@code isStarted} is
     * false. Fails if the result is wrong.
     */
    static void make(TestedBackend subject, ProcessGroup group, Cell cell, ReferenceOracle values, boolean isStarted) {
        CellCall made = CellCall.of(cell, group.rank(), group.worldSize(), cell.length() % 2, values);
        Collective call = made.call();
        boolean isRefused = cell.unequal()
                ? isRefused(subject, group, call, "unequal parts")
                : CallFactory.refusal(group, call).isPresent()
                        && subject.refuses(cell.kind().label());
        if (isRefused) {
            return;
        } else if (isStarted) {
            group.submit(call).await();
        } else {
            CallFactory.run(group, call);
        }
        check(group, made, made.wrong());
    }

    /**
     * Makes a call that a back end may refuse without a declaration. Returns whether the back end made the call. This
     * method fails if the result is wrong, or if a refused call has written to memory.
     *
     * @param device device of the operands
     * @param name   name under which a refusal is counted
     */
    static boolean isDone(
            TestedBackend subject, ProcessGroup group, CellCall call, DeviceOperands device, String name) {
        long before = hash(call.out());
        Collective onDevice = device.call(call.call());
        boolean isRefused = isRefused(subject, group, onDevice, name);
        if (!isRefused) {
            CallFactory.run(group, onDevice);
        }
        device.readBack();
        boolean isTouched = isRefused && hash(call.out()) != before;
        check(group, call, isRefused ? isTouched ? "a refused call wrote its output" : null : call.wrong());
        return !isRefused;
    }

    private static void check(ProcessGroup group, CellCall call, String wrong) {
        if (wrong != null) {
            throw new AssertionError(call.cell() + " on rank " + group.rank() + ": " + wrong);
        }
    }

    private void rank(ProcessGroup group, int from, int to) {
        try (DeviceOperands device = DeviceOperands.of(subject, group.rank())) {
            for (int number = from; number < to; number++) {
                Cell cell = cells.get(number);
                CellCall call = CellCall.of(cell, group.rank(), group.worldSize(), number, values.get(cell.type()));
                try {
                    String problem = refusedOrRun(group, number, call, device);
                    if (problem != null) {
                        wrong.add(cell + " on rank " + group.rank() + ": " + problem);
                    }
                } catch (RuntimeException failure) {
                    throw new AssertionError(cell + " on rank " + group.rank() + ": " + failure, failure);
                }
            }
        }
    }

    private String refusedOrRun(ProcessGroup group, int number, CellCall call, DeviceOperands device) {
        Collective onDevice = device.call(call.call());
        if (refused(group, cells.get(number), onDevice)) {
            device.readBack();
            return call.touched();
        }
        if (number % 2 == 0) {
            CallFactory.run(group, onDevice);
        } else {
            group.submit(onDevice).await();
        }
        device.readBack();
        hashes.computeIfAbsent(group.rank(), rank -> new long[cells.size()])[number] = hash(call.out());
        return call.wrong();
    }

    private boolean refused(ProcessGroup group, Cell cell, Collective call) {
        Optional<String> why = CallFactory.refusal(group, call);
        if (why.isEmpty()) {
            return false;
        }
        String named = Stream.of(cell.kind().label(), cell.type().label(), String.valueOf(cell.op()), averages(cell))
                .filter(subject::refuses)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("refused, but not in declaredRefusals: " + why.get()));
        if (group.rank() == 0) {
            subject.refused(named);
        }
        return true;
    }

    private static String averages(Cell cell) {
        boolean isInteger = cell.op() == ReduceOp.AVG && !ReferenceMath.isFloating(cell.type());
        return isInteger ? BackendContract.INTEGER_AVERAGES : "";
    }

    /** Checks that the result of each all-reduce has the same bits on all ranks. */
    private void agree() {
        if (hashes.isEmpty()) {
            // the back end refused every cell on every rank
            return;
        }
        for (int number = 0; number < cells.size(); number++) {
            if (cells.get(number).kind() == CollectiveKind.ALL_REDUCE) {
                agree(number);
            }
        }
    }

    private void agree(int number) {
        int least = hashes.keySet().iterator().next();
        long[] first = hashes.get(least);
        hashes.forEach((rank, own) -> {
            if (own[number] != first[number]) {
                wrong.add(cells.get(number) + ": ranks " + least + " and " + rank + " have different bits");
            }
        });
    }

    static long hash(Operand out) {
        long hash = 17;
        for (long bits : out == null ? new long[0] : out.bits()) {
            hash = hash * 1_000_003 + bits;
        }
        return hash;
    }

    /** Returns whether a back end refuses a call. Counts the refusal under a name on rank 0. */
    static boolean isRefused(TestedBackend subject, ProcessGroup group, Collective call, String name) {
        boolean isRefused = CallFactory.refusal(group, call).isPresent();
        if (isRefused && group.rank() == 0) {
            subject.refused(name);
        }
        return isRefused;
    }
}
