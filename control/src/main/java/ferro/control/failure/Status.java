package ferro.control.failure;

import ferro.control.wire.Fields;
import java.util.BitSet;
import java.util.Set;

/**
 * The answer of a rank about its state.
 *
 * @param ask         number of the question
 * @param sequence    last operation that the rank has called in this group
 * @param lastCall    text of that operation, empty if none
 * @param running     operation of this group that is under way there, 0 if none
 * @param asked       operation that the question was about
 * @param fingerprint of its call there, 0 if it has made none, or too long ago
 * @param call        text of that call
 * @param place       the call that the rank is in, for people; empty if it is in no call of ferro
 * @param waitsFor    ranks of the joined group that it waits for, ascending
 * @param sufficient  how many of these ranks are enough for it to go on; 0 if it waits for all of them
 * @param pausedMillis how long its process stood still during that call
 * @param location    the line of the program that has made that call, in words such as {@code called by}; the line that
 *     the rank executes if it is in no call; empty if the question did not ask for it
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
    /** The longest place, in bytes: the room left in a message. */
    private static final int PLACE_MOST = 1600;

    /** Lines of at most 200 bytes, and the words before them: no line is cut. */
    private static final int MAX_LOCATION = 240;

    /** Greater than the number of any question. */
    private static final long LEFT = Long.MAX_VALUE;

    private static final long LATE_ENOUGH = Long.MAX_VALUE;

    /** Returns the answer of a rank that has left after an operation. */
    public static Status left(long last, String lastCall) {
        return new Status(LEFT, last, lastCall, 0, 0, 0, "", "gone: it closed the group normally", Set.of(), 0, 0, "");
    }

    /**
     * Returns the answer of a rank that has left without a goodbye to this rank. It has made all calls that this rank waits
     * for: otherwise the lowest leaver, of which all ranks hear, would fail them.
     */
    public static Status left() {
        return left(LATE_ENOUGH, "");
    }

    boolean isLastCallKnown() {
        return sequence != LATE_ENOUGH;
    }

    /** Returns whether this answer was made from a goodbye. */
    boolean isOfALeaver() {
        return ask == LEFT;
    }

    @Override
    public Status through(Fields fields) {
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
     * Returns the line of the program that has made the call that the question was about, or that the rank executes since;
     * empty if the rank is in another call, or has made later ones.
     */
    public String callLocation() {
        boolean isLast = running == 0 && place.isEmpty() && sequence == asked;
        return running == asked || isLast ? location : "";
    }

    /**
     * Returns this answer with the line of an earlier one, if this one has none and the rank is in the same call, or in
     * none as before.
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

    /** Returns operation and group of a position, without its progress. */
    private static String call(String position) {
        return position.replaceFirst(", .*?(?= of group \"|$)", "");
    }

    /** Returns whether the rank has not reached an operation: it has not called it, or is in an earlier one. */
    boolean isBehind(long operation) {
        return sequence < operation || running > 0 && running < operation;
    }

    /** Returns whether the rank has passed an operation: it is in a later one, or called a later one and all ended. */
    boolean isAhead(long operation) {
        return running > operation || running == 0 && sequence > operation;
    }

    /** Returns whether one of the ranks that it waits for is enough for it to go on. */
    boolean waitsForAny() {
        return sufficient > 0;
    }

    /**
     * Returns the ranks of this group that the rank waits for; none if one of several is enough and not all of them are in
     * this group, since the others may let it go on.
     */
    BitSet waitsForOf(int[] joinedRanks) {
        BitSet ranks = new BitSet();
        for (int rank = 0; rank < joinedRanks.length; rank++) {
            ranks.set(rank, waitsFor.contains(joinedRanks[rank]));
        }
        return waitsForAny() && ranks.cardinality() < waitsFor.size() ? new BitSet() : ranks;
    }
}
