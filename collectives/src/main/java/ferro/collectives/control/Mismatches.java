package ferro.collectives.control;

import ferro.FerroException.Code;
import ferro.spi.CallHeader;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/**
 * What the ranks have called at a place of the order where they differ. All are asked before anybody is blamed, so that the
 * failure lists each known rank's call and blames those that differ from most. It is settled as soon as all have answered
 * and said what they called, and after {@link #SETTLE_NANOS} without those that have not come to it. Thread-safe.
 */
final class Mismatches {
    /**
     * So long ranks have to say what they called: with the first question of a rank that waits, 50 ms after it began, this is
     * below the 100 ms in which all that have entered are to know.
     */
    static final long SETTLE_NANOS = 40_000_000L;
    /** Whoever has not come to the call is asked again so often. */
    private static final long ASK_AGAIN_NANOS = 10_000_000L;
    /** Room for the calls in the text; what comes after is counted. */
    private static final int LIST_MOST = 2000;

    private final GroupControl control;
    private final History history;
    private final Losses losses;
    private final Rules rules;
    private final int worldSize;
    private final Map<Integer, Made> calls = new TreeMap<>();
    /** The earliest place where ranks differ, as far as this one knows; 0 while none is known. */
    private long contested;
    /** Number of the first question about it; 0 until all were asked. */
    private long asked;

    private boolean settled;

    /** A call that a rank has made. */
    private record Made(long fingerprint, String text) {}

    Mismatches(GroupControl control, History history, Losses losses, Rules rules, int worldSize) {
        this.control = control;
        this.history = history;
        this.losses = losses;
        this.rules = rules;
        this.worldSize = worldSize;
    }

    /**
     * Takes note of what a rank says it has called, asked or not; what this rank has not called, or too long ago, is no news.
     * Returns whether this rank called something else.
     */
    boolean heard(int peer, long sequence, long fingerprint, String text) {
        CallHeader mine = fingerprint == 0 ? null : history.find(sequence);
        if (mine == null) {
            return false;
        }
        boolean differs = !rules.isSameCall(mine.fingerprint(), fingerprint);
        boolean begins;
        synchronized (this) {
            boolean earlier = contested == 0 || sequence < contested;
            begins = !settled && earlier && differs;
            if (begins) {
                contested = sequence;
                asked = 0;
                calls.clear();
                calls.put(control.self(), new Made(mine.fingerprint(), mine.text()));
            }
            if (settled || sequence != contested) {
                return differs;
            }
            calls.put(peer, new Made(fingerprint, text));
        }
        if (begins) {
            begin(mine);
        }
        if (areAllKnown(sequence)) {
            settle(sequence);
        }
        return differs;
    }

    private void begin(CallHeader mine) {
        long ask = control.ask(mine);
        synchronized (this) {
            asked = contested == mine.sequence() ? ask : asked;
        }
        control.later(() -> askAgain(mine), ASK_AGAIN_NANOS);
        losses.afterReading(() -> settle(mine.sequence()), SETTLE_NANOS);
    }

    /**
     * Returns whether all calls are known, and all ranks have answered since this one knows that they differ: a rank that stood
     * still may read everybody's call before it reads what the others have agreed on meanwhile, which they answer first.
     */
    private boolean areAllKnown(long sequence) {
        long ask;
        synchronized (this) {
            if (contested != sequence || asked == 0 || calls.size() < worldSize) {
                return false;
            }
            ask = asked;
        }
        return !control.isAnySilent(ask, null);
    }

    /** Asks those that had not come to it, or have not answered. */
    private void askAgain(CallHeader mine) {
        BitSet unknown = new BitSet();
        synchronized (this) {
            if (settled || contested != mine.sequence()) {
                return;
            }
            unknown.set(0, worldSize);
            calls.keySet().forEach(unknown::clear);
        }
        control.ask(mine, unknown);
        control.later(() -> askAgain(mine), ASK_AGAIN_NANOS);
    }

    /** Judges by what is known: there is no time to hear more. */
    void settleNow() {
        long sequence;
        synchronized (this) {
            sequence = contested;
        }
        if (sequence > 0) {
            settle(sequence);
        }
    }

    private void settle(long sequence) {
        Failure failure;
        synchronized (this) {
            if (settled || contested != sequence) {
                return;
            }
            settled = true;
            failure = new Failure(
                    Code.MISMATCH,
                    control.self(),
                    sequence,
                    Names.list(odd()),
                    text(sequence, list()),
                    null,
                    calls.size());
        }
        control.fail(failure);
    }

    private static String text(long sequence, String calls) {
        return "ranks made different calls at seq " + sequence + ": " + calls
                + ": all ranks must make the same calls in the same order";
    }

    /** Returns the ranks that differ from more than half of those that are known, else all of these. */
    private BitSet odd() {
        BitSet odd = new BitSet();
        calls.keySet().forEach(odd::set);
        for (Made usual : calls.values()) {
            long same = calls.values().stream()
                    .filter(call -> call.fingerprint == usual.fingerprint)
                    .count();
            if (2 * same > calls.size()) {
                calls.forEach((rank, call) -> odd.set(rank, call.fingerprint != usual.fingerprint));
            }
        }
        return odd;
    }

    private String list() {
        StringBuilder text = new StringBuilder();
        int listed = 0;
        for (Map.Entry<Integer, Made> call : calls.entrySet()) {
            if (text.length() > LIST_MOST) {
                return text + " and " + (calls.size() - listed) + " more";
            }
            text.append(text.isEmpty() ? "" : ", ")
                    .append("rank ")
                    .append(call.getKey())
                    .append(' ')
                    .append(call.getValue().text);
            listed++;
        }
        return text.toString();
    }

    /** What a rank has sent is not what it should send in this rank's call: all are asked what they have called. */
    void suspected(int peer, CallHeader expected, CallHeader found) {
        // what all ranks know of the call; a header may have something that only two of them agree on
        CallHeader mine = history.find(expected.sequence());
        long first = control.ask(mine == null ? expected : mine);
        // a rank that only sent in an earlier call may be at this one by now: what differs is the earlier one
        CallHeader earlier = history.find(found.sequence());
        boolean isEarlier = earlier != null && earlier.sequence() != expected.sequence();
        long last = isEarlier ? control.ask(earlier) : first;
        boolean ofTwo = mine != null && mine.fingerprint() != expected.fingerprint();
        // whoever has sent something is there, and answers late at most
        BooleanSupplier said = () -> isContested() || control.hasAnswered(peer, last);
        losses.afterWord(said, () -> blameBoth(peer, expected, found, ofTwo), SETTLE_NANOS);
    }

    private synchronized boolean isContested() {
        return contested != 0;
    }

    /** Nobody has said what differs: one of the two is to blame. */
    private void blameBoth(int peer, CallHeader expected, CallHeader found, boolean ofTwo) {
        if (isContested()) {
            return;
        }
        String other = "another one, of which it has told nothing";
        if (found.fingerprint() == expected.fingerprint()) {
            other = "the same, but as its seq " + found.sequence();
        } else if (ofTwo && found.sequence() == expected.sequence()) {
            other = "the same, but with another number of elements for rank " + control.self();
        }
        String list = "rank " + control.self() + " " + expected.text() + ", rank " + peer + " " + other;
        String both = control.self() + "," + peer;
        control.failUnlessFailed(new Failure(
                Code.MISMATCH, control.self(), expected.sequence(), both, text(expected.sequence(), list), null));
    }
}
