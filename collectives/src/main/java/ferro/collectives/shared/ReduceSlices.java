package ferro.collectives.shared;

import ferro.collectives.shared.ProgramBuilder.ChunkPart;

/** Cuts a chunk into a share for each rank to reduce. */
final class ReduceSlices {
    private ReduceSlices() {}

    /**
     * Returns the share of a rank. If the size of an element divides a line of memory, each share begins at a line, and
     * no two ranks write one line. Shares of records with another size begin at a record, and two ranks may write one
     * line. This makes the call slower, and changes no result.
     */
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
