package ferro.collectives.shared;

import ferro.collectives.shared.ProgramBuilder.ChunkPart;

/** Reductions of small data: every rank stages its operand, and each rank that needs the result reads all operands. */
public final class FlatReductions {
    private FlatReductions() {}

    /**
     * Makes the program of one rank. Every rank combines in rank order, so that all results have the same bits; with two
     * ranks both orders give the same bits.
     *
     * @param call       operation, and the rank that the program is for
     * @param chunkBytes not used: this algorithm stages all data at once
     * @return program
     */
    public static Program allReduce(SharedCall call, int chunkBytes) {
        Chunks chunks = one(call);
        ChunkPart all = chunks.piece(0, 0);
        ProgramBuilder program = new ProgramBuilder(call, "flat", chunks.slots(), 0);
        program.copyIn(0, all);
        program.enter();
        if (call.rank() == 0 || call.worldSize() == 2) {
            combineOthers(program, call, all);
            return program.build();
        }
        program.awaitEntered(0);
        program.copyOut(0, all, 0);
        for (int peer = 1; peer < call.worldSize(); peer++) {
            combine(program, call, peer, all, peer == call.worldSize() - 1);
        }
        return program.build();
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and the rank that the program is for
     * @param chunkBytes not used: this algorithm stages all data at once
     * @return program
     */
    public static Program reduce(SharedCall call, int chunkBytes) {
        Chunks chunks = one(call);
        ChunkPart all = chunks.piece(0, 0);
        ProgramBuilder program = new ProgramBuilder(call, "flat", chunks.slots(), 0);
        if (!call.isRoot()) {
            program.copyIn(0, all);
        }
        program.enter();
        if (call.isRoot()) {
            combineOthers(program, call, all);
        }
        return program.build();
    }

    /** Combines this rank's operand with those of the others, in rank order. */
    private static void combineOthers(ProgramBuilder program, SharedCall call, ChunkPart all) {
        program.copy(0, 0, all.count());
        int last = call.rank() == call.worldSize() - 1 ? call.rank() - 1 : call.worldSize() - 1;
        for (int peer = 0; peer <= last; peer++) {
            if (peer != call.rank()) {
                combine(program, call, peer, all, peer == last);
            }
        }
    }

    private static void combine(ProgramBuilder program, SharedCall call, int peer, ChunkPart all, boolean isLast) {
        if (peer != call.rank()) {
            program.awaitEntered(peer);
        }
        if (isLast) {
            program.complete(peer, all, 0);
        } else {
            program.combine(peer, all, 0);
        }
    }

    /** Returns one chunk for all data: this algorithm ignores a chunk size that is set by hand. */
    private static Chunks one(SharedCall call) {
        return Chunks.of(call.elements(), call.unit(), 1, Math.toIntExact(SharedCall.roundUp(call.bytes())));
    }
}
