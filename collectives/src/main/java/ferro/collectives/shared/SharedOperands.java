package ferro.collectives.shared;

import ferro.HostTensor;
import java.nio.ByteBuffer;

/**
 * The locations of the operands and results of all ranks in shared memory, for the current operation. Only the thread
 * that makes progress uses this object.
 */
final class SharedOperands {
    /** Size below which operands are staged, because their copy takes less time than a wait for all readers. */
    private static final long BYTES_LEAST = 4 << 10;

    private final int worldSize;
    private final SharedProgress standing;
    private final SharedTensors tensors;
    private long operand;
    private long operandStart;
    private long result;
    private long resultStart;

    SharedOperands(int worldSize, SharedProgress standing, SharedTensors tensors) {
        this.worldSize = worldSize;
        this.standing = standing;
        this.tensors = tensors;
    }

    /** Finds the locations of this rank's tensors. */
    void find(SharedMemoryProgram work, HostTensor in, HostTensor out) {
        boolean isLong = in != null && in.byteCount() >= BYTES_LEAST;
        operand = work.readsOperands && isLong ? tensors.number(in) : 0;
        operandStart = operand == 0 ? 0 : in.offset();
        result = operand == 0 || !work.needsResults ? 0 : tensors.number(out);
        resultStart = result == 0 ? 0 : out.offset();
    }

    /** Returns whether other ranks read this rank's operand directly, so that this rank stages nothing. */
    boolean isShared() {
        return operand != 0;
    }

    /** Writes the locations of this rank's tensors into the header that this rank enters next. */
    void tell(SharedMemoryProgram work) {
        if (work.readsOperands) {
            standing.putWord(SegmentLayout.OPERAND, operand);
            standing.putWord(SegmentLayout.OPERAND_START, operandStart);
        }
        if (work.needsResults) {
            standing.putWord(SegmentLayout.RESULT, result);
            standing.putWord(SegmentLayout.RESULT_START, resultStart);
        }
    }

    /**
     * Returns whether a program continues in tensors that all ranks share. The caller has checked that all ranks
     * entered.
     */
    boolean usesSharedTensors(SharedMemoryProgram work) {
        boolean chosen = work.inTensors != null;
        for (int peer = 0; peer < worldSize && chosen; peer++) {
            chosen = standing.word(peer, SegmentLayout.OPERAND) != 0
                    && (!work.needsResults || standing.word(peer, SegmentLayout.RESULT) != 0);
        }
        return chosen;
    }

    /** Returns whether any rank stages nothing. The result may be wrong about ranks that have not entered. */
    boolean isAnyShared() {
        for (int peer = 0; peer < worldSize && !tensors.isEmpty(); peer++) {
            if (standing.word(peer, SegmentLayout.OPERAND) != 0) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether a step reads the operand of a rank directly, instead of a segment. */
    boolean readsPeerTensor(SharedMemoryProgram work, int step) {
        return work.readsOperands && work.in[step] >= 0 && standing.word(work.peer[step], SegmentLayout.OPERAND) != 0;
    }

    /** Returns whether operand and result of a rank are the same memory. */
    boolean isInPlace(int peer) {
        return standing.word(peer, SegmentLayout.OPERAND) == standing.word(peer, SegmentLayout.RESULT)
                && standing.word(peer, SegmentLayout.OPERAND_START) == standing.word(peer, SegmentLayout.RESULT_START);
    }

    /** Returns whether a step accesses the operand or the result of a rank, instead of a segment. */
    boolean accessesPeerTensor(SharedMemoryProgram work, int step) {
        int chunk = work.chunk[step];
        return chunk == SharedMemoryProgram.OPERAND
                || chunk == SharedMemoryProgram.RESULT
                || readsPeerTensor(work, step);
    }

    /** Returns the shared memory that a step accesses, if {@link #accessesPeerTensor} is true. */
    ByteBuffer memory(SharedMemoryProgram work, int step) {
        int peer = work.peer[step];
        return work.chunk[step] == SharedMemoryProgram.RESULT
                ? result(peer)
                : tensors.area(standing.word(peer, SegmentLayout.OPERAND), peer);
    }

    /** Returns the first byte that a step accesses in {@link #memory}, for elements of {@code unit} bytes. */
    int at(SharedMemoryProgram work, int step, int unit) {
        int peer = work.peer[step];
        return switch (work.chunk[step]) {
            case SharedMemoryProgram.RESULT -> resultAt(work, step);
            case SharedMemoryProgram.OPERAND -> (int) standing.word(peer, SegmentLayout.OPERAND_START) + work.at[step];
            default -> (int) standing.word(peer, SegmentLayout.OPERAND_START) + (int) work.in[step] * unit;
        };
    }

    ByteBuffer result(int peer) {
        return tensors.area(standing.word(peer, SegmentLayout.RESULT), peer);
    }

    /** Returns the first byte of a step in the result of the rank that the step names. */
    int resultAt(SharedMemoryProgram work, int step) {
        return (int) standing.word(work.peer[step], SegmentLayout.RESULT_START) + work.at[step];
    }
}
