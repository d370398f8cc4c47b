package ferro.training;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;

/**
 * An exchange that counts, in every step of a join, the ranks with another batch after the step. Each rank sends a
 * flag.
 *
 * <p>If all ranks get the average of the whole last bucket, the flag is an element after the bucket's gradients and
 * travels with the gradients. If each rank gets only its part of the last bucket, or if a hook changes the data that is
 * sent, the flag is sent alone after the last bucket.
 */
final class BatchRankCounter {
    private final ProcessGroup group;
    private final HostTensor cell;
    private final boolean travelsAlone;
    private Work work;

    private BatchRankCounter(ProcessGroup group, HostTensor cell, boolean travelsAlone) {
        this.group = group;
        this.cell = cell;
        this.travelsAlone = travelsAlone;
    }

    /** Creates a counter whose flag is an element of a bucket. */
    static BatchRankCounter inside(ProcessGroup group, HostTensor element) {
        return new BatchRankCounter(group, element, false);
    }

    static BatchRankCounter alone(ProcessGroup group) {
        return new BatchRankCounter(group, HostTensor.allocate(DataType.FLOAT32, 1), true);
    }

    void set(boolean hasAnother) {
        write(hasAnother ? 1 : 0);
    }

    /** Sends the flag if the flag is not part of a bucket. The caller has started the last bucket. */
    void start() {
        if (travelsAlone) {
            work = group.allReduceAsync(cell, ReduceOp.SUM);
        }
    }

    /**
     * Returns the number of ranks that have another batch, and resets the flag to 0. This method is called when the
     * last bucket has its average.
     */
    int count(int contributors) {
        if (travelsAlone) {
            work.await();
            work = null;
        }
        double value = cell.dataType() == DataType.FLOAT64 ? cell.getDouble(0) : cell.getFloat(0);
        write(0);
        return (int) Math.round(travelsAlone ? value : value * contributors);
    }

    private void write(int value) {
        if (cell.dataType() == DataType.FLOAT64) {
            cell.setDouble(0, value);
        } else {
            cell.setFloat(0, value);
        }
    }
}
