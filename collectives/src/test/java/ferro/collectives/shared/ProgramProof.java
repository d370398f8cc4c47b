package ferro.collectives.shared;

import ferro.CollectiveKind;
import ferro.collectives.plan.Algorithm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Proves the programs of all ranks for a sequence of operations, without memory, threads or trust in how they were made: no
 * deadlock, nothing read before it is published, nothing written that somebody may still read, each operand counted exactly
 * once, the same expression on all ranks.
 *
 * <p>One order stands for all. A wait is for the first publication that satisfies it, so what a rank knows at each step does
 * not depend on the order; two steps that touch the same cell without one knowing of the other are found whichever is run
 * first, by the clocks or by what is read.
 */
final class ProgramProof {
    /** So long that a line holds few elements, and a proof takes little time. */
    static final int UNIT = 16;

    private static final int LINES = SegmentLayout.HEADERS;

    private static final int LINE_CELLS = SegmentLayout.LINE_PAYLOAD_BYTES / UNIT;

    private final int ranks;
    private final int slotCells;
    private final Values values = new Values();
    private final SharedArea[] areas;
    private final SharedArea headers;
    private final int[][] clocks;
    private final int[][] entered;
    private final int[][][] enteredAt;
    private final List<List<int[]>> flags = new ArrayList<>();
    private final int[] flag;
    private final int[] operation;
    private final int[] step;
    private final long[] chunksBefore;
    private final int[] valuesBefore;
    private final Fault fault;
    private List<Run> runs;

    /** Changes the program of one rank for the worse, to see whether that is found. */
    interface Fault {
        /** Leaves programs as they are. */
        Fault NONE = (number, rank, program) -> {};

        /** Plants it in the program of an operation, counted from 0, on a rank. */
        void plant(int number, int rank, SharedMemoryProgram program);
    }

    /** What is wrong. */
    static final class Refuted extends RuntimeException {
        private static final long serialVersionUID = 1;

        Refuted(String why) {
            super(why);
        }
    }

    /**
     * An operation.
     *
     * @param kind      of it
     * @param algorithm which
     * @param elements  of all parts
     * @param root      or 0
     * @param inPlace   whether operand and result are one memory where they may be
     * @param shared    ranks whose operands lie in memory that all share, a bit each
     * @param sharesResults whether their results do too; in place they do in any case
     */
    record Operation(
            CollectiveKind kind,
            String algorithm,
            int elements,
            int root,
            boolean inPlace,
            int shared,
            boolean sharesResults) {
        boolean isShared(int rank) {
            return (shared >> rank & 1) != 0;
        }

        /** Returns whether operands are multiplied where they are first read. */
        boolean isMultiplied() {
            return kind.combines();
        }
    }

    /** An operation on all ranks. */
    private record Run(Operation operation, List<SharedMemoryProgram> programs, RankMemory[] memory) {
        /** Returns whether a rank stages nothing, because others read its operand. */
        boolean isShared(int rank) {
            return programs.get(rank).readsOperands && memory[rank].hasSharedOperand();
        }

        /** Returns whether a program goes on in tensors that all ranks share. */
        boolean choosesTensors(SharedMemoryProgram program) {
            return program.inTensors != null
                    && IntStream.range(0, memory.length)
                            .allMatch(rank -> memory[rank].hasSharedOperand()
                                    && (memory[rank].hasSharedResult() || !program.needsResults));
        }
    }

    ProgramProof(int ranks, int chunkBytes) {
        this(ranks, chunkBytes, Fault.NONE);
    }

    ProgramProof(int ranks, int chunkBytes, Fault fault) {
        this.fault = fault;
        this.ranks = ranks;
        this.slotCells = chunkBytes / UNIT;
        this.areas = new SharedArea[ranks];
        this.headers = new SharedArea(ranks, LINES * ranks);
        this.clocks = new int[ranks][ranks];
        this.entered = new int[ranks][LINES];
        this.enteredAt = new int[ranks][LINES][ranks];
        this.flag = new int[ranks];
        this.operation = new int[ranks];
        this.step = new int[ranks];
        this.chunksBefore = new long[ranks];
        this.valuesBefore = new int[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            areas[rank] = new SharedArea(ranks, LINES * (LINE_CELLS + slotCells) + SegmentLayout.SLOTS * slotCells);
            flags.add(new ArrayList<>());
            clocks[rank][rank] = 1;
        }
    }

    /** Returns what is wrong, naming operation, rank and step. */
    Optional<String> whyNot(List<Operation> operations) {
        runs = new ArrayList<>();
        for (Operation each : operations) {
            Run run = new Run(each, new ArrayList<>(), RankMemory.of(each, ranks, runs.size(), values));
            for (int rank = 0; rank < ranks; rank++) {
                ProgramCall call = new ProgramCall(each.kind, rank, ranks, each.root, each.elements, UNIT, 1);
                SharedMemoryProgram normal =
                        Algorithm.of(each.kind, each.algorithm).program(call, slotCells * UNIT);
                fault.plant(runs.size(), rank, run.choosesTensors(normal) ? normal.inTensors : normal);
                run.programs.add(normal);
            }
            runs.add(run);
        }
        String refuted = run();
        return refuted == null
                ? Expected.whyNot(operations, runs.stream().map(Run::memory).toList(), values)
                : Optional.of(refuted);
    }

    /** Returns the expression of an element of a result, when all operations are proved. */
    String expression(int number, int rank, int element) {
        return values.expression(runs.get(number).memory[rank].out(element));
    }

    private String run() {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (int rank = 0; rank < ranks; rank++) {
                try {
                    moved |= advance(rank);
                } catch (Refuted why) {
                    return where(rank) + why.getMessage();
                }
            }
        }
        for (int rank = 0; rank < ranks; rank++) {
            if (operation[rank] < runs.size()) {
                return where(rank) + "waits for ever";
            }
        }
        return null;
    }

    private String where(int rank) {
        Run run = runs.get(operation[rank]);
        SharedMemoryProgram program = run.programs.get(rank);
        String at = step[rank] < program.size ? program.text(step[rank]) : "after its last step";
        return "operation " + operation[rank] + " " + run.operation + " rank " + rank + " of " + ranks + " " + at
                + ": ";
    }

    private boolean advance(int rank) {
        boolean moved = false;
        while (operation[rank] < runs.size()) {
            Run run = runs.get(operation[rank]);
            if (step[rank] == 0) {
                run.memory[rank].begin(rank, clocks[rank]);
            }
            while (step[rank] < run.programs.get(rank).size) {
                if (!done(rank, run.programs.get(rank), step[rank])) {
                    return moved;
                }
                step[rank]++;
                moved = true;
            }
            run.memory[rank].end(rank, clocks[rank]);
            checkMet(run, rank);
            SharedMemoryProgram program = run.programs.get(rank);
            chunksBefore[rank] += program.chunks;
            valuesBefore[rank] += program.values;
            operation[rank]++;
            step[rank] = 0;
        }
        return moved;
    }

    /** Who leaves a barrier knows that all have come to it, though no data says so. */
    private void checkMet(Run run, int rank) {
        int number = operation[rank] + 1;
        for (int peer = 0; peer < ranks && run.operation.kind == CollectiveKind.BARRIER; peer++) {
            int found = entered[peer][number % LINES];
            if (found < number || found == number && clocks[rank][peer] < enteredAt[peer][number % LINES][peer]) {
                throw new Refuted("leaves without knowing of rank " + peer);
            }
        }
    }

    private boolean done(int rank, SharedMemoryProgram program, int at) {
        switch (program.kind[at]) {
            case SharedMemoryProgram.GATE:
                return all(rank, peer -> hasBegun(rank, peer, operation[rank] - (program.isShort ? LINES - 2 : 0)));
            case SharedMemoryProgram.ENTER:
                enter(rank);
                return true;
            case SharedMemoryProgram.AWAIT_ENTERED:
                return hasEntered(rank, program.peer[at], operation[rank] + 1);
            case SharedMemoryProgram.CHOOSE:
                return isChosen(rank, program);
            case SharedMemoryProgram.AWAIT_ALL_ENTERED:
                return all(rank, peer -> hasEntered(rank, peer, operation[rank] + 1));
            case SharedMemoryProgram.AWAIT_STAGED:
                return isStaged(rank, program.peer[at], program, at);
            case SharedMemoryProgram.AWAIT_ALL_STAGED:
                return all(rank, peer -> isStaged(rank, peer, program, at));
            case SharedMemoryProgram.AWAIT_READ:
                return isRead(rank, program, at);
            case SharedMemoryProgram.TELL_READ:
            case SharedMemoryProgram.PUBLISH:
                publish(rank, valuesBefore[rank] + program.value[at]);
                return true;
            case SharedMemoryProgram.AWAIT:
                return reached(rank, program.peer[at], valuesBefore[rank] + program.value[at]);
            case SharedMemoryProgram.AWAIT_ALL:
                return all(rank, peer -> reached(rank, peer, valuesBefore[rank] + program.value[at]));
            default:
                for (int i = 0; i < program.count[at]; i++) {
                    move(rank, program, at, i);
                }
                return true;
        }
    }

    private boolean isChosen(int rank, SharedMemoryProgram program) {
        if (!all(rank, peer -> hasEntered(rank, peer, operation[rank] + 1))) {
            return false;
        }
        Run run = runs.get(operation[rank]);
        if (run.choosesTensors(program)) {
            run.programs.set(rank, program.inTensors);
            // goes on behind the gate
            step[rank] = 0;
        }
        return true;
    }

    private boolean isStaged(int rank, int peer, SharedMemoryProgram program, int at) {
        Run run = runs.get(operation[rank]);
        boolean passes = run.isShared(rank) || !program.stages;
        return passes && isKnownAsShared(rank, peer) || reached(rank, peer, valuesBefore[rank] + program.value[at]);
    }

    /** A rank that has entered tells whether it stages nothing. */
    private boolean isKnownAsShared(int rank, int peer) {
        int number = operation[rank] + 1;
        int line = SegmentLayout.line(number);
        if (entered[peer][line] != number || clocks[rank][peer] < enteredAt[peer][line][peer]) {
            throw new Refuted("reads where rank " + peer + " has its operand before that is told");
        }
        return runs.get(operation[rank]).isShared(peer);
    }

    private boolean isRead(int rank, SharedMemoryProgram program, int at) {
        int value = valuesBefore[rank] + program.value[at];
        int peer = program.peer[at];
        return !runs.get(operation[rank]).isShared(rank)
                || (peer < 0 ? all(rank, each -> reached(rank, each, value)) : reached(rank, peer, value));
    }

    private boolean all(int rank, IntPredicate wait) {
        for (int peer = 0; peer < ranks; peer++) {
            if (peer != rank && !wait.test(peer)) {
                return false;
            }
        }
        return true;
    }

    /** Operations are counted from 1 in headers, as sequence numbers are. */
    private boolean hasEntered(int rank, int peer, int number) {
        int line = number % LINES;
        if (entered[peer][line] > number) {
            throw new Refuted("finds rank " + peer + " in operation " + (entered[peer][line] - 1) + " already");
        }
        boolean entered = hasBegun(rank, peer, number);
        if (entered && number > 0) {
            headers.read(LINES * peer + line, rank, clocks[rank]);
        }
        return entered;
    }

    /** As {@link #hasEntered}, of an operation before: its header may be gone, and who compares it looks whether it is. */
    private boolean hasBegun(int rank, int peer, int number) {
        int line = Math.max(0, number) % LINES;
        if (number <= 0 || entered[peer][line] < number) {
            return number <= 0;
        }
        join(rank, enteredAt[peer][line]);
        return true;
    }

    private void enter(int rank) {
        int number = operation[rank] + 1;
        int line = number % LINES;
        headers.write(LINES * rank + line, rank, clocks[rank], number);
        entered[rank][line] = number;
        enteredAt[rank][line] = released(rank);
    }

    private void publish(int rank, int value) {
        if (value <= flag[rank] && value > 0) {
            throw new Refuted("sets its flag back to " + value + " from " + flag[rank]);
        }
        flag[rank] = value;
        int[] entry = Arrays.copyOf(released(rank), ranks + 1);
        entry[ranks] = value;
        flags.get(rank).add(entry);
    }

    private int[] released(int rank) {
        int[] now = clocks[rank].clone();
        clocks[rank][rank]++;
        return now;
    }

    private boolean reached(int rank, int peer, int value) {
        for (int[] entry : flags.get(peer)) {
            if (entry[ranks] >= value) {
                join(rank, entry);
                return true;
            }
        }
        return false;
    }

    private void join(int rank, int[] other) {
        for (int i = 0; i < ranks; i++) {
            clocks[rank][i] = Math.max(clocks[rank][i], other[i]);
        }
    }

    private void move(int rank, SharedMemoryProgram program, int at, int index) {
        long from = program.in[at] + index;
        long to = program.out[at] + index;
        int peer = program.peer[at];
        switch (program.kind[at]) {
            case SharedMemoryProgram.COPY_IN -> {
                if (!runs.get(operation[rank]).isShared(rank)) {
                    write(rank, rank, cell(rank, program, at, index), operand(rank, from));
                }
            }
            case SharedMemoryProgram.COPY_OWN_IN ->
                write(rank, rank, cell(rank, program, at, index), operand(rank, from));
            case SharedMemoryProgram.COPY -> copy(rank, program.multiplies[at], from, to);
            case SharedMemoryProgram.COPY_OUT -> out(rank, to, theirs(rank, program, at, index));
            case SharedMemoryProgram.COMBINE ->
                out(rank, to, combined(program, at, first(rank, program, at, to), second(rank, program, at, index)));
            case SharedMemoryProgram.COMBINE_BOTH -> {
                out(rank, to, combined(program, at, first(rank, program, at, to), second(rank, program, at, index)));
                theirs(rank, program, at, index, out(rank, to));
            }
            case SharedMemoryProgram.COPY_OVER -> theirs(rank, program, at, index, out(rank, to));
            default -> {
                int cell = cell(rank, program, at, index);
                int theirs = second(rank, program, at, index);
                write(rank, rank, cell, combined(program, at, read(rank, rank, cell), theirs));
            }
        }
    }

    private void copy(int rank, boolean multiplies, long from, long to) {
        Run run = runs.get(operation[rank]);
        if (run.operation.isMultiplied() && multiplies) {
            out(rank, to, operand(rank, from));
        } else if (!run.memory[rank].isOne(from, to)) {
            out(rank, to, in(rank, from));
        }
    }

    private int first(int rank, SharedMemoryProgram program, int at, long to) {
        return program.multiplies[at] ? multiplied(rank, out(rank, to)) : out(rank, to);
    }

    private int second(int rank, SharedMemoryProgram program, int at, int index) {
        int value = theirs(rank, program, at, index);
        return readsOperand(rank, program, at) ? multiplied(rank, value) : value;
    }

    private int operand(int rank, long element) {
        return multiplied(rank, in(rank, element));
    }

    /** Returns an element of an operand as it is first read: multiplied, if anything is. */
    private int multiplied(int rank, int value) {
        boolean isMultiplied = runs.get(operation[rank]).operation.isMultiplied();
        return value >= 0 && isMultiplied ? values.multiplied(value) : value;
    }

    private int in(int rank, long element) {
        return runs.get(operation[rank]).memory[rank].in(element, rank, clocks[rank]);
    }

    private int out(int rank, long element) {
        return runs.get(operation[rank]).memory[rank].out(element, rank, clocks[rank]);
    }

    private void out(int rank, long element, int value) {
        runs.get(operation[rank]).memory[rank].out(element, rank, clocks[rank], value);
    }

    /** Reads what a step names: an element in a segment, or the same of the operand if that is shared. */
    private int theirs(int rank, SharedMemoryProgram program, int at, int index) {
        int peer = program.peer[at];
        RankMemory memory = runs.get(operation[rank]).memory[peer];
        if (program.chunk[at] == SharedMemoryProgram.OPERAND) {
            return memory.in(program.at[at] / UNIT + index, rank, clocks[rank]);
        }
        return readsOperand(rank, program, at)
                ? memory.in(program.in[at] + index, rank, clocks[rank])
                : read(rank, peer, cell(rank, program, at, index));
    }

    private boolean readsOperand(int rank, SharedMemoryProgram program, int at) {
        boolean staged = program.chunk[at] != SharedMemoryProgram.OPERAND;
        boolean may = program.readsOperands && program.in[at] >= 0;
        return !staged || may && isKnownAsShared(rank, program.peer[at]);
    }

    /** Writes into the result of a rank if a step is for tensors, else into its segment. */
    private void theirs(int rank, SharedMemoryProgram program, int at, int index, int value) {
        int peer = program.peer[at];
        if (program.chunk[at] == SharedMemoryProgram.OPERAND || program.chunk[at] == SharedMemoryProgram.RESULT) {
            runs.get(operation[rank]).memory[peer].out(program.at[at] / UNIT + index, rank, clocks[rank], value);
        } else {
            write(rank, peer, cell(rank, program, at, index), value);
        }
    }

    private int combined(SharedMemoryProgram program, int at, int first, int second) {
        int both = values.combined(first, second);
        return program.completes[at] ? values.completed(both) : both;
    }

    private int read(int rank, int area, int cell) {
        return areas[area].read(cell, rank, clocks[rank]);
    }

    private void write(int rank, int area, int cell, int value) {
        areas[area].write(cell, rank, clocks[rank], value);
    }

    private int cell(int rank, SharedMemoryProgram program, int at, int index) {
        int offset = program.at[at] / UNIT + index;
        if (program.at[at] % UNIT != 0) {
            throw new Refuted("is not aligned");
        }
        if (program.chunk[at] == SharedMemoryProgram.LINE) {
            check(offset, LINE_CELLS);
            return operation[rank] % LINES * LINE_CELLS + offset;
        }
        check(offset, slotCells);
        if (program.chunk[at] == SharedMemoryProgram.SMALL) {
            return LINES * LINE_CELLS + operation[rank] % LINES * slotCells + offset;
        }
        int slot = (int) ((chunksBefore[rank] + program.chunk[at]) % SegmentLayout.SLOTS);
        return LINES * (LINE_CELLS + slotCells) + slot * slotCells + offset;
    }

    private static void check(int offset, int cells) {
        if (offset < 0 || offset >= cells) {
            throw new Refuted("leaves its slot at cell " + offset + " of " + cells);
        }
    }
}
