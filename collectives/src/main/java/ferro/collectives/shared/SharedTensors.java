package ferro.collectives.shared;

import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Memory of tensors that all ranks of a group have mapped, with the same numbers on all of them. Used by the thread that
 * makes progress.
 */
public final class SharedTensors {
    private final int rank;
    private ByteBuffer[][] areas = new ByteBuffer[0][];

    /**
     * Makes an empty list.
     *
     * @param rank this rank
     */
    public SharedTensors(int rank) {
        this.rank = rank;
    }

    /**
     * Adds memory that all ranks have just made together.
     *
     * @param byRank segment of each rank
     */
    public void add(ByteBuffer[] byRank) {
        areas = Arrays.copyOf(areas, areas.length + 1);
        areas[areas.length - 1] = byRank.clone();
    }

    /**
     * Returns the number, from 1, of the memory that an operation works in; 0 if it is none of these, or not in place.
     */
    int number(HostTensor operand, HostTensor result) {
        if (areas.length == 0 || operand.memory() != result.memory() || operand.offset() != result.offset()) {
            return 0;
        }
        for (int i = areas.length; i > 0; i--) {
            if (areas[i - 1][rank] == operand.memory()) {
                return i;
            }
        }
        return 0;
    }

    ByteBuffer area(long number, int peer) {
        return areas[(int) number - 1][peer];
    }
}
