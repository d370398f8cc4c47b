package ferro.recorder;

import ferro.FerroException.Code;

/** A group as a {@link FlightRecorder} asks it when it writes; any thread, nothing here may wait. */
public interface RecordedGroup {
    /**
     * Returns why the group has failed.
     *
     * @return failure; null while it works
     */
    Failed failure();

    /**
     * Returns what tells this group from others of its job.
     *
     * @return the same number on all its ranks; 0 if it has none
     */
    default long identity() {
        return 0;
    }

    /**
     * Returns where the rank stands in this group.
     *
     * @return a picture, a little old at most
     */
    Standing standing();

    /**
     * Why a group has failed.
     *
     * @param code     kind
     * @param origin   rank of the group that saw it first
     * @param sequence operation in which it was seen, -1 if none
     * @param culprits ranks of the group to blame, comma-separated, empty if unknown
     * @param text     for people
     */
    record Failed(Code code, int origin, long sequence, String culprits, String text) {}

    /**
     * Where a rank stands.
     *
     * @param sequence   operation under way, 0 if none
     * @param progress   how far it is, for people; empty if unknown
     * @param waitingFor ranks of the group that it waits for, comma-separated, empty if none
     */
    record Standing(long sequence, String progress, String waitingFor) {
        /** Nothing is under way. */
        public static final Standing IDLE = new Standing(0, "", "");
    }
}
