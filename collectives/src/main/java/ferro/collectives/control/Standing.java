package ferro.collectives.control;

/**
 * Where this rank stands in a group, as it tells others that ask; a picture taken now and then, so it may be a little old.
 *
 * @param sequence   operation under way, 0 if none or if it has no number
 * @param operation  what it is, for people; empty if none
 * @param progress   how far it is, for people; empty if unknown
 * @param waitingFor ranks of the group that it waits for, comma-separated, empty if none
 * @param begunNanos when it began
 */
public record Standing(long sequence, String operation, String progress, String waitingFor, long begunNanos) {
    /** Nothing is under way. */
    public static final Standing IDLE = new Standing(0, "", "", "", 0);

    boolean isIdle() {
        return operation.isEmpty();
    }

    /** Says it for people: in allReduce f32[4] sum by ring seq 3, step 1 of 6, waiting for ranks 2. */
    String sentence() {
        StringBuilder text = new StringBuilder("in ").append(operation);
        if (sequence > 0) {
            text.append(" seq ").append(sequence);
        }
        if (!progress.isEmpty()) {
            text.append(", ").append(progress);
        }
        if (!waitingFor.isEmpty()) {
            text.append(", waiting for ").append(Names.ranks(waitingFor));
        }
        return text.toString();
    }
}
