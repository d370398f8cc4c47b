package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ferro.Collective;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.tck.cells.Calls;
import ferro.tck.cells.Cell;
import ferro.tck.cells.Values;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rules 116 and 117, about parts of unequal length, including empty parts. A back end may refuse such parts. */
public interface UnequalRules extends Subject {
    /**
     * Checks that parts of unequal length arrive at the offsets that the counts define, in blocking and in submitted calls.
     *
     * @param worldSize number of ranks
     */
    @Rule(116)
    @EachSize
    default void partsOfUnequalLengthComeWhereTheCountsSay(int worldSize) {
        eachRank(worldSize, group -> {
            for (int length : new int[] {1, 1000, worldSize <= 3 ? 70_000 : 10}) {
                for (Cell cell : Cell.ofUnequalParts(worldSize, length)) {
                    Values values = new Values(cell.type(), worldSize);
                    Cells.make(this, group, cell, values, false);
                    if (length == 1000) {
                        Cells.make(this, group, cell, values, true);
                    }
                }
            }
            Expect.works(group);
        });
    }

    /** Checks that ranks that disagree on the length of one message of an all-to-all fail with a mismatch. */
    @Rule(117)
    @Test
    default void countsOfAnAllToAllThatDoNotFitAreAMismatch() {
        needs(BackendContract.MISMATCHES);
        float[][] received = new float[2][];
        List<Throwable> ends = outcomes(2, group -> {
            // each rank keeps one element; rank 0 sends three, rank 1 expects two
            boolean first = group.rank() == 0;
            float[] in = first ? new float[] {1, 2, 3, 4} : new float[] {5, 6};
            float[] out = new float[first ? 2 : 3];
            received[group.rank()] = out;
            long[] send = first ? new long[] {1, 3} : new long[] {1, 1};
            long[] receive = first ? new long[] {1, 1} : new long[] {2, 1};
            Collective call = Collective.allToAll(HostTensor.of(in), HostTensor.of(out), send, receive);
            if (!Cells.isRefused(this, group, call, "unequal parts")) {
                Calls.run(group, call);
                group.barrier();
            }
        });
        if (ends.get(1) != null) {
            // without a control lane the sender may only see a lost connection
            Expect.failure(ends, 0, Code.MISMATCH, Code.PEER_LOST);
            Expect.failure(ends, 1, Code.MISMATCH);
        }
        assertArrayEquals(
                new float[] {0, 0}, Arrays.copyOf(received[1], 2), "a message of the wrong length was written");
    }
}
