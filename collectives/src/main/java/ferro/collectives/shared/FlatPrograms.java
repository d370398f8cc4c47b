package ferro.collectives.shared;

import ferro.CollectiveKind;
import ferro.collectives.shared.Chunks.ChunkPart;

/**
 * Programs for small data, and the barrier. In these programs, a rank stages all its data at once. Each rank that needs
 * the result reads the operands of the other ranks.
 *
 * <p>In an all-reduce and a reduce-scatter, every rank combines in rank order, so that all results have the same bits.
 * The order of the first two operands does not change the bits. So ranks 0 and 1 of a reduce-scatter may begin with
 * their own operand. All other ranks stage their own operand. The root of a reduce begins with its own operand, which
 * the root does not stage.
 */
public final class FlatPrograms {
    private static final String NAME = "flat";

    private FlatPrograms() {}

    /**
     * Makes the program of one rank. One chunk has all data, so a chunk size that is set by hand is not used.
     *
     * @param call operation, and the rank that the program is for
     */
    public static SharedMemoryProgram of(ProgramCall call) {
        return call.kind() == CollectiveKind.BARRIER ? barrier(call) : reduction(call);
    }

    private static SharedMemoryProgram reduction(ProgramCall call) {
        Chunks chunks = Chunks.of(call.elements(), call.unit(), 1, Math.toIntExact(ProgramCall.roundUp(call.bytes())));
        ChunkPart all = chunks.piece(0, 0);
        SharedMemoryProgramBuilder program = new SharedMemoryProgramBuilder(call, NAME, chunks.slots(), 0);
        boolean isLastRank = call.rank() == call.worldSize() - 1;
        if (call.kind() == CollectiveKind.REDUCE_SCATTER) {
            boolean isOwnFirst = call.rank() <= 1;
            int first = call.rank() == 0 ? 1 : 0;
            int end = isOwnFirst && isLastRank ? call.rank() : call.worldSize();
            program.copyIn(first * call.part(), parts(all, call, first, end - first));
            program.enter();
            combine(program, call, parts(all, call, call.rank(), 1), isOwnFirst, call.rank() * call.part());
            return program.build();
        }
        boolean isReduce = call.kind() == CollectiveKind.REDUCE;
        if (!isReduce || !call.isRoot()) {
            program.copyIn(0, all);
        }
        program.enter();
        if (!isReduce || call.isRoot()) {
            combine(program, call, all, isReduce || call.rank() == 0 || call.worldSize() == 2, 0);
        }
        return program.build();
    }

    private static SharedMemoryProgram barrier(ProgramCall call) {
        SharedMemoryProgramBuilder program = new SharedMemoryProgramBuilder(call, NAME, 0, 0);
        program.enter();
        for (int places = 1; places < call.worldSize(); places++) {
            program.awaitEntered(call.behind(places));
        }
        return program.build();
    }

    /** Returns the parts of {@code ranks} ranks, from rank {@code first} on. */
    private static ChunkPart parts(ChunkPart all, ProgramCall call, int first, int ranks) {
        int part = Math.toIntExact(call.part());
        return new ChunkPart(all.chunk(), all.at() + first * part * call.unit(), ranks * part);
    }

    /**
     * Combines a part of the operands of all ranks in rank order. If {@code isOwnFirst}, begins with this rank's
     * operand, from element {@code ownFrom} on. If {@code isOwnFirst} is false, begins with the data that rank 0 has
     * staged, and this rank's staged operand has its normal position in the order.
     */
    private static void combine(
            SharedMemoryProgramBuilder program, ProgramCall call, ChunkPart part, boolean isOwnFirst, long ownFrom) {
        int last = call.worldSize() - 1;
        if (isOwnFirst) {
            program.copy(ownFrom, 0, part.count());
            last = call.rank() == last ? last - 1 : last;
        } else {
            program.awaitEntered(0);
            program.copyOut(0, part, SharedMemoryProgram.NO_OPERAND, 0);
        }
        for (int peer = isOwnFirst ? 0 : 1; peer <= last; peer++) {
            if (peer != call.rank()) {
                program.awaitEntered(peer);
            } else if (isOwnFirst) {
                continue;
            }
            program.combine(SharedMemoryProgram.COMBINE, peer, part, 0, 0, peer == last);
        }
    }
}
