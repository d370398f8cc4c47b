package ferro.collectives.engine.exec;

import ferro.collectives.engine.progress.PendingWork;
import java.lang.System.Logger.Level;

/**
 * The progress of the operations in flight when the group failed. Only the thread that holds the progress lock uses this
 * object.
 */
final class ReachedPositions {
    private static final System.Logger LOG = System.getLogger("ferro.group");

    private PendingWork.Position[] positions = {};

    /** Stores the progress of the first operations of an executor. */
    void store(Executor executor, int count, String group) {
        try {
            PendingWork.Position[] now = new PendingWork.Position[count];
            for (int behind = 0; behind < count; behind++) {
                now[behind] = executor.position(behind);
            }
            positions = now;
        } catch (RuntimeException | Error broken) {
            // the group has failed: ending its operations matters more than the progress of this one
            LOG.log(Level.DEBUG, "cannot get the progress of an operation of \"" + group + "\"", broken);
        }
    }

    /** Returns the progress of an operation, by the number of operations before it. */
    PendingWork.Position of(int behind) {
        return behind < positions.length ? positions[behind] : PendingWork.Position.NOWHERE;
    }
}
