package ferro.recorder;

import ferro.FerroException.Code;

/** The view of a group that a {@link FlightRecorder} reads when it writes. Called by any thread; no method may wait. */
public interface RecordedGroup {
    /**
     * Returns why the group has failed.
     *
     * @return failure; null while it works
     */
    Failed failure();

    /**
     * Returns the identity that distinguishes this group from others of its job.
     *
     * @return the same number on all its ranks; 0 if it has none
     */
    default long identity() {
        return 0;
    }

    /**
     * Returns the status of the rank in this group.
     *
     * @return snapshot, which may be slightly old
     */
    RecordedStatus status();

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
     * Status of a rank.
     *
     * @param sequence   operation under way, 0 if none
     * @param progress   how far it is, for people; empty if unknown
     * @param waitingFor ranks of the group that it waits for, comma-separated, empty if none
     */
    record RecordedStatus(long sequence, String progress, String waitingFor) {
        /** Nothing is under way. */
        public static final RecordedStatus IDLE = new RecordedStatus(0, "", "");
    }
}
