package ferro.collectives.shared;

import ferro.collectives.shared.ProgramBuilder.ChunkPart;

/** Cuts a chunk into a share for each rank to reduce. */
final class ReduceSlices {
    private ReduceSlices() {}

    /** Returns the share of a rank. Shares begin at lines, so that no two ranks write one line. */
    static ChunkPart of(ChunkPart whole, SharedCall call, int rank) {
        int from = cut(whole.count(), call, rank);
        return new ChunkPart(whole.chunk(), whole.at() + from * call.unit(), cut(whole.count(), call, rank + 1) - from);
    }

    private static int cut(int count, SharedCall call, int rank) {
        if (rank == call.worldSize()) {
            return count;
        }
        int line = call.elementsOfLine();
        return (int) ((long) count * rank / call.worldSize()) / line * line;
    }
}
