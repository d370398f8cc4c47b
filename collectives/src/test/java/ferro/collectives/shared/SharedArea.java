package ferro.collectives.shared;

import java.util.Arrays;

/** Memory that ranks share, element by element: who wrote last, who has read since, and when by the clocks of all ranks. */
final class SharedArea {
    private final int ranks;
    private final int[] value;
    private final int[] writer;
    private final int[] written;
    private final int[] read;

    SharedArea(int ranks, int cells) {
        this.ranks = ranks;
        this.value = new int[cells];
        this.writer = new int[cells];
        this.written = new int[cells];
        this.read = new int[cells * ranks];
        Arrays.fill(value, -1);
    }

    /** Reads at a time of a rank; a write that this rank cannot know of is a race. */
    int read(int cell, int rank, int[] clock) {
        if (clock[writer[cell]] < written[cell]) {
            throw new ProgramProof.Refuted("reads cell " + cell + ", which rank " + writer[cell] + " may be writing");
        }
        read[cell * ranks + rank] = clock[rank];
        return value[cell];
    }

    /** Writes at a time of a rank; whoever has read or written before must be known to have done so. */
    void write(int cell, int rank, int[] clock, int what) {
        if (clock[writer[cell]] < written[cell]) {
            throw new ProgramProof.Refuted("writes cell " + cell + ", which rank " + writer[cell] + " may be writing");
        }
        for (int reader = 0; reader < ranks; reader++) {
            if (clock[reader] < read[cell * ranks + reader]) {
                throw new ProgramProof.Refuted("writes cell " + cell + ", which rank " + reader + " may be reading");
            }
        }
        value[cell] = what;
        writer[cell] = rank;
        written[cell] = clock[rank];
    }
}
