package ferro.collectives.control;

/**
 * Where this rank stands in a group, as it tells others that ask; a picture taken now and then, so it may be a little old.
 *
 * @param sequence   operation under way, 0 if none
 * @param operation  what it is, for people; empty if none
 * @param progress   how far it is, for people; empty if none
 * @param waitingFor ranks of the group that it waits for, comma-separated, empty if none
 */
public record Standing(long sequence, String operation, String progress, String waitingFor) {
    /** Nothing is under way. */
    public static final Standing IDLE = new Standing(0, "", "", "");
}
