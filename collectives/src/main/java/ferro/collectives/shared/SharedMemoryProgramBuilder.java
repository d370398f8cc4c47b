package ferro.collectives.shared;

import ferro.collectives.shared.Chunks.ChunkPart;
import java.util.Arrays;

/**
 * A builder for the program of one rank.
 *
 * <p>Every program follows the rules in the list, so that any program may follow any other program. A test proves the
 * rules for all programs:
 * <ul>
 *   <li>A rank begins an operation only when all ranks have entered the previous operation (the gate). When all ranks
 *       have entered an operation, all ranks have ended the operation before it. So the rank may overwrite the slot of
 *       chunk 0 of the ended operation.
 *   <li>An operation without slots and flags may begin when all ranks have entered the operation that is
 *       {@link SegmentLayout#HEADERS} - 1 before it. Then all ranks have ended the operation that had the same header
 *       line.
 *   <li>Chunk 1 is written only when all ranks have entered the operation. Chunk i, from {@link SegmentLayout#SLOTS}
 *       on, is written only when all ranks have read chunk i - SLOTS.
 *   <li>A rank ends an operation of at least SLOTS chunks only when all ranks have read chunk (number of chunks -
 *       SLOTS).
 *   <li>Before a rank enters, the rank waits only for the gate.
 * </ul>
 */
final class SharedMemoryProgramBuilder {
    final ProgramCall call;
    final String algorithm;
    final int chunks;
    final int values;
    byte[] kind = new byte[16];
    int[] peer = new int[16];
    int[] value = new int[16];
    int[] chunk = new int[16];
    int[] at = new int[16];
    int[] count = new int[16];
    long[] in = new long[16];
    long[] out = new long[16];
    boolean[] completes = new boolean[16];
    boolean[] multiplies = new boolean[16];
    int size;
    SharedMemoryProgram inTensors;
    boolean needsResults;
    boolean readsOperands;
    boolean readsTensors;
    /**
     * The last step that copied elements of the operand, and the range of the copied elements that no step has
     * combined.
     */
    private int copied;

    private long fresh;
    private long freshEnd;

    /**
     * Begins a program with its gate.
     *
     * @param chunks number of chunks in slots
     * @param values upper bound of the values of flags
     */
    SharedMemoryProgramBuilder(ProgramCall call, String algorithm, int chunks, int values) {
        this.call = call;
        this.algorithm = algorithm;
        this.chunks = chunks;
        this.values = values;
        wait(SharedMemoryProgram.GATE, -1, 0);
    }

    void enter() {
        wait(SharedMemoryProgram.ENTER, -1, 0);
    }

    void awaitEntered(int peer) {
        wait(SharedMemoryProgram.AWAIT_ENTERED, peer, 0);
    }

    void awaitAllEntered() {
        wait(SharedMemoryProgram.AWAIT_ALL_ENTERED, -1, 0);
    }

    /** Waits until all ranks have entered. Continues with {@link #insteadInTensors} if all ranks share tensors. */
    void choose() {
        wait(SharedMemoryProgram.CHOOSE, -1, 0);
    }

    void publish(int value) {
        wait(SharedMemoryProgram.PUBLISH, -1, value);
    }

    void await(int peer, int value) {
        wait(SharedMemoryProgram.AWAIT, peer, value);
    }

    void awaitAll(int value) {
        wait(SharedMemoryProgram.AWAIT_ALL, -1, value);
    }

    void awaitStaged(int peer, int value) {
        wait(SharedMemoryProgram.AWAIT_STAGED, peer, value);
    }

    void awaitAllStaged(int value) {
        wait(SharedMemoryProgram.AWAIT_ALL_STAGED, -1, value);
    }

    void tellRead(int value) {
        wait(SharedMemoryProgram.TELL_READ, -1, value);
    }

    void awaitRead(int peer, int value) {
        wait(SharedMemoryProgram.AWAIT_READ, peer, value);
    }

    void copyIn(long from, ChunkPart to) {
        move(SharedMemoryProgram.COPY_IN, call.rank(), to, from, 0);
    }

    /** Copies elements that this rank combines itself into the segment of this rank. */
    void copyOwnIn(long from, ChunkPart to) {
        move(SharedMemoryProgram.COPY_OWN_IN, call.rank(), to, from, 0);
    }

    /**
     * Copies staged data of a rank. {@code operand} is the first element in that rank's operand, or
     * {@link SharedMemoryProgram#NO_OPERAND}.
     */
    void copyOut(int peer, ChunkPart from, long operand, long to) {
        move(SharedMemoryProgram.COPY_OUT, peer, from, operand, to);
    }

    void copy(long from, long to, int count) {
        move(SharedMemoryProgram.COPY, -1, new ChunkPart(0, 0, count), from, to);
        if (count > 0) {
            copied = size - 1;
            multiplies[copied] = true;
            fresh = to;
            freshEnd = to + count;
        }
    }

    /**
     * Combines data that a rank has staged, from element {@code operand} of the operand of that rank. {@code completes}
     * is true if no operand is missing after the step.
     */
    void combine(byte how, int peer, ChunkPart from, long operand, long to, boolean completes) {
        move(how, peer, from, operand, to);
        if (from.count() > 0) {
            this.completes[size - 1] = completes;
        }
    }

    void copyOver(int peer, ChunkPart to, long from) {
        move(SharedMemoryProgram.COPY_OVER, peer, to, SharedMemoryProgram.NO_OPERAND, from);
    }

    /** Lets headers have the locations of operands. Locations are beside the header, where no other data may be. */
    void readOperands(boolean ifPossible) {
        readsOperands = ifPossible;
        readsTensors |= ifPossible;
    }

    /**
     * Records that other programs continue with this program in shared tensors, even if this rank uses no shared
     * tensors.
     */
    void goesOnInTensors() {
        readsTensors = true;
    }

    /** Sets the program after {@link #choose} for shared operands. {@code writesResults} needs shared results too. */
    void insteadInTensors(SharedMemoryProgram other, boolean writesResults) {
        inTensors = other;
        needsResults = writesResults;
    }

    SharedMemoryProgram build() {
        resize(size);
        return new SharedMemoryProgram(this);
    }

    private void wait(byte what, int whom, int flag) {
        add(what, whom, flag, new ChunkPart(0, 0, 0));
    }

    private void move(byte what, int whom, ChunkPart part, long from, long to) {
        if (part.count() > 0) {
            add(what, whom, 0, part);
            in[size - 1] = from == SharedMemoryProgram.NO_OPERAND ? from : from * call.record();
            out[size - 1] = to * call.record();
            boolean ofResult = what == SharedMemoryProgram.COMBINE || what == SharedMemoryProgram.COMBINE_BOTH;
            if (ofResult && to == fresh && fresh < freshEnd) {
                multiplies[copied] = false;
                multiplies[size - 1] = true;
                fresh += part.count();
            }
        }
    }

    private void add(byte what, int whom, int flag, ChunkPart part) {
        if (size == kind.length) {
            resize(2 * size);
        }
        kind[size] = what;
        peer[size] = whom;
        value[size] = flag;
        chunk[size] = part.chunk();
        at[size] = part.at();
        count[size] = part.count() * call.record();
        size++;
    }

    private void resize(int length) {
        kind = Arrays.copyOf(kind, length);
        peer = Arrays.copyOf(peer, length);
        value = Arrays.copyOf(value, length);
        chunk = Arrays.copyOf(chunk, length);
        at = Arrays.copyOf(at, length);
        count = Arrays.copyOf(count, length);
        in = Arrays.copyOf(in, length);
        out = Arrays.copyOf(out, length);
        completes = Arrays.copyOf(completes, length);
        multiplies = Arrays.copyOf(multiplies, length);
    }
}
