package ferro.training;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;

/**
 * Tells all ranks, with every step, how many have another batch after the one of this step.
 *
 * <p>It is an element behind the gradients of the last bucket and travels with them, where all ranks get the average of the whole
 * bucket as it is. Where ranks get parts, or a hook changes what is sent, it travels alone behind the last bucket.
 */
final class BatchFlag {
    private final ProcessGroup group;
    private final HostTensor cell;
    private final boolean travelsAlone;
    private Work work;

    private BatchFlag(ProcessGroup group, HostTensor cell, boolean travelsAlone) {
        this.group = group;
        this.cell = cell;
        this.travelsAlone = travelsAlone;
    }

    /** A flag in an element of a bucket. */
    static BatchFlag inside(ProcessGroup group, HostTensor element) {
        return new BatchFlag(group, element, false);
    }

    static BatchFlag alone(ProcessGroup group) {
        return new BatchFlag(group, HostTensor.allocate(DataType.FLOAT32, 1), true);
    }

    void set(boolean hasAnother) {
        write(hasAnother ? 1 : 0);
    }

    /** Sends it if it travels alone; called behind the start of the last bucket. */
    void start() {
        if (travelsAlone) {
            work = group.allReduceAsync(cell, ReduceOp.SUM);
        }
    }

    /** Returns how many ranks have another batch, and leaves a zero; called when the last bucket has its average. */
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
