package ferro.launcher.analyze;

import ferro.launcher.analyze.ProcessEnds.ProcessEnd;
import ferro.launcher.analyze.RankRecording.OperationState;
import ferro.launcher.analyze.RankRecording.RecordedProgress;
import java.util.Optional;

/**
 * The recorded actions of a rank, and the end of its process.
 *
 * @param end       how the process ended; empty if no launcher has reported it
 * @param byItself  whether the process ended by itself, and not because of a failure that the rank had received
 * @param recording whether a recording of the rank exists
 * @param call      the call in which the problem was detected, if the rank has made the call
 * @param last      the rank's last call before {@code call}
 * @param open      another call of any group, which the rank is in, or which failed with the group
 * @param passed    whether the rank has made later calls
 * @param line      the line of the program that the joined thread executed, if this thread was in no call
 * @param exitLine  the line of the program that called System.exit before the rank closed its groups
 */
record RankActivity(
        Optional<ProcessEnd> end,
        boolean byItself,
        RecordingStatus recording,
        Optional<RankCall> call,
        Optional<RankCall> last,
        Optional<RankCall> open,
        boolean passed,
        Optional<String> line,
        Optional<String> exitLine) {
    /**
     * The facts about the recording of a rank.
     *
     * @param missing    whether no usable recording exists
     * @param damaged    what is wrong with a damaged recording of the rank; empty without a damaged recording
     * @param olderNanos by how much the recording is older than other recordings, if it is omitted for this reason
     * @param isEarlier  whether the recording answers a ferro dump from before the failure of other ranks
     */
    record RecordingStatus(boolean missing, Optional<String> damaged, Optional<Long> olderNanos, boolean isEarlier) {}

    /**
     * A call that the rank has made.
     *
     * @param name     kind, label, number and group
     * @param brief    kind, label and number
     * @param state    state of the call
     * @param nanos    for an open call, how long the rank has been in the call; for a completed call, the time from the
     *     end of the call to the end of the other ranks' calls
     * @param progress progress of the call's plan
     */
    record RankCall(String name, String brief, OperationState state, long nanos, RecordedProgress progress) {}

    /** Returns how the process ended by itself; empty if the process did not end by itself. */
    Optional<ProcessEnd> ownEnd() {
        return end.filter(any -> byItself);
    }
}
