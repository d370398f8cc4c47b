package ferro.collectives.shared;

import ferro.collectives.shared.ProgramBuilder.Part;

/** Reductions of little data: every rank writes what it has, and whoever wants the result reads all. */
public final class FlatReductions {
    private FlatReductions() {}

    /**
     * Makes the program of one rank: everybody combines in rank order, so that all have the same bits; with two ranks either order gives these.
     *
     * @param call       operation, and whose program
     * @param chunkBytes what is staged at once
     * @return program
     */
    public static Program allReduce(SharedCall call, int chunkBytes) {
        Chunks chunks = one(call);
        Part all = chunks.piece(0, 0);
        ProgramBuilder program = new ProgramBuilder(call, "flat", chunks.slots(), 0);
        program.copyIn(0, all);
        program.enter();
        if (call.rank() == 0 || call.worldSize() == 2) {
            program.copy(0, 0, all.count());
            for (int peer = 0; peer < call.worldSize(); peer++) {
                combine(program, call, peer, all);
            }
            return program.build();
        }
        program.awaitEntered(0);
        program.copyOut(0, all, 0);
        for (int peer = 1; peer < call.worldSize(); peer++) {
            if (peer == call.rank()) {
                program.combine(peer, all, 0);
            }
            combine(program, call, peer, all);
        }
        return program.build();
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and whose program
     * @param chunkBytes what is staged at once
     * @return program
     */
    public static Program reduce(SharedCall call, int chunkBytes) {
        Chunks chunks = one(call);
        Part all = chunks.piece(0, 0);
        ProgramBuilder program = new ProgramBuilder(call, "flat", chunks.slots(), 0);
        if (!call.isRoot()) {
            program.copyIn(0, all);
        }
        program.enter();
        if (call.isRoot()) {
            program.copy(0, 0, all.count());
            for (int peer = 0; peer < call.worldSize(); peer++) {
                combine(program, call, peer, all);
            }
        }
        return program.build();
    }

    private static void combine(ProgramBuilder program, SharedCall call, int peer, Part all) {
        if (peer != call.rank()) {
            program.awaitEntered(peer);
            program.combine(peer, all, 0);
        }
    }

    /** Whatever is set by hand, this algorithm stages all at once. */
    private static Chunks one(SharedCall call) {
        return Chunks.of(call.elements(), call.unit(), 1, Math.toIntExact(SharedCall.roundUp(call.bytes())));
    }
}
