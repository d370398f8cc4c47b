package ferro.collectives.shared;

import java.util.Arrays;

/**
 * Builds the program of one rank.
 *
 * <p>Every program follows these rules, so that any program may follow any other; a test proves them for all programs:
 * <ul>
 *   <li>A rank begins an operation only when all ranks have entered the operation before (the gate), and so have ended
 *       the one before that. What was written in that earlier operation may be overwritten: the slot of chunk 0.
 *   <li>An operation without slots and flags may begin when all ranks have entered the one {@link SegmentLayout#HEADERS} - 2
 *       before it, and so have ended the one before that, which had its header line.
 *   <li>Chunk 1 is written only when all ranks have entered this operation. Chunk i, from {@link SegmentLayout#SLOTS} on,
 *       is written only when all ranks have read chunk i - SLOTS.
 *   <li>A rank ends an operation of at least SLOTS chunks only when all ranks have read chunk (number of chunks - SLOTS).
 *   <li>A rank waits for nothing but the gate before it enters.
 * </ul>
 */
final class ProgramBuilder {
    private final SharedCall call;
    private final String algorithm;
    private final int chunks;
    private final int values;
    private byte[] kinds = new byte[16];
    private int[][] ints = new int[Field.values().length][16];
    private long[] in = new long[16];
    private long[] out = new long[16];
    private boolean[] completes = new boolean[16];
    private boolean[] multiplies = new boolean[16];
    /** The step that copied elements of the operand last; and those of them that no step has combined yet. */
    private int copied;

    private long fresh;
    private long freshEnd;
    private int size;
    private Program inTensors;
    private boolean needsResults;
    private boolean readsOperands;
    private boolean goesOnInTensors;

    /** Fields of a step that are small numbers. */
    enum Field {
        PEER,
        VALUE,
        CHUNK,
        AT,
        COUNT
    }

    /**
     * Some elements of a chunk.
     *
     * @param chunk  which chunk, or {@link Program#LINE}
     * @param at     first byte in the chunk
     * @param count  elements
     */
    record ChunkPart(int chunk, int at, int count) {}

    /**
     * Begins a program with its gate.
     *
     * @param chunks number of chunks, without the line
     * @param values upper bound of the values of flags
     */
    ProgramBuilder(SharedCall call, String algorithm, int chunks, int values) {
        this.call = call;
        this.algorithm = algorithm;
        this.chunks = chunks;
        this.values = values;
        wait(Program.GATE, -1, 0);
    }

    void enter() {
        wait(Program.ENTER, -1, 0);
    }

    void awaitEntered(int peer) {
        wait(Program.AWAIT_ENTERED, peer, 0);
    }

    void awaitAllEntered() {
        wait(Program.AWAIT_ALL_ENTERED, -1, 0);
    }

    /** Awaits that all have entered; then continues with {@link #insteadInTensors}, if all can. */
    void choose() {
        wait(Program.CHOOSE, -1, 0);
    }

    void publish(int value) {
        wait(Program.PUBLISH, -1, value);
    }

    void await(int peer, int value) {
        wait(Program.AWAIT, peer, value);
    }

    void awaitAll(int value) {
        wait(Program.AWAIT_ALL, -1, value);
    }

    void awaitStaged(int peer, int value) {
        wait(Program.AWAIT_STAGED, peer, value);
    }

    void awaitAllStaged(int value) {
        wait(Program.AWAIT_ALL_STAGED, -1, value);
    }

    void tellRead(int value) {
        wait(Program.TELL_READ, -1, value);
    }

    void awaitRead(int peer, int value) {
        wait(Program.AWAIT_READ, peer, value);
    }

    void awaitAllRead(int value) {
        wait(Program.AWAIT_READ, -1, value);
    }

    void copyIn(long from, ChunkPart to) {
        move(Program.COPY_IN, call.rank(), to, from, 0);
    }

    /** Copies into this rank's segment what it combines there itself. */
    void copyOwnIn(long from, ChunkPart to) {
        move(Program.COPY_OWN_IN, call.rank(), to, from, 0);
    }

    /** Copies what is no operand. */
    void copyOut(int peer, ChunkPart from, long to) {
        copyOut(peer, from, Program.NO_OPERAND, to);
    }

    /** Copies what a rank has staged of its operand, from an element of that operand on. */
    void copyOut(int peer, ChunkPart from, long operand, long to) {
        move(Program.COPY_OUT, peer, from, operand, to);
    }

    void copy(long from, long to, int count) {
        move(Program.COPY, -1, new ChunkPart(0, 0, count), from, to);
        if (count > 0) {
            copied = size - 1;
            multiplies[copied] = true;
            fresh = to;
            freshEnd = to + count;
        }
    }

    /** Combines the same element of all ranks. */
    void combine(int peer, ChunkPart from, long to) {
        combine(peer, from, to, to);
    }

    /** Combines what a rank has staged of its operand, from an element of that operand on. */
    void combine(int peer, ChunkPart from, long operand, long to) {
        move(Program.COMBINE, peer, from, operand, to);
    }

    void combineAreas(int peer, ChunkPart part, long operand) {
        move(Program.COMBINE_AREAS, peer, part, operand, 0);
    }

    /** Combines the same element of all ranks, with the last operand that is missing. */
    void complete(int peer, ChunkPart from, long to) {
        complete(peer, from, to, to);
    }

    /** Combines with the last operand that is missing. */
    void complete(int peer, ChunkPart from, long operand, long to) {
        combine(peer, from, operand, to);
        completes(from);
    }

    /** Combines with the last operand that is missing, into both. */
    void completeBoth(int peer, ChunkPart both, long to) {
        move(Program.COMBINE_BOTH, peer, both, to, to);
        completes(both);
    }

    /** Combines with the last operand that is missing, in the areas. */
    void completeAreas(int peer, ChunkPart part, long operand) {
        combineAreas(peer, part, operand);
        completes(part);
    }

    private void completes(ChunkPart part) {
        if (part.count > 0) {
            completes[size - 1] = true;
        }
    }

    void copyOver(int peer, ChunkPart to, long from) {
        move(Program.COPY_OVER, peer, to, Program.NO_OPERAND, from);
    }

    /** Lets headers tell where operands lie, in the place beside the header; nothing else may lie there. */
    void readOperands(boolean ifPossible) {
        readsOperands = ifPossible;
    }

    /** Notes that other programs go on in this one, in tensors that all ranks share, though a rank may have no part in them. */
    void goesOnInTensors() {
        goesOnInTensors = true;
    }

    /** Sets the program that goes on from {@link #choose} in shared operands. */
    void insteadInOperands(Program other) {
        inTensors = other;
    }

    /** Sets the program that goes on from {@link #choose} in shared operands and results. */
    void insteadInTensors(Program other) {
        inTensors = other;
        needsResults = true;
    }

    Program build() {
        return new Program(this);
    }

    private void wait(byte kind, int peer, int value) {
        add(kind, peer, value, new ChunkPart(0, 0, 0));
    }

    private void move(byte kind, int peer, ChunkPart part, long from, long to) {
        if (part.count > 0) {
            add(kind, peer, 0, part);
            in[size - 1] = from;
            out[size - 1] = to;
            boolean ofResult = kind == Program.COMBINE || kind == Program.COMBINE_BOTH;
            if (ofResult && to == fresh && fresh < freshEnd) {
                multiplies[copied] = false;
                multiplies[size - 1] = true;
                fresh += part.count;
            }
        }
    }

    private void add(byte kind, int peer, int value, ChunkPart part) {
        if (size == kinds.length) {
            int longer = 2 * size;
            kinds = Arrays.copyOf(kinds, longer);
            in = Arrays.copyOf(in, longer);
            out = Arrays.copyOf(out, longer);
            completes = Arrays.copyOf(completes, longer);
            multiplies = Arrays.copyOf(multiplies, longer);
            Arrays.setAll(ints, field -> Arrays.copyOf(ints[field], longer));
        }
        kinds[size] = kind;
        ints[Field.PEER.ordinal()][size] = peer;
        ints[Field.VALUE.ordinal()][size] = value;
        ints[Field.CHUNK.ordinal()][size] = part.chunk;
        ints[Field.AT.ordinal()][size] = part.at;
        ints[Field.COUNT.ordinal()][size] = part.count;
        size++;
    }

    String algorithm() {
        return algorithm;
    }

    Program inTensors() {
        return inTensors;
    }

    boolean needsResults() {
        return needsResults;
    }

    boolean readsOperands() {
        return readsOperands;
    }

    boolean readsTensors() {
        return readsOperands || goesOnInTensors;
    }

    /** Returns the bytes of an element of the tensors, which the counts and places of the steps count. */
    int unit() {
        return call.unit() / call.record();
    }

    int chunks() {
        return chunks;
    }

    int values() {
        return values;
    }

    int size() {
        return size;
    }

    byte[] kinds() {
        return Arrays.copyOf(kinds, size);
    }

    int[] ints(Field field) {
        int[] copy = Arrays.copyOf(ints[field.ordinal()], size);
        if (field == Field.COUNT && call.record() > 1) {
            Arrays.setAll(copy, step -> copy[step] * call.record());
        }
        return copy;
    }

    boolean[] completes() {
        return Arrays.copyOf(completes, size);
    }

    boolean[] multiplies() {
        return Arrays.copyOf(multiplies, size);
    }

    long[] longs(boolean ofOperand) {
        long[] copy = Arrays.copyOf(ofOperand ? in : out, size);
        if (call.record() > 1) {
            Arrays.setAll(copy, step -> copy[step] == Program.NO_OPERAND ? copy[step] : copy[step] * call.record());
        }
        return copy;
    }
}
