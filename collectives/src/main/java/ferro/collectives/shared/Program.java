package ferro.collectives.shared;

/**
 * The steps of one rank in one collective over shared memory, as data. The steps are in order, and each field is an
 * array, so that running them allocates nothing and looks nothing up.
 *
 * <p>Data is staged in chunks. Chunk i lies in slot (c + i) mod {@link SegmentLayout#SLOTS} of a segment, where c counts
 * the chunks of all earlier operations. Chunk {@link #LINE} is the payload of the header line, and
 * chunk {@link #SMALL} the room for little data that belongs to that line. Flags count up over all
 * operations; the values here begin at 0 with each operation.
 */
public final class Program {
    private static final int MARK = 1024;
    /** The chunk that lies beside the header. */
    static final int LINE = -1;

    /** The chunk that is the room for little data beside the header. */
    static final int SMALL = -3;

    /** The chunk that is the tensor of a rank, in memory that all ranks share. */
    static final int TENSOR = -2;

    /**
     * Waits until every rank has entered the operation before this one, or an earlier one if the program {@link #isShort};
     * first step of each program.
     */
    static final byte GATE = 0;
    /** Publishes the header: this rank is in this operation, and the data that it has staged for it can be read. */
    static final byte ENTER = 1;
    /** Waits until a rank has entered, and compares headers. */
    static final byte AWAIT_ENTERED = 2;
    /** Waits until all ranks have entered, and compares headers. */
    static final byte AWAIT_ALL_ENTERED = 3;
    /**
     * As {@link #AWAIT_ALL_ENTERED}; then continues with {@link #late}, unless the tensors of all ranks lie in memory
     * that they share.
     */
    static final byte CHOOSE = 4;
    /** Waits until all ranks have entered, and until those whose tensors lie in shared memory have set their flags. */
    static final byte AWAIT_ALL_STAGED = 5;
    /** Sets this rank's flag. */
    static final byte PUBLISH = 6;
    /** Waits for the flag of a rank. */
    static final byte AWAIT = 7;
    /** Waits for the flags of all other ranks. */
    static final byte AWAIT_ALL = 8;
    /** Copies from the operand into this rank's segment. */
    static final byte COPY_IN = 9;
    /** Copies from a rank's segment into the result. */
    static final byte COPY_OUT = 10;
    /** Copies from the operand to the result; copies nothing where both are the same memory. */
    static final byte COPY = 11;
    /** Combines a rank's segment into the result. */
    static final byte COMBINE = 12;
    /** Combines the result and a rank's segment into both. */
    static final byte COMBINE_BOTH = 13;
    /** Combines a rank's segment into the same place of this rank's segment. */
    static final byte COMBINE_AREAS = 14;
    /** Copies from the result into a rank's tensor. */
    static final byte COPY_OVER = 15;

    /**
     * The program that runs instead if this rank's operand and result are one tensor in memory that the ranks share; else
     * null. It enters at once, and then {@link #CHOOSE}s.
     */
    final Program inTensors;
    /**
     * In a program for tensors in shared memory: the program that runs if not the tensors of all ranks are shared. Both
     * have the same steps up to the choice.
     */
    final Program late;

    final String algorithm;
    final int size;
    final byte[] kind;
    /** The rank that a step waits for, or whose segment it accesses. */
    final int[] peer;
    /** Value of a flag. */
    final int[] value;

    final int[] chunk;
    /** First byte in the chunk. */
    final int[] at;
    /** First elements in operand and result. */
    final long[] in;

    final long[] out;
    final int[] count;
    /** Of a combine: whether its elements are combined of the operands of all ranks then, so that an average is divided. */
    final boolean[] completes;
    /** Number of chunks of the operation, equal on all ranks. */
    final int chunks;
    /** An upper bound of the values of flags, which begin at 1; equal on all ranks. */
    final int values;

    /** Whether it uses neither slots nor flags, so that a rank may be several such operations ahead of the others. */
    final boolean isShort;

    /** Bytes of a slot that the operation uses. */
    final int slotBytes;
    /** The step by which this rank enters. */
    final int entered;
    /**
     * Whether a rank, once it has entered, only waits for others to have entered, and moves data. A blocking call runs
     * such a program on the fast path.
     */
    final boolean isDirect;

    /** Sums over the first steps, one per {@code MARK} steps, so that a progress report does not walk a long program. */
    private final long[] movedBefore;

    private final long[] receivedBefore;

    Program(ProgramBuilder builder) {
        this.inTensors = builder.inTensors();
        this.late = builder.late();
        this.algorithm = builder.algorithm();
        this.size = builder.size();
        this.kind = builder.kinds();
        this.peer = builder.ints(ProgramBuilder.Field.PEER);
        this.value = builder.ints(ProgramBuilder.Field.VALUE);
        this.chunk = builder.ints(ProgramBuilder.Field.CHUNK);
        this.at = builder.ints(ProgramBuilder.Field.AT);
        this.count = builder.ints(ProgramBuilder.Field.COUNT);
        this.completes = builder.completes();
        this.in = builder.longs(true);
        this.out = builder.longs(false);
        this.chunks = builder.chunks();
        this.values = builder.values();
        this.isShort = chunks == 0 && values == 0;
        this.movedBefore = new long[size / MARK + 1];
        this.receivedBefore = new long[size / MARK + 1];
        for (int mark = 1; mark < movedBefore.length; mark++) {
            movedBefore[mark] = moved(mark * MARK);
            receivedBefore[mark] = received(mark * MARK);
        }
        this.slotBytes = slotBytes(builder.unit());
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
        while (kind[step] == COPY_IN) {
            step++;
        }
        return step;
    }

    private boolean looksDirect() {
        boolean direct = kind[entered] == ENTER;
        for (int i = entered + 1; i < size; i++) {
            direct &= kind[i] == AWAIT_ENTERED || kind[i] > COPY_IN;
        }
        return direct;
    }

    /**
     * Returns the name of the algorithm, which is part of the fingerprint of its operations.
     *
     * @return for example {@code halfInPlace}
     */
    public String algorithm() {
        return algorithm;
    }

    /**
     * Returns the number of steps.
     *
     * @return steps
     */
    public int steps() {
        return size;
    }

    /**
     * Returns how many elements this rank writes for other ranks and reads from them.
     *
     * @return elements
     */
    public long movedElements() {
        return moved(size);
    }

    /** Returns how many elements the first steps move. */
    long moved(int steps) {
        int mark = Math.max(0, (steps - 1) / MARK);
        long sum = movedBefore[mark];
        for (int i = mark * MARK; i < steps; i++) {
            sum += switch (kind[i]) {
                case COPY_IN, COPY_OUT, COMBINE, COMBINE_AREAS, COPY_OVER -> count[i];
                case COMBINE_BOTH -> 2L * count[i];
                default -> 0;
            };
        }
        return sum;
    }

    /** Returns how many elements of other ranks the first steps read. */
    long received(int steps) {
        int mark = Math.max(0, (steps - 1) / MARK);
        long sum = receivedBefore[mark];
        for (int i = mark * MARK; i < steps; i++) {
            sum += switch (kind[i]) {
                case COPY_OUT, COMBINE, COMBINE_AREAS, COMBINE_BOTH -> count[i];
                default -> 0;
            };
        }
        return sum;
    }

    /** Describes a step, for messages about wrong programs. */
    String text(int step) {
        String name = switch (kind[step]) {
            case GATE -> "gate";
            case ENTER -> "enter";
            case AWAIT_ENTERED -> "await entered";
            case AWAIT_ALL_ENTERED -> "await all entered";
            case CHOOSE -> "choose";
            case AWAIT_ALL_STAGED -> "await all staged";
            case PUBLISH -> "publish";
            case AWAIT -> "await";
            case AWAIT_ALL -> "await all";
            case COPY_IN -> "copy in";
            case COPY_OUT -> "copy out";
            case COPY -> "copy";
            case COMBINE -> completes[step] ? "complete" : "combine";
            case COMBINE_BOTH -> completes[step] ? "complete both" : "combine both";
            case COMBINE_AREAS -> completes[step] ? "complete areas" : "combine areas";
            default -> "copy over";
        };
        return "step " + step + " of " + size + " (" + name + ", peer " + peer[step] + ", value " + value[step]
                + ", chunk " + chunk[step] + " byte " + at[step] + ", " + count[step] + " elements)";
    }
}
