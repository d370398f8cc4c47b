package ferro.control.failure;

import ferro.control.wire.FieldCodec;
import java.util.BitSet;
import java.util.Set;

/**
 * The answer of a rank about its state.
 *
 * @param ask          number of the question
 * @param sequence     last operation that the rank has called in this group
 * @param lastCall     text of the last operation that the rank has called, empty if none
 * @param running      operation of this group that is in flight on the rank, 0 if none
 * @param asked        operation that the question was about
 * @param fingerprint  fingerprint of the rank's call of operation {@code asked}; 0 if the rank has not made this call,
 *     or made the call too long ago
 * @param call         text of the rank's call of operation {@code asked}
 * @param place        call that the rank is in, for people; empty if the rank is in no call of ferro
 * @param waitsFor     ranks of the joined group that the rank waits for, ascending
 * @param sufficient   number of the ranks in {@code waitsFor} that is enough for the rank to go on; 0 if the rank waits
 *     for all of these ranks
 * @param pausedMillis time for which the process of the rank was paused during the call that the rank is in, in
 *     milliseconds
 * @param location     line of the program, after words such as {@code called by}: the line that has made the call, or
 *     the line that a rank in no call executes. Empty if the question did not ask for a line
 */
public record StatusAnswer(
        long ask,
        long sequence,
        String lastCall,
        long running,
        long asked,
        long fingerprint,
        String call,
        String place,
        Set<Integer> waitsFor,
        int sufficient,
        long pausedMillis,
        String location)
        implements ControlMessage {
    static final byte KIND = 5;
    /** The longest {@code place}, in bytes. The other fields of a status use the rest of the message. */
    private static final int PLACE_MOST = 1600;

    /** The longest {@code location}, in bytes: enough for a line of 200 bytes and the words before the line. */
    private static final int MAX_LOCATION = 240;

    /** A number greater than the number of any question. */
    private static final long LEFT = Long.MAX_VALUE;

    private static final long LATE_ENOUGH = Long.MAX_VALUE;

    /** Returns the answer that stands for a rank which has left after the given operation. */
    public static StatusAnswer left(long last, String lastCall) {
        return new StatusAnswer(
                LEFT, last, lastCall, 0, 0, 0, "", "gone: it closed the group normally", Set.of(), 0, 0, "");
    }

    /**
     * Returns the answer that stands for a rank which has left without sending a goodbye to this rank. The rank that
     * has left has made all calls that this rank waits for. If an awaited call were missing, the leave with the lowest
     * last collective would fail the call, because this leave reaches all ranks.
     */
    public static StatusAnswer left() {
        return left(LATE_ENOUGH, "");
    }

    boolean isLastCallKnown() {
        return sequence != LATE_ENOUGH;
    }

    /** Returns whether this answer was created from the leave of a rank. */
    boolean isOfALeaver() {
        return ask == LEFT;
    }

    @Override
    public StatusAnswer through(FieldCodec fields) {
        fields.kind(KIND);
        return new StatusAnswer(
                fields.int64("ask", ask),
                fields.int64("sequence", sequence),
                fields.text("lastCall", CALL_MOST, lastCall),
                fields.int64("running", running),
                fields.int64("asked", asked),
                fields.int64("fingerprint", fingerprint),
                fields.text("call", CALL_MOST, call),
                fields.text("place", PLACE_MOST, place),
                fields.joinedRanks("waitsFor", waitsFor),
                fields.count("sufficient", sufficient),
                fields.int64("pausedMillis", pausedMillis),
                fields.text("location", MAX_LOCATION, location));
    }

    /**
     * Returns the line of the program that made the call of operation {@code asked}, or the line that the rank executes
     * after the call. Returns an empty text if the rank is in another call, or has made later calls.
     */
    public String callLocation() {
        boolean isLast = running == 0 && place.isEmpty() && sequence == asked;
        return running == asked || isLast ? location : "";
    }

    /**
     * Returns this answer, with a line of the program if possible. If this answer has no line, the result has the line
     * of the earlier answer, provided that the rank is still in the same call or still in no call.
     */
    StatusAnswer after(StatusAnswer earlier) {
        boolean isSame = earlier != null
                && location.isEmpty()
                && earlier.sequence == sequence
                && earlier.running == running
                && call(earlier.place).equals(call(place));
        return isSame
                ? new StatusAnswer(
                        ask,
                        sequence,
                        lastCall,
                        running,
                        asked,
                        fingerprint,
                        call,
                        place,
                        waitsFor,
                        sufficient,
                        pausedMillis,
                        earlier.location)
                : this;
    }

    /** Returns the operation and the group from the text of a call, without the progress of the operation. */
    private static String call(String position) {
        return position.replaceFirst(", .*?(?= of group \"|$)", "");
    }

    /** Returns whether the rank has not called the given operation yet, or is in an earlier operation. */
    boolean isBehind(long operation) {
        return sequence < operation || running > 0 && running < operation;
    }

    /** Returns whether the rank is in a later operation, or has called a later operation and has none in flight. */
    boolean isAhead(long operation) {
        return running > operation || running == 0 && sequence > operation;
    }

    /** Returns whether the rank waits for any one of several ranks. */
    boolean waitsForAny() {
        return sufficient > 0;
    }

    /**
     * Returns the ranks of this group that the rank waits for. The result is empty if the rank waits for any one of
     * several ranks and some of these ranks are outside this group, because a rank outside may let the rank go on.
     */
    BitSet waitsForOf(int[] joinedRanks) {
        BitSet ranks = new BitSet();
        for (int rank = 0; rank < joinedRanks.length; rank++) {
            ranks.set(rank, waitsFor.contains(joinedRanks[rank]));
        }
        return waitsForAny() && ranks.cardinality() < waitsFor.size() ? new BitSet() : ranks;
    }
}
