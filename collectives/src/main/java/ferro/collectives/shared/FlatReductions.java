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
            combineOthers(program, call, all, 0);
        } else {
            combineInRankOrder(program, call, all);
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
            combineOthers(program, call, all, 0);
        }
        return program.build();
    }

    /**
     * Makes the program of one rank, with the bits of {@link #allReduce}. Ranks 0 and 1 begin with their own operand, which
     * gives the same bits; the others stage it.
     *
     * @param call       operation, and the rank that the program is for
     * @param chunkBytes not used: this algorithm stages all data at once
     * @return program
     */
    public static Program reduceScatter(SharedCall call, int chunkBytes) {
        Chunks chunks = one(call);
        ChunkPart all = chunks.piece(0, 0);
        ChunkPart own = parts(all, call, call.rank(), 1);
        ProgramBuilder program = new ProgramBuilder(call, "flat", chunks.slots(), 0);
        boolean isOwnFirst = call.rank() <= 1;
        int first = call.rank() == 0 ? 1 : 0;
        int end = isOwnFirst && call.rank() == call.worldSize() - 1 ? call.rank() : call.worldSize();
        program.copyIn(first * call.part(), parts(all, call, first, end - first));
        program.enter();
        if (isOwnFirst) {
            combineOthers(program, call, own, call.rank() * call.part());
        } else {
            combineInRankOrder(program, call, own);
        }
        return program.build();
    }

    /** Returns the parts of some ranks. */
    private static ChunkPart parts(ChunkPart all, SharedCall call, int first, int ranks) {
        int part = Math.toIntExact(call.part());
        return new ChunkPart(all.chunk(), all.at() + first * part * call.unit(), ranks * part);
    }

    /** Combines what all ranks have staged, this rank included. */
    private static void combineInRankOrder(ProgramBuilder program, SharedCall call, ChunkPart part) {
        program.awaitEntered(0);
        program.copyOut(0, part, 0);
        for (int peer = 1; peer < call.worldSize(); peer++) {
            combine(program, call, peer, part, peer == call.worldSize() - 1);
        }
    }

    /** Combines this rank's operand with those of the others, in rank order. */
    private static void combineOthers(ProgramBuilder program, SharedCall call, ChunkPart part, long from) {
        program.copy(from, 0, part.count());
        int last = call.rank() == call.worldSize() - 1 ? call.rank() - 1 : call.worldSize() - 1;
        for (int peer = 0; peer <= last; peer++) {
            if (peer != call.rank()) {
                combine(program, call, peer, part, peer == last);
            }
        }
    }

    private static void combine(ProgramBuilder program, SharedCall call, int peer, ChunkPart part, boolean isLast) {
        if (peer != call.rank()) {
            program.awaitEntered(peer);
        }
        if (isLast) {
            program.complete(peer, part, 0);
        } else {
            program.combine(peer, part, 0);
        }
    }

    /** Returns one chunk for all data: this algorithm ignores a chunk size that is set by hand. */
    private static Chunks one(SharedCall call) {
        return Chunks.of(call.elements(), call.unit(), 1, Math.toIntExact(SharedCall.roundUp(call.bytes())));
    }
}
