package ferro.collectives.shared;

/**
 * The steps of one rank in one collective over shared memory, as data. The steps are in order. Each property of the
 * steps is an array, so that a run allocates nothing and searches nothing.
 *
 * <p>Data is staged in chunks. Chunk i is in slot (c + i) mod {@link SegmentLayout#SLOTS} of a segment, where c counts
 * the chunks of all earlier operations. Chunk {@link #LINE} is the payload of the header line, and chunk {@link #SMALL}
 * is the buffer for small data of the header line. Flags count up over all operations, but the flag values in a program
 * begin at 0 for each operation.
 */
public final class SharedMemoryProgram {
    private static final int MARK = 1024;
    /** The chunk that is beside the header in the header line. */
    static final int LINE = -1;

    /** The chunk in the buffer for small data of the header line. */
    static final int SMALL = -3;

    /** The chunk that is the operand of a rank, in memory that all ranks share. */
    static final int OPERAND = -2;

    /** The chunk that is the result of a rank, in memory that all ranks share. */
    static final int RESULT = -4;

    /** The operand position of a step that reads data of a segment that is not part of an operand. */
    static final long NO_OPERAND = -1;

    /**
     * Waits until every rank has entered the previous operation, or an earlier operation if {@link #isShort} is true.
     * The first step of each program is a gate.
     */
    static final byte GATE = 0;
    /** Publishes the header, which shows that this rank is in this operation and that its staged data can be read. */
    static final byte ENTER = 1;
    /** Waits until a rank has entered, and compares the header of the rank with the own header. */
    static final byte AWAIT_ENTERED = 2;
    /** Waits until all ranks have entered, and compares the headers of all ranks with the own header. */
    static final byte AWAIT_ALL_ENTERED = 3;
    /** Waits as {@link #AWAIT_ALL_ENTERED}. If all tensors are shared, continues at {@link #inTensors} unless null. */
    static final byte CHOOSE = 4;
    /** Sets this rank's flag. */
    static final byte PUBLISH = 5;
    /** Waits for the flag of a rank. */
    static final byte AWAIT = 6;
    /** Waits for the flags of all other ranks. */
    static final byte AWAIT_ALL = 7;
    /** Waits for the flag of a rank. A rank that stages nothing does not wait for another rank that stages nothing. */
    static final byte AWAIT_STAGED = 8;
    /**
     * Waits for the flags of all other ranks. A rank that stages nothing does not wait for ranks that stage nothing.
     */
    static final byte AWAIT_ALL_STAGED = 9;
    /** Sets this rank's flag, because this rank has read all operands that it needs. */
    static final byte TELL_READ = 10;
    /** Waits for the flag of a rank, or of all other ranks, if these ranks read this rank's operand directly. */
    static final byte AWAIT_READ = 11;
    /** Copies from the operand into this rank's segment, unless other ranks read the operand directly. */
    static final byte COPY_IN = 12;
    /** Copies from the operand into this rank's segment, where this rank combines the elements. */
    static final byte COPY_OWN_IN = 13;
    /** Copies from a rank's segment into the result. */
    static final byte COPY_OUT = 14;
    /** Copies from the operand to the result, unless both are the same memory. */
    static final byte COPY = 15;
    /** Combines a rank's segment into the result. */
    static final byte COMBINE = 16;
    /** Combines the result and a rank's segment, and writes the combined elements to both. */
    static final byte COMBINE_BOTH = 17;
    /** Combines a rank's segment into the same position of this rank's segment. */
    static final byte COMBINE_AREAS = 18;
    /** Copies from the result into a rank's result, in memory that all ranks share. */
    static final byte COPY_OVER = 19;

    /** Names of the kinds, for messages about wrong programs. */
    private static final String[] NAMES = {
        "gate", "enter", "await entered", "await all entered", "choose", "publish", "await", "await all",
        "await staged", "await all staged", "tell read", "await read", "copy in", "copy own in", "copy out", "copy",
        "combine", "combine both", "combine areas", "copy over"
    };

    /**
     * The program that continues after {@link #CHOOSE}, from the step after its gate; null if no program can continue
     * in shared tensors. The program needs the operands of all ranks in shared memory. If {@link #needsResults}, the
     * program also needs the results of all ranks in shared memory.
     */
    final SharedMemoryProgram inTensors;
    /** Whether ranks write the results of other ranks in {@link #inTensors}. */
    final boolean needsResults;
    /**
     * Whether headers have the locations of operands in shared memory. A rank whose operand is in shared memory stages
     * nothing. Other ranks read an operand in shared memory directly, not in a segment.
     */
    final boolean readsOperands;
    /** Whether any rank may read or write tensors of other ranks in shared memory. */
    final boolean readsTensors;
    /** Whether a rank writes into its own segment if its operand is not shared. */
    final boolean stages;

    final String algorithm;
    final int size;
    final byte[] kind;
    /** The rank that a step waits for, or whose segment a step accesses. */
    final int[] peer;
    /** The value of a flag that a step sets or waits for. */
    final int[] value;

    final int[] chunk;
    /** The first byte of a step's elements in the chunk. */
    final int[] at;
    /**
     * The first element of a step in the operand; {@code out} is the first element in the result. If a step reads the
     * segment of a rank, the operand is the operand of that rank. {@link #NO_OPERAND} means that the segment has other
     * data.
     */
    final long[] in;

    final long[] out;
    final int[] count;
    /** Whether a combine leaves no operand missing in its elements, so that an average can be divided. */
    final boolean[] completes;
    /**
     * Whether a step is the first step that reads elements of this rank's operand and can multiply the elements. If the
     * elements are first copied to the result and then combined there, the step is this combine. If no combine follows
     * the copy to the result, the step is the copy.
     */
    final boolean[] multiplies;
    /** Number of chunks of the operation, equal on all ranks. */
    final int chunks;
    /** An upper bound of the values of flags, which begin at 1; equal on all ranks. */
    final int values;

    /**
     * Whether the program uses neither slots nor flags. A rank may be several operations of short programs ahead of
     * other ranks.
     */
    final boolean isShort;

    /**
     * Whether slots also have results, which other ranks may write. Even operations on shared operands need slots for
     * results.
     */
    final boolean keepsResults;

    /** Number of bytes of a slot that the operation uses. */
    final int slotBytes;
    /** The step in which this rank enters the operation. */
    final int entered;
    /**
     * Whether the program, once this rank has entered, only moves data and waits until other ranks have entered or
     * read. A blocking call runs a direct program on the fast path.
     */
    final boolean isDirect;

    /** Sums over the first steps, one sum per {@code MARK} steps, so that a progress report visits few steps. */
    private final long[] movedBefore;

    private final long[] receivedBefore;

    SharedMemoryProgram(SharedMemoryProgramBuilder builder) {
        this.inTensors = builder.inTensors;
        this.needsResults = builder.needsResults;
        this.readsOperands = builder.readsOperands;
        this.readsTensors = builder.readsTensors;
        this.algorithm = builder.algorithm;
        this.size = builder.size;
        this.kind = builder.kind;
        this.peer = builder.peer;
        this.value = builder.value;
        this.chunk = builder.chunk;
        this.at = builder.at;
        this.count = builder.count;
        this.completes = builder.completes;
        this.multiplies = builder.multiplies;
        this.in = builder.in;
        this.out = builder.out;
        this.chunks = builder.chunks;
        this.values = builder.values;
        this.isShort = chunks == 0 && values == 0;
        this.movedBefore = new long[size / MARK + 1];
        this.receivedBefore = new long[size / MARK + 1];
        for (int mark = 1; mark < movedBefore.length; mark++) {
            movedBefore[mark] = moved(mark * MARK);
            receivedBefore[mark] = received(mark * MARK);
        }
        this.slotBytes = slotBytes(builder.call.unit() / builder.call.record());
        this.stages = count(COPY_IN) > 0;
        this.keepsResults = count(COMBINE_BOTH) + count(COMBINE_AREAS) + count(COPY_OWN_IN) > 0;
        this.entered = enters();
        this.isDirect = looksDirect();
    }

    private int slotBytes(int unit) {
        int most = 0;
        for (int i = 0; i < size; i++) {
            if (chunk[i] >= 0 && kind[i] >= COPY_IN && kind[i] != COPY) {
                most = Math.max(most, at[i] + count[i] * unit);
            }
        }
        return most;
    }

    private int enters() {
        int step = 1;
        while (kind[step] == COPY_IN || kind[step] == COPY_OWN_IN) {
            step++;
        }
        return step;
    }

    private boolean looksDirect() {
        boolean direct = kind[entered] == ENTER;
        for (int i = entered + 1; i < size; i++) {
            direct &= kind[i] == AWAIT_ENTERED || kind[i] == TELL_READ || kind[i] == AWAIT_READ || kind[i] > COPY_IN;
        }
        return direct;
    }

    private int count(byte wanted) {
        int found = 0;
        for (byte each : kind) {
            found += each == wanted ? 1 : 0;
        }
        return found;
    }

    /**
     * Returns the name of the algorithm, which is part of the fingerprint of its operations.
     *
     * @return for example {@code halfInPlace}
     */
    public String algorithm() {
        return algorithm;
    }

    /** Returns the number of steps. */
    public int steps() {
        return size;
    }

    /** Returns the number of elements that this rank writes for other ranks or reads from other ranks. */
    public long movedElements() {
        return moved(size);
    }

    /** Returns whether a step writes into the result of another rank. */
    boolean writesResult(int step) {
        return kind[step] == COPY_OVER || kind[step] == COMBINE_BOTH && chunk[step] == OPERAND;
    }

    /** Returns how many elements the first {@code steps} steps move. */
    long moved(int steps) {
        return sum(steps, movedBefore, false);
    }

    /** Returns how many elements of other ranks the first steps read. */
    long received(int steps) {
        return sum(steps, receivedBefore, true);
    }

    private long sum(int steps, long[] before, boolean ofReceived) {
        int mark = Math.max(0, (steps - 1) / MARK);
        long sum = before[mark];
        for (int i = mark * MARK; i < steps; i++) {
            sum += switch (kind[i]) {
                case COPY_OUT, COMBINE, COMBINE_AREAS -> count[i];
                case COMBINE_BOTH -> ofReceived ? count[i] : 2L * count[i];
                case COPY_IN, COPY_OWN_IN, COPY_OVER -> ofReceived ? 0 : count[i];
                default -> 0;
            };
        }
        return sum;
    }

    /** Describes a step, for messages about wrong programs. */
    String text(int step) {
        String name = completes[step] ? NAMES[kind[step]].replace("combine", "complete") : NAMES[kind[step]];
        return "step " + step + " of " + size + " (" + name + ", peer " + peer[step] + ", value " + value[step]
                + ", chunk " + chunk[step] + " byte " + at[step] + ", " + count[step] + " elements)";
    }
}
