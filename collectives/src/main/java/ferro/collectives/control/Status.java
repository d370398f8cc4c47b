package ferro.collectives.control;

import java.util.BitSet;
import java.util.stream.IntStream;

/**
 * What a rank has answered about where it stands.
 *
 * @param ask         number of the question
 * @param sequence    last operation that it has called in this group
 * @param lastCall    what that was, empty if none
 * @param running     operation of this group that is under way there, 0 if none
 * @param asked       operation that it was asked about
 * @param fingerprint of its call there, 0 if it has made none, or too long ago
 * @param call        what that call was
 * @param place       where it is, for people; empty if in none of ferro's calls
 * @param waitsFor    ranks of the joined group that it waits for
 * @param pausedMillis how long its process stood still in what it is in
 */
record Status(
        long ask,
        long sequence,
        String lastCall,
        long running,
        long asked,
        long fingerprint,
        String call,
        String place,
        String waitsFor,
        long pausedMillis)
        implements ControlMessage {
    static final byte KIND = 5;
    /** Longest place, in bytes: what is left in a message. */
    private static final int PLACE_MOST = 1800;

    /** Newer than any answer. */
    private static final long LEFT = Long.MAX_VALUE;

    /** Returns what a rank would answer that has left after an operation. */
    static Status left(long last, String lastCall) {
        return new Status(LEFT, last, lastCall, 0, 0, 0, "", "gone: it has left in good order", "", 0);
    }

    /** Returns whether it is the goodbye that answers. */
    boolean isOfALeaver() {
        return ask == LEFT;
    }

    Status(Fields in) {
        this(
                in.int64("ask"),
                in.int64("sequence"),
                in.text("lastCall", CALL_MOST),
                in.int64("running"),
                in.int64("asked"),
                in.int64("fingerprint"),
                in.text("call", CALL_MOST),
                in.text("place", PLACE_MOST),
                in.joinedRanks("waitsFor"),
                in.int64("pausedMillis"));
    }

    @Override
    public byte kind() {
        return KIND;
    }

    @Override
    public void write(FieldWriter out) {
        out.int64(ask).int64(sequence).text(lastCall, CALL_MOST).int64(running);
        out.int64(asked).int64(fingerprint).text(call, CALL_MOST);
        out.text(place, PLACE_MOST).ranks(waitsFor).int64(pausedMillis);
    }

    @Override
    public void accept(int peer, Handler handler) {
        handler.status(peer, this);
    }

    /** Returns whether it has not come to an operation: it has not called it, or is in one before it. */
    boolean isBehind(long operation) {
        return sequence < operation || running > 0 && running < operation;
    }

    /** Returns whether it has gone past an operation: it is in a later one, or has called a later one and all have ended. */
    boolean isAhead(long operation) {
        return running > operation || running == 0 && sequence > operation;
    }

    /** Returns the ranks of this group that it waits for. */
    BitSet waitsForOf(int[] joinedRanks) {
        BitSet ranks = new BitSet();
        // what it says is from another rank: no number above those of this group may make a set larger
        BitSet joined = Names.set(waitsFor, 1 + IntStream.of(joinedRanks).max().orElse(0));
        for (int rank = 0; rank < joinedRanks.length; rank++) {
            if (joined.get(joinedRanks[rank])) {
                ranks.set(rank);
            }
        }
        return ranks;
    }
}
