package ferro.launcher.analyze;

import ferro.launcher.analyze.Ends.ProcessEnd;
import ferro.launcher.analyze.RankRecording.OperationState;
import ferro.launcher.analyze.RankRecording.RecordedProgress;
import java.util.Optional;

/**
 * What a rank did, as far as it recorded, and how its process ended.
 *
 * @param end       how its process ended; empty if that was not seen
 * @param byItself  whether it ended by itself, and not because of a failure that it had received
 * @param recording whether there is a recording
 * @param call      the call in which the problem was seen, if the rank has made this call
 * @param last      its last call before
 * @param open      another call that it is in, or that failed with the group, in this group or else in another one
 * @param passed    whether it has made later calls
 * @param line      the line of the program that the thread that has joined executed, if it was in no call
 * @param exitLine  the line of the program at which it has called System.exit before it closed its groups
 */
record Conduct(
        Optional<ProcessEnd> end,
        boolean byItself,
        Presence recording,
        Optional<OwnCall> call,
        Optional<OwnCall> last,
        Optional<OwnCall> open,
        boolean passed,
        Optional<String> line,
        Optional<String> exitLine) {
    /**
     * Whether there is a recording of a rank.
     *
     * @param missing    whether there is none that counts
     * @param damaged    what is wrong with the one that it wrote; empty if none is damaged
     * @param olderNanos by how much the recording is older than the others, if it is left out for that
     * @param isEarlier  whether it was written before the others failed, in answer to ferro dump
     */
    record Presence(boolean missing, Optional<String> damaged, Optional<Long> olderNanos, boolean isEarlier) {}

    /**
     * A call of the rank.
     *
     * @param name     kind, label, number and group
     * @param brief    kind, label and number
     * @param state    how far it came
     * @param nanos    for an open call how long the rank has been in it; for a completed one how long before the end of the
     *     others' calls it ended
     * @param progress how far its plan has come
     */
    record OwnCall(String name, String brief, OperationState state, long nanos, RecordedProgress progress) {}

    /** Returns how it ended by itself. */
    Optional<ProcessEnd> ownEnd() {
        return end.filter(any -> byItself);
    }
}
