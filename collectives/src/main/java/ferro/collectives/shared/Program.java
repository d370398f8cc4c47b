package ferro.collectives.shared;

/**
 * What one rank does in one collective over shared memory, as data: steps in order, a field an array, so that running them
 * allocates and looks up nothing.
 *
 * <p>Data is staged in chunks. Chunk i lies in slot (c + i) mod {@link AreaLayout#SLOTS} of an area, where c counts the
 * chunks of all operations before; chunk {@link #LINE} is the payload of the header line. Flags count up over all
 * operations; the values here begin at 0 with each.
 */
public final class Program {
    private static final int MARK = 1024;
    /** The chunk that lies beside the header. */
    static final int LINE = -1;

    /** The chunk that is the tensor of a rank, in memory that all ranks share. */
    static final int TENSOR = -2;

    /** Waits until every rank has entered the operation before; first step of each program. */
    static final byte GATE = 0;
    /** Publishes the header: this rank is in this operation, and what it has written for it can be read. */
    static final byte ENTER = 1;
    /** Waits until a rank has entered, and compares headers. */
    static final byte AWAIT_ENTERED = 2;
    /** Waits until all ranks have. */
    static final byte AWAIT_ALL_ENTERED = 3;
    /**
     * As {@link #AWAIT_ALL_ENTERED}; then, unless the tensors of all ranks lie in memory that they share, goes on in
     * {@link #late}.
     */
    static final byte CHOOSE = 4;
    /** Waits until all ranks have entered, and those whose tensors lie in shared memory have set their flags. */
    static final byte AWAIT_ALL_STAGED = 5;
    /** Sets this rank's flag. */
    static final byte PUBLISH = 6;
    /** Waits for the flag of a rank. */
    static final byte AWAIT = 7;
    /** Waits for the flags of all other ranks. */
    static final byte AWAIT_ALL = 8;
    /** Copies from the operand into this rank's area. */
    static final byte COPY_IN = 9;
    /** Copies from a rank's area into the result. */
    static final byte COPY_OUT = 10;
    /** Copies from the operand to the result, nothing where they are the same memory. */
    static final byte COPY = 11;
    /** Combines a rank's area into the result. */
    static final byte COMBINE = 12;
    /** Combines the result and a rank's area into both. */
    static final byte COMBINE_BOTH = 13;
    /** Combines a rank's area into the same place of this rank's. */
    static final byte COMBINE_AREAS = 14;
    /** Copies from the result into a rank's tensor. */
    static final byte COPY_OVER = 15;

    /**
     * What is done instead if this rank's operand and result are one tensor in memory that the ranks share; else null. It
     * enters at once, and then {@link #CHOOSE}s.
     */
    final Program inTensors;
    /** Of a program for tensors in shared memory: what is done if not all ranks' are, step for step the same up to the choice. */
    final Program late;

    final String algorithm;
    final int size;
    final byte[] kind;
    /** Of waits, and whose area is touched. */
    final int[] peer;
    /** Of flags. */
    final int[] value;

    final int[] chunk;
    /** Byte in the chunk. */
    final int[] at;
    /** Elements of operand and result. */
    final long[] in;

    final long[] out;
    final int[] count;
    /** How many chunks the operation has, equal on all ranks. */
    final int chunks;
    /** At least as large as all values of flags, which begin at 1; equal on all ranks. */
    final int values;

    /** The step by which this rank enters. */
    final int entered;
    /** Whether a rank enters, and then only waits for others to have entered, and moves data: what a blocking call takes at once. */
    final boolean isDirect;

    /** Sums over the first steps, at every so many, so that a long program is not walked to say how far it is. */
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
        this.in = builder.longs(true);
        this.out = builder.longs(false);
        this.chunks = builder.chunks();
        this.values = builder.values();
        this.movedBefore = new long[size / MARK + 1];
        this.receivedBefore = new long[size / MARK + 1];
        for (int mark = 1; mark < movedBefore.length; mark++) {
            movedBefore[mark] = moved(mark * MARK);
            receivedBefore[mark] = received(mark * MARK);
        }
        this.entered = enters();
        this.isDirect = looksDirect();
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
     * Returns how many elements this rank writes for other ranks and reads of theirs.
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

    /** Says what a step is, for messages about programs that are wrong. */
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
            case COMBINE -> "combine";
            case COMBINE_BOTH -> "combine both";
            case COMBINE_AREAS -> "combine areas";
            default -> "copy over";
        };
        return "step " + step + " of " + size + " (" + name + ", peer " + peer[step] + ", value " + value[step]
                + ", chunk " + chunk[step] + " byte " + at[step] + ", " + count[step] + " elements)";
    }
}
