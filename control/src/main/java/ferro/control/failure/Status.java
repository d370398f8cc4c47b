package ferro.control.failure;

import ferro.control.wire.FieldCodec;
import java.util.BitSet;
import java.util.Set;

/**
 * The answer of a rank about its state.
 *
 * @param ask          number of the question
 * @param sequence     last operation that the rank has called in this group
 * @param lastCall     text of that operation, empty if none
 * @param running      operation of this group that is in flight on the rank, 0 if none
 * @param asked        operation that the question was about
 * @param fingerprint  fingerprint of the rank's call of operation {@code asked}; 0 if the rank has not made this call,
 *     or made it too long ago
 * @param call         text of that call
 * @param place        call that the rank is in, for people; empty if the rank is in no call of ferro
 * @param waitsFor     ranks of the joined group that the rank waits for, ascending
 * @param sufficient   number of these ranks that is enough for the rank to go on; 0 if the rank waits for all of them
 * @param pausedMillis time that the process of the rank stood still during that call, in milliseconds
 * @param location     line of the program that has made that call, in words such as {@code called by}. For a rank in no
 *     call, the line that it executes. Empty if the question did not ask for a line
 */
public record Status(
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
    /** The longest {@code place}, in bytes. The other fields use the rest of a message. */
    private static final int PLACE_MOST = 1600;

    /** The space for a line of at most 200 bytes and the words before it, so that no line is cut. */
    private static final int MAX_LOCATION = 240;

    /** A number greater than the number of any question. */
    private static final long LEFT = Long.MAX_VALUE;

    private static final long LATE_ENOUGH = Long.MAX_VALUE;

    /** Returns the answer of a rank that has left after an operation. */
    public static Status left(long last, String lastCall) {
        return new Status(LEFT, last, lastCall, 0, 0, 0, "", "gone: it closed the group normally", Set.of(), 0, 0, "");
    }

    /**
     * Returns the answer of a rank that has left without a goodbye to this rank. Such a rank has made all calls that
     * this rank waits for. If a call were missing, the leave with the lowest last collective would fail the call,
     * because that leave reaches all ranks.
     */
    public static Status left() {
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
    public Status through(FieldCodec fields) {
        fields.kind(KIND);
        return new Status(
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
     * after that call. Returns an empty text if the rank is in another call, or has made later calls.
     */
    public String callLocation() {
        boolean isLast = running == 0 && place.isEmpty() && sequence == asked;
        return running == asked || isLast ? location : "";
    }

    /**
     * Returns this answer. If this answer has no line and the rank is still in the same call, or still in no call, adds
     * the line of an earlier answer.
     */
    Status after(Status earlier) {
        boolean isSame = earlier != null
                && location.isEmpty()
                && earlier.sequence == sequence
                && earlier.running == running
                && call(earlier.place).equals(call(place));
        return isSame
                ? new Status(
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

    /** Returns the operation and the group of a position, without the progress of the operation. */
    private static String call(String position) {
        return position.replaceFirst(", .*?(?= of group \"|$)", "");
    }

    /** Returns whether the rank has not called an operation, or is in an earlier operation. */
    boolean isBehind(long operation) {
        return sequence < operation || running > 0 && running < operation;
    }

    /** Returns whether the rank is in a later operation, or has called a later one and has no operation in flight. */
    boolean isAhead(long operation) {
        return running > operation || running == 0 && sequence > operation;
    }

    /** Returns whether the rank waits for any one of several ranks. */
    boolean waitsForAny() {
        return sufficient > 0;
    }

    /**
     * Returns the ranks of this group that the rank waits for. If any one of several ranks is enough and some of them
     * are outside this group, the result is empty, because the ranks outside may let the rank go on.
     */
    BitSet waitsForOf(int[] joinedRanks) {
        BitSet ranks = new BitSet();
        for (int rank = 0; rank < joinedRanks.length; rank++) {
            ranks.set(rank, waitsFor.contains(joinedRanks[rank]));
        }
        return waitsForAny() && ranks.cardinality() < waitsFor.size() ? new BitSet() : ranks;
    }
}
