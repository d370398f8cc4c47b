package ferro.control.group;

import ferro.control.failure.Machines;
import java.util.Set;

/**
 * The state of this rank in a group. The rank reports this state to other ranks that ask. The state may be a little
 * old, because the rank records its state from time to time.
 *
 * @param sequence   operation in flight; 0 if none or if the operation has no number
 * @param operation  text of the operation in flight, for people; empty if none
 * @param progress   progress of the operation, for people; empty if unknown
 * @param waitingFor ranks of the group that this rank waits for, ascending; empty if none
 * @param isAny      whether any one of the ranks in {@code waitingFor} is enough, as for a receive from any rank
 * @param begunNanos time at which the operation began
 */
public record RankStatus(
        long sequence, String operation, String progress, Set<Integer> waitingFor, boolean isAny, long begunNanos) {
    /** The status of a rank without an operation in flight. */
    public static final RankStatus IDLE = new RankStatus(0, "", "", Set.of(), 0);

    /** Creates the status of a rank that waits for all of the given ranks. */
    public RankStatus(long sequence, String operation, String progress, Set<Integer> waitingFor, long begunNanos) {
        this(sequence, operation, progress, waitingFor, false, begunNanos);
    }

    boolean isIdle() {
        return operation.isEmpty();
    }

    /**
     * Describes the status for people, for example: in allReduce f32[4] sum by ring seq 3, step 1 of 6, waiting for
     * rank 2.
     *
     * @param machines machines of the ranks, which name the ranks of the group
     */
    public String sentence(Machines machines) {
        StringBuilder text = new StringBuilder("in ").append(operation);
        if (sequence > 0) {
            text.append(" seq ").append(sequence);
        }
        if (!progress.isEmpty()) {
            text.append(", ").append(progress);
        }
        if (!waitingFor.isEmpty() && !isAny) {
            text.append(", waiting for ").append(machines.named(waitingFor));
        }
        return text.toString();
    }
}
